"""The selector keeps scikit-learn's contract, finds what matters, and refuses what it cannot do."""

from __future__ import annotations

import pytest
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from explicate.mistic.selection import MisticSelector

WEIGHTS = "splits are drawn over rows, so that a row given twice is not a row of weight two"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}


@pytest.mark.filterwarnings("ignore:the performance curve has no knee:UserWarning")  # the checks' data are toys
@pytest.mark.global_random
@parametrize_with_checks(
    [
        MisticSelector(SVC(), cv=2),
        MisticSelector(SVR(), direction="forward", cv=2),
        MisticSelector(OneClassSVM(), cv=2),
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
