"""Bad and odd input: named by parameter or column before long work, or handled without losing a value or a dtype."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from explicate.sofi import SOFIExplainer
from explicate.sofi.inputs import suspects

QUIET = {"verbose": False, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    n = 60
    X = pd.DataFrame(
        {
            "size": generator.normal(size=n),
            "weight": generator.normal(size=n),
            "count": generator.integers(0, 3, n),
            "flag": generator.random(n) < 0.5,
            "kind": pd.Categorical(generator.choice(list("xyz"), n)),
        }
    )
    return X, np.where(X["size"] + X["count"] > 1, 1, 0)


def with_value(X, value):
    changed = X.copy()
    changed.loc[changed.index[3], "weight"] = value
    return changed


def encoded(handle_unknown):
    encoder = make_column_transformer((OneHotEncoder(handle_unknown=handle_unknown), ["kind"]), remainder="passthrough")
    return make_pipeline(encoder, LogisticRegression())


@pytest.mark.parametrize("model", [LogisticRegression(), RandomForestClassifier(3, random_state=0)], ids=["lr", "rf"])
@pytest.mark.parametrize("where", ["instances", "background", "statistic"])
def test_infinite_values_are_named_by_column(table, model, where):
    X = table[0][["size", "weight"]]
    model = model.fit(X, table[1])
    options = {**QUIET, "n_background": 60, "marginalization": "constant" if where == "statistic" else "background"}
    train, rows = (X, with_value(X, np.inf)) if where == "instances" else (with_value(X, -np.inf), X)
    explain = SOFIExplainer(model, train, **options).explain
    with pytest.raises(ValueError, match=r"cannot predict rows .* column\(s\) 'weight' hold infinite values, replace"):
        explain(rows.iloc[2:9] if where == "instances" else rows.tail(5))


def test_missing_values_are_named_where_a_model_refuses_them_and_kept_where_it_takes_them(table):
    X, y = table[0][["size", "weight"]], table[1]
    gap = with_value(X, np.nan)
    with pytest.raises(ValueError, match=r"column\(s\) 'weight' hold missing values, impute them"):
        SOFIExplainer(LogisticRegression().fit(X, y), X, **QUIET).explain(gap.head(5))
    for model in (
        RandomForestClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
    ):
        model.fit(gap, y)
        read = SOFIExplainer(model, gap, n_background=60, **QUIET)
        asked = SOFIExplainer(model, gap, n_background=60, compile_trees=False, **QUIET)
        sets = np.array([[True, False], [False, True], [True, True]])
        np.testing.assert_allclose(read.response(gap.head(9))(sets), asked.response(gap.head(9))(sets), atol=1e-12)


def test_unseen_categories_of_instances_reach_the_encoder_or_are_named(table):
    X, y = table
    odd = X.head(4).assign(kind=pd.Categorical(["q", "x", "y", "z"]))
    model = encoded("ignore").fit(X, y)
    explainer = SOFIExplainer(model, X, n_background=3, **QUIET)
    none, every = np.zeros((1, 5), dtype=bool), np.ones((1, 5), dtype=bool)
    proba = model.predict_proba(odd)
    assert explainer.response(odd)(none)[0] == pytest.approx(proba.max(axis=1).mean())
    background = model.predict_proba(explainer.marginalizer_.rows_).mean(axis=0)
    assert explainer.response(odd)(every)[0] == pytest.approx(background[proba.argmax(axis=1)].mean())
    as_text = odd.assign(kind=odd["kind"].astype(str))
    assert explainer.explain(as_text).ds == explainer.explain(odd).ds
    with pytest.raises(ValueError, match="column 'kind' holds 'q', unseen in X_train"):
        SOFIExplainer(encoded("error").fit(X, y), X, **QUIET).explain(odd)


def test_unseen_categories_of_the_background_reach_the_encoder(table):
    X, y = table
    model = encoded("ignore").fit(X, y)
    grown = X.assign(kind=X["kind"].cat.add_categories(["new"]))
    grown.loc[grown.index[:50], "kind"] = "new"
    explainer = SOFIExplainer(model, grown, n_background=60, **QUIET)
    every = np.ones((1, 5), dtype=bool)
    background = model.predict_proba(grown).mean(axis=0)
    wanted = background[model.predict_proba(X.head(4)).argmax(axis=1)].mean()
    assert explainer.response(X.head(4))(every)[0] == pytest.approx(wanted)
    with pytest.raises(ValueError, match="unknown categories"):
        SOFIExplainer(encoded("error").fit(X, y), grown, n_background=60, **QUIET).explain(X.head(4))


class Spy(ClassifierMixin, BaseEstimator):
    """Remember every table asked about."""

    def fit(self, X, y):
        self.classes_, self.feature_names_in_, self.seen_ = np.unique(y), np.array(X.columns, dtype=object), []
        return self

    def predict_proba(self, X):
        self.seen_.append(X)
        p = 1 / (1 + np.exp(-X["size"].to_numpy(dtype=float)))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


COLUMNS = {
    "float32": np.float32,
    "int8": np.int8,
    "uint8": np.uint8,
    "bool": bool,
    "object": object,
    "datetime": "datetime64[ns]",
    "Int16": "Int16",
    "boolean": "boolean",
    "str": "str",
    "category": "category",
}


@pytest.mark.parametrize("dtype", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("marginalization", ["background", "constant"])
@pytest.mark.filterwarnings("ignore:marginalising features raised|the mean .* was rounded")
def test_a_column_reaches_the_model_in_its_dtype_with_values_it_had(table, dtype, marginalization):
    X, y = table
    text = dtype in (object, "str", "category")
    values = [["b", "a", "c"][k % 3] if text else k % 2 for k in range(len(X))]
    X = pd.DataFrame({"size": X["size"], "odd": pd.Series(values, index=X.index).astype(dtype)})
    spy = Spy().fit(X, y)
    strategies = {"marginalization": marginalization, "integer_strategy": "mean", "n_background": 3}
    explainer = SOFIExplainer(spy, X, search="hill_climbing", **strategies, **QUIET)
    explainer.explain(X.head(4))
    explainer.explain(X.iloc[0], mode="local")
    assert len(spy.seen_) > 4
    for seen in spy.seen_:
        assert dict(seen.dtypes) == dict(X.dtypes)
        if marginalization == "background" or dtype is not np.float32:  # floats take their mean
            assert set(seen["odd"]) <= set(X["odd"])


def test_only_floats_still_reach_the_model_in_their_one_dtype(table):
    X = table[0][["size", "weight"]].astype(np.float32)
    spy = Spy().fit(X, table[1])
    SOFIExplainer(spy, X, search="hill_climbing", n_background=3, **QUIET).explain(X.head(4))
    assert {dtype for seen in spy.seen_ for dtype in seen.dtypes} == {np.dtype(np.float32)}


def test_a_model_that_writes_into_its_rows_harms_nobody(table):
    X, y = table[0][["size", "weight"]], table[1]

    class Vandal(Spy):
        def predict_proba(self, X):
            answer = super().predict_proba(X)
            X.iloc[:, :] = -1.0
            return answer

    before = X.copy()
    vandal, spy = Vandal().fit(X, y), Spy().fit(X, y)
    harmed = SOFIExplainer(vandal, X.copy(), search="hill_climbing", n_background=3, **QUIET)
    plain = SOFIExplainer(spy, X, search="hill_climbing", n_background=3, **QUIET)
    sets = np.array([[True, False], [False, True], [True, True]] * 2)
    response, wanted = harmed.response(X.head(4).copy()), plain.response(X.head(4))(sets)
    assert response(sets).tolist() == wanted.tolist()
    assert response(sets).tolist() == wanted.tolist()
    pd.testing.assert_frame_equal(X, before)


def test_a_mean_of_whole_numbers_is_rounded_aloud_and_booleans_take_their_mode(table):
    X, y = table
    model = encoded("ignore").fit(X, y)
    X = X.assign(count=[0, 1, 2] * 19 + [2, 2, 2])
    with pytest.warns(UserWarning, match="the mean 1.05 of integer column 'count' was rounded to 1"):
        explainer = SOFIExplainer(model, X, marginalization="constant", integer_strategy="mean", **QUIET)
    values = explainer.marginalization_values().set_index("feature")["value"]
    assert values["count"] == 1
    assert values["flag"] == X["flag"].mode()[0]


@pytest.mark.parametrize("marginalization", ["background", "constant"])
def test_constant_features_share_the_last_ranks(table, marginalization):
    X, y = table
    X = X[["size", "weight"]].assign(still=2.0, word="same")
    encoder = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression()).fit(X, y)
    rows = X[model.predict_proba(X).max(axis=1) > 0.8]
    explanation = SOFIExplainer(model, X, marginalization=marginalization, **QUIET).explain(rows)
    assert set(explanation.ranking[1:]) >= {"still", "word"}
    assert explanation.drops[explanation.ranking.index("still")] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("search", ["auto", "exact", "hill_climbing"])
@pytest.mark.parametrize("mode", ["global", "local"])
def test_one_row_and_one_feature(search, mode):
    X = pd.DataFrame({"only": np.arange(12.0)})
    model = LinearRegression().fit(X, X["only"])
    explanation = SOFIExplainer(model, X, **QUIET).explain(X.head(1), mode=mode, search=search)
    assert explanation.ranking == ["only"]
    assert explanation.is_optimal
    assert explanation.ds == 0.0


def test_generators_as_random_state_and_no_other(table):
    X, y = table[0][["size", "weight"]], table[1]
    model = LogisticRegression().fit(X, y)
    generator = np.random.default_rng(5)
    first = SOFIExplainer(model, X, random_state=generator, n_background=3, verbose=False)
    second = SOFIExplainer(model, X, random_state=generator, n_background=3, verbose=False)
    assert not first.marginalizer_.rows_.equals(second.marginalizer_.rows_)
    again = SOFIExplainer(model, X, random_state=np.random.default_rng(5), n_background=3, verbose=False)
    assert first.marginalizer_.rows_.equals(again.marginalizer_.rows_)
    rows = X[model.predict_proba(X).max(axis=1) > 0.8]
    one, two = (first.explain(rows, random_state=np.random.default_rng(1), search="hill_climbing") for _ in range(2))
    assert one.history == two.history
    with pytest.raises(TypeError, match=r"random_state=.* has type RandomState; give None, a whole number"):
        SOFIExplainer(model, X, random_state=np.random.RandomState(0))


@pytest.mark.parametrize("model", [make_pipeline(LogisticRegression()), LogisticRegression(), RandomForestClassifier()])
def test_a_model_that_is_not_fitted_is_refused(table, model):
    with pytest.raises(NotFittedError):
        SOFIExplainer(model, table[0])


@pytest.mark.parametrize(
    ("X_train", "error", "message"),
    [
        (sparse.eye(3).tocsr(), TypeError, r"X_train is a sparse csr_matrix; give X_train.toarray\(\)"),
        (None, ValueError, r"X_train has shape \(\)"),
        (np.zeros(3), ValueError, r"X_train has shape \(3,\)"),
    ],
    ids=["sparse", "nothing", "flat"],
)
def test_what_is_no_table_is_refused(X_train, error, message):
    with pytest.raises(error, match=message):
        SOFIExplainer(None, X_train, proba_fn=len)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            {"proba_fn": lambda rows: np.zeros(len(rows))},
            r"shape \(2,\) instead of class probabilities of shape \(2, n",
        ),
        ({"proba_fn": lambda rows: np.zeros((1, 2))}, r"shape \(1, 2\) instead of class probabilities"),
        ({"proba_fn": lambda rows: np.full((len(rows), 2), np.nan)}, "4 of the model's answers are NaN or infinite"),
        ({"predict_fn": lambda rows: np.zeros((len(rows), 3))}, r"shape \(2, 3\) instead of 2 estimates"),
        ({"predict_fn": lambda rows: np.full(len(rows), np.inf)}, "2 of the model's answers are NaN or infinite"),
    ],
)
def test_callables_that_answer_wrongly_are_refused(table, answers, message):
    with pytest.raises(ValueError, match=f"the callable cannot predict rows .*{message}"):
        SOFIExplainer(None, table[0], **answers)


def test_suspects_name_each_column_once():
    train = pd.DataFrame({"a": [1.0], "b": ["x"], "c": [1]})
    odd = pd.DataFrame({"a": [np.inf, np.nan], "b": ["y", "x"], "c": [1, 2]})
    found = suspects(odd, train)
    assert [part.split(" hold")[0] for part in found] == ["column(s) 'a'", "column(s) 'a'", "column 'b'"]
    assert suspects(train, train) == []


@pytest.mark.parametrize("compile_trees", [True, False])
def test_workers_take_memory_mapped_rows(compile_trees):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(45_000, 3)), columns=list("abc"))  # 1.1 MB
    y = np.where(X["a"] > 0, 1, 0)
    model = RandomForestClassifier(3, max_depth=3, max_samples=200, random_state=0).fit(X, y)
    options = {**QUIET, "n_background": 3, "compile_trees": compile_trees}
    alone = SOFIExplainer(model, X, **options).explain(X.head(4), mode="local")
    with joblib.parallel_config(backend="loky", max_nbytes="1K"):  # arrays of a kilobyte already come read-only
        shared = SOFIExplainer(model, X, n_jobs=2, **options).explain(X.head(4), mode="local")
    assert [one.order for one in alone] == [one.order for one in shared]
    assert [one.ds_raw for one in alone] == [one.ds_raw for one in shared]
