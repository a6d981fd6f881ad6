"""Compiled responses against the model itself, asked for every mixture of an instance and a background row."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from explicate.sofi.explainer import SOFIExplainer
from explicate.sofi.mixtures import NotCompilableError, compile_response

N = 5
SINGLES = [[k] for k in range(N)]


def all_sets(n):
    return (np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1


def queried(model, X, background, features, sets, regression, encode=lambda rows: rows):
    """Brute force: one prediction per set, instance and background row; shape (n_sets, n_rows)."""

    def ask(rows):
        return model.predict(encode(rows)) if regression else model.predict_proba(encode(rows))

    frame, draws = pd.DataFrame(X), pd.DataFrame(background)
    start = ask(X)
    rows = []
    for one in sets:
        answers = np.zeros(len(frame))
        for draw in range(len(draws)):
            mixed = frame.copy()
            for feature in np.flatnonzero(one):
                for column in features[feature]:
                    mixed.isetitem(column, [draws.iloc[draw, column]] * len(frame))
            mixed = mixed.astype(dict(frame.dtypes)) if isinstance(X, pd.DataFrame) else mixed.to_numpy(X.dtype)
            got = ask(mixed)
            if regression:
                answers -= np.abs(got - start)
            else:
                answers += got[np.arange(len(got)), start.argmax(axis=1)]
        rows.append(answers / len(draws))
    return np.array(rows)


def problem(n_classes=3, n_rows=80, n=N, missing=False, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n)).round(2)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * generator.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])) if n_classes else score
    if missing:
        X[generator.random(X.shape) < 0.15] = np.nan
    return X, y


CLASSIFIERS = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(7, random_state=0),
    ExtraTreesClassifier(7, random_state=0, bootstrap=True, class_weight="balanced"),
    BaggingClassifier(DecisionTreeClassifier(max_depth=4), 5, max_features=0.7, random_state=0),
    GradientBoostingClassifier(n_estimators=4, random_state=0),
    HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5, random_state=0),
]
REGRESSORS = [
    DecisionTreeRegressor(max_depth=5, random_state=0),
    RandomForestRegressor(6, random_state=0),
    ExtraTreesRegressor(6, random_state=0),
    GradientBoostingRegressor(n_estimators=5, random_state=0),
    HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5, random_state=0),
    HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5, random_state=0, loss="poisson"),
]


def name_of(model):
    return type(model).__name__ + ("Poisson" if getattr(model, "loss", "") == "poisson" else "")


def check_everything(compiled, wanted, sets, atol=1e-9):
    np.testing.assert_allclose(compiled.per_row(sets), wanted, rtol=0, atol=atol)
    np.testing.assert_allclose(compiled(sets), wanted.mean(axis=1), rtol=0, atol=atol)
    if len(sets) == 2**compiled.n_features:
        np.testing.assert_allclose(compiled.table(), wanted.mean(axis=1), rtol=0, atol=atol)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_every_classifier_equals_its_queries_on_all_subsets(model, n_classes):
    X, y = problem(n_classes)
    model.fit(X, np.array(["no", "so", "yes"])[y])
    compiled = compile_response(model, X[:6], X[20:24], SINGLES, regression=False)
    check_everything(compiled, queried(model, X[:6], X[20:24], SINGLES, all_sets(N), False), all_sets(N))


@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_every_regressor_equals_its_queries_on_all_subsets(model):
    X, y = problem(0)
    model.fit(X, np.exp(y))
    compiled = compile_response(model, X[:6], X[20:24], SINGLES, regression=True)
    check_everything(compiled, queried(model, X[:6], X[20:24], SINGLES, all_sets(N), True), all_sets(N))


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_other_libraries_equal_their_queries(library, n_classes):
    module = pytest.importorskip(library)
    X, y = problem(n_classes, missing=True)
    quiet = {"verbosity": 0} if library == "xgboost" else {"verbosity": -1, "min_child_samples": 5, "random_state": 0}
    kind = ("XGB" if library == "xgboost" else "LGBM") + ("Classifier" if n_classes else "Regressor")
    model = getattr(module, kind)(n_estimators=4, n_jobs=1, **quiet)
    names = [f"f{k}" for k in range(N)]
    X = pd.DataFrame(X, columns=names)
    model.fit(X, y)
    wanted = queried(model, X[:4], X[20:23], SINGLES, all_sets(N), n_classes == 0)
    compiled = compile_response(model, X[:4], X[20:23], SINGLES, regression=n_classes == 0)
    check_everything(compiled, wanted, all_sets(N), atol=1e-5 if library == "xgboost" else 1e-9)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5, random_state=0),
    ],
    ids=name_of,
)
def test_missing_values_go_where_the_model_sends_them(model):
    X, y = problem(2, missing=True)
    model.fit(X, y)
    compiled = compile_response(model, X[:6], X[20:24], SINGLES, regression=False)
    check_everything(compiled, queried(model, X[:6], X[20:24], SINGLES, all_sets(N), False), all_sets(N))


def test_values_are_rounded_to_float32_as_the_trees_do():
    X = np.array([[0.1], [0.1 + 1e-9], [0.1 + 1e-7], [0.3]])
    model = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1])
    compiled = compile_response(model, X, X, [[0]], regression=False)
    check_everything(compiled, queried(model, X, X, [[0]], all_sets(1), False), all_sets(1))


def mixed_table(n_rows=90):
    generator = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "colour": generator.choice(["red", "blue", "green"], n_rows),
            "size": generator.normal(size=n_rows),
            "count": generator.integers(0, 9, n_rows),
            "shape": pd.Categorical(generator.choice(["round", "flat"], n_rows)),
            "weight": np.where(generator.random(n_rows) < 0.2, np.nan, generator.normal(size=n_rows)),
        }
    )
    y = (table["size"] + (table["colour"] == "red") + (table["shape"] == "flat") + 0.1 * table["count"] > 1).to_numpy()
    return table, y.astype(int)


def encoder():
    return ColumnTransformer(
        [
            ("hot", OneHotEncoder(handle_unknown="ignore"), ["colour"]),
            ("scale", StandardScaler(), ["size", "count"]),
            ("code", OrdinalEncoder(), ["shape"]),
            ("fill", SimpleImputer(strategy="median", add_indicator=True), ["weight"]),
        ]
    )


@pytest.mark.parametrize("apart", [False, True], ids=["pipeline", "encoder apart"])
def test_encoders_are_taken_block_by_block(apart):
    table, y = mixed_table()
    forest = RandomForestClassifier(9, random_state=0)
    whole = make_pipeline(encoder(), forest).fit(table, y)
    wanted = queried(whole, table[:5], table[30:34], SINGLES, all_sets(N), False)
    if apart:
        compiled = compile_response(whole[-1], table[:5], table[30:34], SINGLES, regression=False, encoder=whole[0])
    else:
        compiled = compile_response(whole, table[:5], table[30:34], SINGLES, regression=False)
    assert compiled.n_features == N
    check_everything(compiled, wanted, all_sets(N))


def test_groups_of_columns_and_columns_left_alone():
    X, y = problem(2, n=6)
    model = RandomForestClassifier(7, random_state=0).fit(X, y)
    features = [[4, 0], [2], [3, 1]]  # column 5 is in no feature: it is never marginalised
    compiled = compile_response(model, X[:6], X[20:24], features, regression=False)
    check_everything(compiled, queried(model, X[:6], X[20:24], features, all_sets(3), False), all_sets(3))


@pytest.mark.parametrize("n_columns", [64, 128])
@pytest.mark.parametrize("regression", [False, True])
def test_more_than_one_word_of_features(n_columns, regression):
    X, y = load_digits(return_X_y=True)
    X = np.hstack([X, X[::-1]])[:300, :n_columns]
    kind = RandomForestRegressor if regression else RandomForestClassifier
    model = kind(6, random_state=0, max_features=8).fit(X, y[:300])
    features = [[k] for k in range(n_columns)]
    generator = np.random.default_rng(0)
    sets = generator.random((12, n_columns)) < generator.random((12, 1))
    compiled = compile_response(model, X[:5], X[50:53], features, regression=regression)
    check_everything(compiled, queried(model, X[:5], X[50:53], features, sets, regression), sets)
    with pytest.raises(ValueError, match="too many for a table"):
        compiled.table()


def test_a_case_by_hand():
    """One split on each of two features: class 1 only where both are 1; x = (1, 1), b = (0, 1)."""
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = DecisionTreeClassifier(random_state=0).fit(corners, [0, 0, 0, 1])
    compiled = compile_response(model, corners[3:], corners[1:2], [[0], [1]], regression=False)
    assert compiled.table().tolist() == [1.0, 0.0, 1.0, 0.0]  # {}, {0}, {1}, {0, 1}
    assert compiled.n_triples == 1  # kept {0}, marginalised {}: only class-1 leaves weigh anything


@pytest.mark.parametrize("model", [CLASSIFIERS[1], CLASSIFIERS[4], REGRESSORS[1]], ids=name_of)
def test_neither_memory_nor_blocks_change_the_answer(model, monkeypatch):
    regression = model in REGRESSORS
    X, y = problem(0 if regression else 3)
    model.fit(X, y)
    sets = all_sets(N)
    roomy = compile_response(model, X[:30], X[40:50], SINGLES, regression=regression)
    tight = dataclasses.replace(roomy, max_bytes=0.0)
    monkeypatch.setattr("explicate.sofi.mixtures_store.BLOCK_BYTES", 1.0)
    assert roomy.n_triples > 0
    assert tight.n_triples == 0
    for answer in (roomy, tight):
        np.testing.assert_allclose(answer.table(), roomy(sets), rtol=0, atol=1e-11)
        np.testing.assert_allclose(answer(sets), roomy(sets), rtol=0, atol=1e-11)
        np.testing.assert_allclose(answer.per_row(sets[:1]), roomy.per_row(sets)[:1], rtol=0, atol=1e-11)
        np.testing.assert_allclose(answer.per_row(sets[:3]), roomy.per_row(sets)[:3], rtol=0, atol=1e-11)


@pytest.mark.parametrize("model", [CLASSIFIERS[1], CLASSIFIERS[5], REGRESSORS[3]], ids=name_of)
def test_some_instances_answer_as_they_do_among_all(model):
    regression = model in REGRESSORS
    X, y = problem(0 if regression else 2)
    model.fit(X, y)
    compiled = compile_response(model, X[:8], X[40:45], SINGLES, regression=regression)
    whole = compiled.per_row(all_sets(N))
    for chosen in (3, slice(2, 5), [7, 0], np.arange(8) % 2 == 0):
        part = compiled.only(chosen)
        np.testing.assert_array_equal(part.per_row(all_sets(N)), np.atleast_2d(whole.T[chosen]).T)
        np.testing.assert_allclose(part.table(), part.per_row(all_sets(N)).mean(axis=1), rtol=0, atol=1e-11)


def test_permuting_features_permutes_the_table():
    X, y = problem(3)
    model = RandomForestClassifier(7, random_state=0).fit(X, y)
    order = np.random.default_rng(1).permutation(N)
    straight = compile_response(model, X[:6], X[20:24], SINGLES, regression=False)
    permuted = compile_response(model, X[:6], X[20:24], [[k] for k in order], regression=False)
    np.testing.assert_allclose(permuted(all_sets(N)), straight(all_sets(N)[:, np.argsort(order)]), rtol=0, atol=1e-12)


def test_deep_trees_and_many_features_expand_on_either_side():
    generator = np.random.default_rng(5)
    X = generator.normal(size=(300, 12))
    model = ExtraTreesClassifier(10, max_features=1, random_state=0).fit(X, generator.integers(0, 2, 300))
    compiled = compile_response(model, X[:3], X[100:104], [[k] for k in range(12)], regression=False)
    sets = all_sets(12)
    np.testing.assert_allclose(compiled.table(), compiled(sets), rtol=0, atol=1e-10)
    some = generator.choice(len(sets), 10)
    wanted = queried(model, X[:3], X[100:104], [[k] for k in range(12)], sets[some], False)
    np.testing.assert_allclose(compiled(sets[some]), wanted.mean(axis=1), rtol=0, atol=1e-10)


def test_inputs_are_only_read():
    X, y = problem(2)
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    X.setflags(write=False)
    before = X.copy()
    compiled = compile_response(model, X[:4], X[20:22], SINGLES, regression=False)
    compiled.table()
    np.testing.assert_array_equal(X, before)


def test_what_cannot_be_compiled_says_why():
    X, y = problem(2)
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(NotCompilableError, match="LogisticRegression is no tree ensemble"):
        compile_response(LogisticRegression().fit(X, y), X, X, SINGLES, regression=False)
    with pytest.raises(NotCompilableError, match="mixes columns"):
        compile_response(make_pipeline(PCA(random_state=0), forest).fit(X, y), X, X, SINGLES, regression=False)
    with pytest.raises(NotCompilableError, match="task"):
        compile_response(forest, X, X, SINGLES, regression=True)
    with pytest.raises(NotCompilableError, match="differ from the model's by"):
        compile_response(forest, X, X, SINGLES, regression=False, query=lambda rows: np.full((len(rows), 2), 0.5))
    words = X.astype(object)
    words[0, 0] = "red"
    with pytest.raises(NotCompilableError, match="not numbers"):
        compile_response(forest, words, X, SINGLES, regression=False)


def test_sets_of_the_wrong_shape_or_dtype_are_refused():
    X, y = problem(2)
    compiled = compile_response(
        RandomForestClassifier(3, random_state=0).fit(X, y), X, X[:3], SINGLES, regression=False
    )
    with pytest.raises(ValueError, match=r"sets has shape \(1, 4\)"):
        compiled(np.zeros((1, 4), dtype=bool))
    with pytest.raises(ValueError, match="dtype int64"):
        compiled(np.zeros((1, N), dtype=np.int64))
    assert compiled(np.zeros((0, N), dtype=bool)).shape == (0,)


def test_costs_are_predicted_from_counts():
    X, y = problem(2)
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    compiled = compile_response(model, X, X[:3], SINGLES, regression=False)
    assert compiled.bytes_for_table() == 2 * 8 * 2**N
    assert compiled.only(0).set_seconds() < compiled.set_seconds()
    assert 0 < compiled.only(0).table_seconds() < compiled.table_seconds()
    tight = dataclasses.replace(compiled, max_bytes=0.0)
    assert tight.set_seconds() > compiled.set_seconds()


@pytest.mark.peer
@pytest.mark.parametrize("regression", [False, True])
def test_curves_equal_the_published_implementation(regression):
    peer = pytest.importorskip("sofi")
    X, y = problem(0 if regression else 3)
    kind = RandomForestRegressor if regression else RandomForestClassifier
    model = kind(10, random_state=0).fit(X, y)
    scored = peer.SOFIExplainer(model, X, random_state=0, n_background=6, verbose=False).score_ranking(
        list(range(N)), X[:9]
    )
    drawn = np.sort(np.random.default_rng(0).choice(len(X), 6, replace=False))
    compiled = compile_response(model, X[:9], X[drawn], SINGLES, regression=regression)
    morf = compiled(np.tri(N + 1, N, -1, dtype=bool))
    lerf = compiled(np.tri(N + 1, N, -1, dtype=bool)[:, ::-1])
    np.testing.assert_allclose(morf, scored.morf_scores_raw, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lerf, scored.lerf_scores_raw, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["XGBClassifier", "XGBRegressor"])
def test_the_explainer_reads_trees_that_answer_in_single_precision(kind):
    xgboost = pytest.importorskip("xgboost")
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(80, 4)), columns=list("abcd"))
    y = X["a"] - X["b"] ** 2
    model = getattr(xgboost, kind)(n_estimators=20, max_depth=3, random_state=0)
    model.fit(X, y if kind.endswith("Regressor") else (y > 0).astype(int))
    explanation = SOFIExplainer(model, X, n_background=5, random_state=0, verbose=False).explain(X.head(8))
    assert "compiled trees" in explanation.summary()


@pytest.mark.parametrize("n", [5, 70])
@pytest.mark.parametrize("model", CLASSIFIERS[:4], ids=name_of)
def test_walking_many_sets_at_once_equals_walking_each(model, n):
    X, y = problem(3, n=n)
    model.fit(X, y)
    compiled = compile_response(model, X[:9], X[20:26], [[k] for k in range(n)], regression=False, max_bytes=0.0)
    assert compiled.n_triples == 0  # no room: trees are walked
    generator = np.random.default_rng(1)
    nested = np.tril(np.ones((n, n), dtype=bool))[:, generator.permutation(n)]
    for sets in (nested, generator.random((131, n)) < 0.5, nested[:1], nested[:0]):
        np.testing.assert_allclose(compiled(sets), compiled.per_row(sets).mean(axis=1), rtol=0, atol=1e-12)
