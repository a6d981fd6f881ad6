"""The selector keeps scikit-learn's contract, finds what matters, and refuses what it cannot do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from explicate.mistic.kernels import Kernel
from explicate.mistic.machine import read_svm
from explicate.mistic.selection import MisticSelector
from explicate.mistic.splits import RepeatedHoldOut
from explicate.mistic.unified import calibrate_cutoff

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


def data(n_classes=2, n_rows=90):
    X, y = make_classification(
        n_rows, 8, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1,
        class_sep=1.6, shuffle=False, random_state=4,
    )  # fmt: skip
    return X, np.array(["ash", "birch", "cedar"])[y]


GRID = {"C": [0.5, 2.0], "gamma": [0.05, 0.2]}
QUIET = pytest.mark.filterwarnings("ignore:the performance curve has no knee:UserWarning")


@QUIET
@pytest.mark.parametrize("direction", ["backward", "forward"])
@pytest.mark.parametrize("tune", ["once", "each_step"])
@pytest.mark.parametrize("shared", [False, True])
def test_every_search_finds_the_signal(direction, tune, shared):
    X, y = data(3)
    selector = MisticSelector(
        SVC(), GRID, direction=direction, tune=tune, shared_features=shared, shared_parameters=shared, cv=3,
        select=3, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert selector.support_[:3].sum() >= 2
    assert sorted(selector.ranking_) == list(range(1, 9))
    assert selector.transform(X).shape == (90, 3)
    assert selector.score(X, y) > 0.85
    table = selector.performance_
    assert table["n_features"].tolist() == list(range(1, 9))
    assert {"score", "score_sd", "auc", "f1", "accuracy", "support_vectors", "n_columns"} <= set(table)
    if shared:
        assert (selector.group_table_["rank_sd"] == 0).all()
        assert len({str(path.stages[-1].parameters) for path in selector.members_}) == 1


@QUIET
def test_regression_and_one_class_select_rank_and_predict():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(90, 5))
    y = 2 * X[:, 1] - X[:, 3] + 0.1 * generator.normal(size=90)
    for direction in ("backward", "forward"):
        regressor = MisticSelector(SVR(), {"C": [1.0, 10.0]}, direction=direction, cv=3, select=2, random_state=0)
        assert np.flatnonzero(regressor.fit(X, y).support_).tolist() == [1, 3]
        assert regressor.score(X, y) > 0.8
        assert not hasattr(regressor, "decision_function")
    labels = np.ones(90, dtype=int)
    labels[80:] = -1
    X[80:, 0] += 6.0
    one = MisticSelector(OneClassSVM(nu=0.1), {"gamma": [0.1]}, cv=3, select=2, random_state=0).fit(X, labels)
    assert (one.predict(X[:80]) == 1).mean() > 0.8
    assert one.performance_["auc"].max() > 0.9
    assert MisticSelector(OneClassSVM(nu=0.1), cv=2, select=2, random_state=0).fit(X).predict(X).shape == (90,)


@QUIET
def test_same_answer_for_two_workers_frames_and_read_only_rows():
    X, y = data()
    X.flags.writeable = False
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    settings = {"param_grid": GRID, "cv": 3, "random_state": 1}
    for shared in (False, True):
        one = MisticSelector(**settings, shared_features=shared, n_jobs=1).fit(X, y)
        two = MisticSelector(**settings, shared_features=shared, n_jobs=2).fit(frame, y)
        pd.testing.assert_frame_equal(one.performance_, two.performance_)
        np.testing.assert_array_equal(one.ranking_, two.ranking_)
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(frame))
    assert two.get_feature_names_out().tolist() == list(frame.columns[two.support_])


@QUIET
def test_columns_may_stand_in_any_order():
    X, y = data()
    order = np.array([5, 0, 7, 2, 1, 6, 3, 4])
    settings = {"param_grid": GRID, "cv": 3, "ranking_rows": "train", "random_state": 1}
    plain, moved = MisticSelector(**settings).fit(X, y), MisticSelector(**settings).fit(X[:, order], y)
    np.testing.assert_array_equal(plain.ranking_[order], moved.ranking_)


def test_groups_stay_whole_and_come_from_an_encoder():
    X, y = data()
    frame = pd.DataFrame({"kind": np.where(y == "ash", "a", "b"), "size": X[:, 0], "noise": X[:, 6]})
    frame.loc[::9, "kind"] = "c"
    encoder = ColumnTransformer([("kind", OneHotEncoder(sparse_output=False), ["kind"])], remainder=StandardScaler())
    rows = encoder.fit_transform(frame)
    for groups in (encoder, FrozenEstimator(encoder), {"kind": [0, 1, 2], "size": [3], "noise": [4]}):
        selector = MisticSelector(
            SVC(gamma=0.05), cv=3, groups=groups, group_normalization="none", select=1, random_state=0
        ).fit(rows, y)
        assert selector.group_table_["feature"].iloc[0] == "kind"
        assert selector.support_.tolist() == [True, True, True, False, False]
        for path in selector.members_:
            assert all(len(stage.groups) in (1, 2, 3) for stage in path.stages)
    assert clone(MisticSelector(groups=FrozenEstimator(encoder), select=1, random_state=0)).fit(rows, y).n_groups_ == 1
    with pytest.raises(TypeError, match=r"sklearn\.frozen\.FrozenEstimator"):
        clone(MisticSelector(groups=encoder)).fit(rows, y)
    with pytest.raises(ValueError, match="puts column 0 in 'a' and 'b'"):
        MisticSelector(groups={"a": [0], "b": [0, 1]}).fit(rows, y)
    with pytest.raises(ValueError, match="names 9, no column"):
        MisticSelector(groups={"a": [9]}).fit(rows, y)
    with pytest.raises(ValueError, match="makes 5 columns, X has 4"):
        MisticSelector(groups=encoder).fit(rows[:, :4], y)


@QUIET
def test_another_number_changes_the_set_and_not_the_knee():
    X, y = data()
    selector = MisticSelector(SVC(), GRID, cv=3, select="knee", random_state=0).fit(X, y)
    knee, order = selector.knee_, selector.order_.copy()
    assert selector.n_groups_ == knee == selector.support_.sum()
    selector.set_n_features(5)
    assert selector.n_groups_ == 5 == selector.support_.sum() == selector.estimator_.n_features_in_
    assert set(np.flatnonzero(selector.support_)) == set(order[:5])
    assert selector.knee_ == knee
    with pytest.raises(ValueError, match="n_features=9 is out of range"):
        selector.set_n_features(9)


def test_order_inside_a_batch_is_the_rankings_not_the_columns():
    X, y = data()
    backward = MisticSelector(SVC(), cv=2, step=7, select=2, random_state=0).fit(X, y)  # all in one batch
    for path in backward.members_:
        assert path.order.tolist() != sorted(path.order.tolist())
        assert set(path.order[:2]) <= {0, 1, 2}


@QUIET
def test_what_is_explained_is_what_predicts():
    X, y = data()
    selector = MisticSelector(SVC(), GRID, cv=3, random_state=0).fit(X, y)
    machine = read_svm(selector.estimator_)
    values = machine.decision_function(selector.transform(X))
    np.testing.assert_allclose(values, selector.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(selector.classes_[(values > 0).astype(int)], selector.predict(X))
    numeric = {name: value for name, value in selector.best_params_.items() if name == "gamma"}
    assert machine.kernel.gamma == numeric["gamma"]


@QUIET
def test_probabilities_are_sigmoids_of_out_of_fold_decisions():
    X, y = data()
    y = np.where(np.arange(90) % 7 == 0, y[::-1], y)  # noise: in-fold decisions would be too sure
    selector = MisticSelector(SVC(gamma=2.0, C=100.0), cv=3, select=8, random_state=0).fit(X, y)
    p = selector.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    inside = CalibratedClassifierCV(FrozenEstimator(selector.estimator_), ensemble=False).fit(X, y).predict_proba(X)
    assert np.abs(p - 0.5).mean() < np.abs(inside - 0.5).mean() - 0.05
    held = cross_val_predict(selector.estimator_, X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0),
                             method="decision_function")  # fmt: skip
    sigmoid = selector.calibrated_.calibrated_classifiers_[0].calibrators[0]
    again = CalibratedClassifierCV(SVC(gamma=2.0, C=100.0, random_state=0), ensemble=False,
                                   cv=StratifiedKFold(5, shuffle=True, random_state=0)).fit(X, y)  # fmt: skip
    assert sigmoid.a_ == pytest.approx(again.calibrated_classifiers_[0].calibrators[0].a_)
    tuned = MisticSelector(SVC(gamma=2.0, C=100.0), cv=3, select=8, cutoff="f1", random_state=0).fit(X, y)
    truth = y == tuned.classes_[1]
    assert f1_score(truth, held > tuned.cutoff_) >= f1_score(truth, held > 0)
    assert tuned.cutoff_ == pytest.approx(calibrate_cutoff(tuned.estimator_, X, y, "f1"))
    with pytest.raises(ValueError, match="cutoff='f1' is for two classes"):
        MisticSelector(cutoff="f1").fit(*data(3))


@QUIET
def test_frozen_gamma_follows_the_number_of_columns():
    X, y = data()
    selector = MisticSelector(SVC(C=1.0), {"gamma": [0.05]}, cv=2, random_state=0).fit(X, y)
    fold_scores = selector.members_[0].stages
    folds = selector._folds(y, (y == "birch").astype(int))
    for stage in fold_scores:  # one fit by scikit-learn's own kernel, with γ = γ_0 · n_0 / n_t
        own = SVC(C=1.0, gamma=0.05 * 8 / len(stage.groups), random_state=0).fit(
            folds[0].X_train[:, stage.groups], folds[0].y_train
        )
        rows = folds[0].X_valid[:, stage.groups]
        assert stage.metrics["auc"] == pytest.approx(roc_auc_score(folds[0].y_valid, own.decision_function(rows)))
        assert stage.n_support == len(own.support_)


@QUIET
def test_weights_drop_rows_and_may_not_wipe_out_a_class():
    X, y = data()
    weights = np.ones(90)
    weights[::10] = 0
    kept = weights > 0
    settings = {"cv": 3, "random_state": 0}
    weighted = MisticSelector(**settings).fit(X, y, sample_weight=weights)
    bare = MisticSelector(**settings).fit(X[kept], y[kept], sample_weight=np.ones(kept.sum()))
    np.testing.assert_array_equal(weighted.ranking_, bare.ranking_)
    with pytest.raises(ValueError, match=r"sample_weight is zero on every row of class .*ash"):
        MisticSelector().fit(X, y, sample_weight=(y != "ash").astype(float))


def test_bad_input_is_named_before_anything_is_fitted():
    X, y = data()
    with pytest.raises(ValueError, match="y holds one class"):
        MisticSelector().fit(X, np.repeat("ash", 90))
    with pytest.raises(ValueError, match="contains NaN"):
        MisticSelector().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="select=9 is out of range"):
        MisticSelector(select=9).fit(X, y)
    with pytest.raises(ValueError, match="max_features=9 is out of range"):
        MisticSelector(max_features=9).fit(X, y)
    with pytest.raises(ValueError, match="param_grid names 'D', unknown to SVC"):
        MisticSelector(param_grid={"D": [1]}).fit(X, y)
    with pytest.raises(ValueError, match="kernel='precomputed' has no formula"):
        MisticSelector(SVC(kernel="precomputed")).fit(X, y)
    with pytest.raises(ValueError, match="kernel=a callable has no formula"):
        MisticSelector(SVC(kernel=lambda a, b: a @ b.T)).fit(X, y)
    with pytest.raises(TypeError, match="LogisticRegression is no kernel SVM"):
        MisticSelector(LogisticRegression()).fit(X, y)
    with pytest.raises(MemoryError, match="select on fewer rows or raise max_memory"):
        MisticSelector(max_memory=1000).fit(X, y)
    with pytest.raises(ValueError, match="returned nan"):
        MisticSelector(scoring=lambda model, X, y: float("nan")).fit(X, y)
    with pytest.raises(ValueError, match="direction='up' is not accepted"):
        MisticSelector(direction="up").fit(X, y)


@QUIET
def test_constant_columns_rank_last():
    X, y = data()
    wide = np.column_stack([np.ones(90), X, np.zeros(90)])
    for direction in ("backward", "forward"):
        selector = MisticSelector(SVC(), cv=3, direction=direction, random_state=0).fit(wide, y)
        assert set(np.flatnonzero(selector.ranking_ >= 9)) == {0, 9}


@QUIET
@pytest.mark.parametrize("kernel", [Kernel("laplacian", 0.1), Kernel("rbf", 0.1) + Kernel("linear"), "poly", "linear"])
def test_other_kernels_select(kernel):
    X, y = data()
    selector = MisticSelector(SVC(kernel=kernel), {"C": [0.5, 2.0]}, cv=3, select=3, random_state=0).fit(X, y)
    assert selector.support_[:3].sum() >= 2
    assert selector.score(X, y) > 0.8


@QUIET
def test_distributions_scorers_and_splitters_are_taken():
    X, y = data()
    selector = MisticSelector(
        SVC(), {"C": uniform(0.5, 2.0)}, n_candidates=3, scoring="balanced_accuracy",
        cv=RepeatedHoldOut(2, 0.3, random_state=0), random_state=0, select="best",
    ).fit(X, y)  # fmt: skip
    assert len(selector.tuning_) == 3
    assert len(selector.members_) == 2
    assert 0.5 < selector.enrichment_score() <= 1.0
    assert selector.enrichment_score("auc") <= 1.0


@QUIET
def test_refinement_adopts_the_best_set_and_pools():
    X, y = data()
    selector = MisticSelector(SVC(), {"gamma": [0.1]}, cv=3, select=2, random_state=0).fit(X, y)
    before = selector.support_.copy()
    found = selector.refine(n_iterations=25, reserve=0.2, adopt=False)
    assert found.score >= found.initial_score
    assert np.isfinite(found.reserved_score)
    np.testing.assert_array_equal(selector.support_, before)
    found = selector.refine(n_iterations=25)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), np.flatnonzero(found.support))
    pool = selector.refine(pooled=True, n_iterations=10, adopt=False)
    assert pool.supports.shape == (3, 8)


@QUIET
@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_the_largest_set_is_respected_and_sizes_may_be_tuned(direction):
    X, y = data()
    settings = {"cv": 3, "direction": direction, "max_features": 4, "random_state": 0}
    for select in ("knee", "best", "tuned"):
        assert MisticSelector(SVC(), GRID, select=select, **settings).fit(X, y).n_groups_ <= 4
    tuned = MisticSelector(SVC(), GRID, select="tuned", n_jobs=2, **settings).fit(X, y)
    table = tuned.performance_.dropna()
    assert table["n_features"].tolist() == [1, 2, 3, 4]
    assert tuned.n_groups_ == table["n_features"][table["tuned_score"].idxmax()]
    folds = tuned._folds(y, (y == "birch").astype(int))
    best = []
    for fold, path in zip(folds, tuned.members_, strict=True):
        rows, held = fold.X_train[:, path.order[:3]], fold.X_valid[:, path.order[:3]]
        scores = []
        for C, gamma in ((C, gamma) for C in GRID["C"] for gamma in GRID["gamma"]):
            model = SVC(C=C, gamma=gamma, random_state=0).fit(rows, fold.y_train)
            auc = roc_auc_score(fold.y_valid, model.decision_function(held))
            scores.append((auc + f1_score(fold.y_valid == 1, model.predict(held) == "birch")) / 2)
        best.append(max(scores))
    assert table["tuned_score"].iloc[2] == pytest.approx(np.mean(best))
