"""Rankings of many methods, scored by one protocol and compared pairwise."""

from explicate.comparison.agreement import agreement_table, kendall_tau, rank_biased_overlap, top_k_jaccard
from explicate.comparison.models import CollectedRankings, collect_rankings
from explicate.comparison.rankings import merge_rankings
from explicate.comparison.scores import ScoredRankings, score_rankings

__all__ = [
    "CollectedRankings",
    "ScoredRankings",
    "agreement_table",
    "collect_rankings",
    "kendall_tau",
    "merge_rankings",
    "rank_biased_overlap",
    "score_rankings",
    "top_k_jaccard",
]
