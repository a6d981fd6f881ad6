"""Rankings of many methods, scored by one protocol and compared pairwise."""

from explicate.comparison.agreement import agreement_table, kendall_tau, rank_biased_overlap, top_k_jaccard
from explicate.comparison.rankings import ScoredRankings, collect_rankings, score_rankings

__all__ = [
    "ScoredRankings",
    "agreement_table",
    "collect_rankings",
    "kendall_tau",
    "rank_biased_overlap",
    "score_rankings",
    "top_k_jaccard",
]
