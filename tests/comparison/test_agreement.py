"""Agreement by hand."""

import pytest
from scipy.stats import kendalltau

from explicate.comparison import agreement_table, kendall_tau, rank_biased_overlap, top_k_jaccard


def test_kendall_by_hand():
    assert kendall_tau("abcd", "abdc") == pytest.approx((5 - 1) / 6)
    assert kendall_tau("abc", "cba") == pytest.approx(-1)
    assert kendall_tau("abcd", "badc") == pytest.approx(kendalltau([0, 1, 2, 3], [1, 0, 3, 2]).statistic)


def test_rank_biased_overlap_by_hand():
    assert rank_biased_overlap("abc", "abc", 0.7) == pytest.approx(1)
    # agreements at depths 1, 2, 3: 0, 1/2, 1; weights 1/2, 1/4, 1/8; the tail 1/8 agrees fully
    assert rank_biased_overlap("abc", "bca", 0.5) == pytest.approx(0.25 * 0.5 + 0.125 + 0.125)


def test_jaccard_by_hand_and_short_lists():
    assert top_k_jaccard("abcd", "badc", 3) == pytest.approx(2 / 4)
    assert top_k_jaccard("ab", "ba", 5) == 1


@pytest.mark.parametrize("other", ["ab", "abd", "aab"])
def test_different_features_are_refused(other):
    with pytest.raises(ValueError, match="same features"):
        kendall_tau("abc", other)


def test_table_holds_each_pair_once():
    table = agreement_table({"x": [1, 2], "y": [2, 1], "z": [1, 2]})
    assert list(zip(table["method"], table["other"], strict=True)) == [("x", "y"), ("x", "z"), ("y", "z")]
    assert table["kendall_tau"].tolist() == [-1, 1, -1]
