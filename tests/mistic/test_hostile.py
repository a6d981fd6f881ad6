"""What users hand in by mistake is understood or refused by name; what a fitted selector keeps survives it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.svm import SVC, SVR, OneClassSVM

from explicate.mistic.inputs import plain_labels
from explicate.mistic.scoring import f1_score
from explicate.mistic.selection import MisticSelector
from explicate.mistic.unified import calibrate_cutoff

pytestmark = pytest.mark.filterwarnings("ignore:the performance curve has no knee:UserWarning")
SETTINGS = {"cv": 3, "select": 2, "random_state": 0}


def data(n_classes=2):
    return make_classification(
        80, 6, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, shuffle=False,
        class_sep=1.5, random_state=0,
    )  # fmt: skip


def same(first, second):
    np.testing.assert_array_equal(first.ranking_, second.ranking_)
    pd.testing.assert_frame_equal(first.performance_, second.performance_)


def test_listed_splits_may_be_positions_masks_or_a_generator():
    X, y = data()
    splits = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    masks = [tuple(np.isin(np.arange(80), part) for part in split) for split in splits]
    listed = MisticSelector(cv=splits, random_state=0).fit(X, y)
    same(listed, MisticSelector(cv=masks, random_state=0).fit(X, y))
    drawn = MisticSelector(cv=(split for split in splits), random_state=0).fit(X, y)
    same(listed, drawn)
    assert drawn.set_n_features(3).n_groups_ == 3  # the generator is used up, its splits are not
    assert np.isfinite(drawn.refine(n_iterations=3, reserve=0.3).reserved_score)


def test_listed_splits_speak_of_the_rows_given_though_some_weigh_nothing():
    X, y = data()
    order = np.random.default_rng(0).permutation(80)
    splits, weights = [(order[:50], order[50:])], np.ones(80)
    weights[order[[0, 3, 60]]] = 0
    weighted = MisticSelector(cv=splits, random_state=0).fit(X, y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    bare = [tuple(np.searchsorted(kept, part[np.isin(part, kept)]) for part in splits[0])]
    same(weighted, MisticSelector(cv=bare, random_state=0).fit(X[kept], y[kept], sample_weight=np.ones(77)))


@pytest.mark.parametrize(
    ("cv", "error", "message"),
    [
        ([(np.arange(70), np.arange(70, 90))], ValueError, "beyond the 80 of X"),
        ([(np.arange(70), np.arange(-9, 0))], ValueError, "beyond the 80 of X"),
        ([(np.ones(3, dtype=bool), np.arange(9))], ValueError, "beyond the 80 of X"),
        ([(np.arange(70), np.arange(60, 80))], ValueError, "trains and validates on the same row"),
        (True, TypeError, "cv=True is no number of folds"),
        (None, TypeError, "cv=None is no number of folds"),
        ("5", TypeError, "cv='5' is no number of folds"),
        (KFold(2), ValueError, "no training row of class 0"),
    ],
)
def test_splits_that_do_not_exist_are_refused(cv, error, message):
    X, y = data()
    order = np.argsort(y, kind="stable")
    with pytest.raises(error, match=message):
        MisticSelector(cv=cv, random_state=0).fit(X[order], y[order])


@pytest.mark.parametrize("kind", ["str", "string", "category", "bool", "boolean", "Int64", "negative"])
def test_labels_come_back_as_they_were(kind):
    X, y = data()
    labels = {
        "str": pd.Series(np.where(y, "yes", "no")),
        "string": pd.Series(np.where(y, "yes", "no"), dtype="string"),
        "category": pd.Series(pd.Categorical(np.where(y, "yes", "no"))),
        "bool": y == 1,
        "boolean": pd.Series(y == 1, dtype="boolean"),
        "Int64": pd.Series(y + 3, dtype="Int64"),
        "negative": np.where(y, -1, -2),
    }[kind]
    selector = MisticSelector(**SETTINGS).fit(X, labels)
    plain = np.asarray(plain_labels(labels))
    assert set(selector.predict(X)) <= set(np.unique(plain))
    assert selector.classes_.dtype.kind == np.unique(plain).dtype.kind
    assert selector.score(X, plain) > 0.8


def test_nullable_columns_are_numbers_and_missing_ones_are_refused():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["e"], frame["f"] = (frame["e"] * 10).round().astype("Int64"), (frame["f"] > 0).astype("boolean")
    plain = frame.astype(float)
    before = frame.copy()
    same(MisticSelector(**SETTINGS).fit(frame, y), MisticSelector(**SETTINGS).fit(plain, y))
    pd.testing.assert_frame_equal(frame, before)
    frame.loc[3, "e"] = pd.NA
    with pytest.raises(ValueError, match="contains NaN"):
        MisticSelector(**SETTINGS).fit(frame, y)
    with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
        MisticSelector(**SETTINGS).fit(plain.assign(a="x"), y)


def test_scorers_that_give_no_number_are_named():
    X, y = data()
    for scorer, message in (
        ("neg_log_loss", "log_loss.*did not give one number"),
        (lambda model, X, y: None, "did not give one number"),
        (lambda model, X, y: np.ones(2), "did not give one number"),
        (lambda model, X, y: np.inf, "returned inf"),
    ):
        with pytest.raises(ValueError, match=message):
            MisticSelector(scoring=scorer, **SETTINGS).fit(X, y)
    with pytest.raises(TypeError, match=r"step=1\.5 has type float; give a whole number"):
        MisticSelector(step=1.5).fit(X, y)


def test_libsvms_own_probabilities_are_not_asked_for():
    X, y = data()
    own = MisticSelector(SVC(probability=True), **SETTINGS).fit(X, y)  # a FutureWarning would fail this test
    np.testing.assert_array_equal(own.predict_proba(X), MisticSelector(**SETTINGS).fit(X, y).predict_proba(X))


def test_three_classes_have_probabilities_of_their_labels():
    X, codes = data(3)
    y = np.array(["cedar", "ash", "birch"])[codes]
    selector = MisticSelector(**{**SETTINGS, "select": 3}).fit(X, y)
    p = selector.predict_proba(X)
    assert p.shape == (80, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (selector.classes_[p.argmax(axis=1)] == y).mean() > 0.8
    moved = MisticSelector(**{**SETTINGS, "select": 3}).fit(X[:, ::-1], y)
    np.testing.assert_allclose(moved.predict_proba(X[:, ::-1]).sum(axis=1), 1)


def test_the_cutoff_is_calibrated_out_of_fold_with_the_rows_weights():
    X, y = data()
    flipped = np.where(np.arange(80) % 6 == 0, 1 - y, y)
    weights = np.where(np.arange(80) % 6 == 0, 0.01, 1.0)
    svm = SVC(C=100.0, gamma=2.0, class_weight={0: 1.0, 1: 0.2}, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for given in (None, weights):
        params = {} if given is None else {"sample_weight": given}
        held = cross_val_predict(svm, X, flipped, cv=folds, params=params, method="decision_function")
        cutoff = calibrate_cutoff(svm, X, flipped, "f1", given)
        grid = np.concatenate([held, [0.0]])
        best = max(f1_score(flipped == 1, held > value) for value in grid)
        assert f1_score(flipped == 1, held > cutoff) == pytest.approx(best)
    # In fold the machine knows every row, so any cutoff between the classes is perfect: what it must not be fitted on.
    inside = svm.fit(X, flipped).decision_function(X)
    assert f1_score(flipped == 1, inside > 0) == 1.0


def test_a_fitted_selector_survives_pickling_and_clones_start_anew():
    X, y = data()
    selector = MisticSelector(groups={"pair": [0, 5]}, **SETTINGS).fit(X, y)
    back = pickle.loads(pickle.dumps(selector))
    same(selector, back)
    for one in (selector, back):
        one.refine(n_iterations=10)
    np.testing.assert_array_equal(selector.support_, back.support_)
    same(clone(selector).fit(X, y), back)
    assert not hasattr(clone(selector), "estimator_")


def test_refinement_changes_the_set_and_neither_the_order_nor_the_knee():
    X, y = data()
    selector = MisticSelector(**SETTINGS).fit(X, y)
    order, knee, curve = selector.order_.copy(), selector.knee_, selector.performance_.copy()
    found = selector.refine(n_iterations=30)
    assert selector.n_groups_ == found.support.sum() == selector.support_.sum() == selector.estimator_.n_features_in_
    assert selector.group_table_.set_index("feature")["selected"][found.selected].all()
    assert found.score >= found.initial_score
    assert selector.predict(X).shape == (80,)
    selector.set_n_features(2)
    assert set(np.flatnonzero(selector.support_)) == set(order[:2])
    np.testing.assert_array_equal(selector.order_, order)
    pd.testing.assert_frame_equal(selector.performance_, curve)
    assert selector.knee_ == knee


def test_reserved_rows_are_in_no_split_of_the_refinement(monkeypatch):
    from explicate.mistic import refining

    X, y = data()
    selector = MisticSelector(**SETTINGS).fit(X, y)
    seen = []
    original = refining.make_folds
    monkeypatch.setattr(refining, "make_folds", lambda *given, **more: seen.append(original(*given, **more)) or seen[0])
    selector.refine(n_iterations=3, reserve=0.25, adopt=False)
    rows = {tuple(row) for fold in seen[0] for row in np.vstack([fold.X_train, fold.X_valid])}
    assert len(rows) == 60
    with pytest.raises(ValueError, match=r"reserve=0\.001 of 80 rows"):
        selector.refine(reserve=0.001)
    with pytest.raises(ValueError, match=r"reserve=0\.2 judges one set"):
        selector.refine(pooled=True, reserve=0.2)


@pytest.mark.global_random
@pytest.mark.parametrize("svm", [SVC(), SVR(), OneClassSVM(nu=0.2)], ids=lambda svm: type(svm).__name__)
def test_pools_differ_in_predictions_too(svm):
    X, y = data()
    target = X[:, 0] if isinstance(svm, SVR) else None if isinstance(svm, OneClassSVM) else y
    selector = MisticSelector(svm, **SETTINGS).fit(X, target)
    pool = selector.refine(pooled=True, n_iterations=5, prediction_diversity=0.1)
    assert 0 <= pool.prediction_diversity <= 1
    expected = pool.scores.mean() + 0.05 * pool.feature_diversity + 0.1 * pool.prediction_diversity
    assert pool.objective == pytest.approx(expected)
    assert np.isfinite(selector.refine(n_iterations=3, reserve=0.2).reserved_score)


@pytest.mark.global_random
def test_a_constant_target_has_no_machine_and_no_ranking_to_break_on():
    X, _ = data()
    assert MisticSelector(SVR(), **SETTINGS).fit(X, np.ones(80)).support_.sum() == 2
