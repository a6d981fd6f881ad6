"""The explainer: containers, dtypes, encodings, warnings, errors, and results that agree however they are computed."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from explicate.sofi import (
    SOFIExplainer,
    aggregate_explanations,
    plot_explanation_grid,
    set_curve_colors,
    set_plot_style,
)
from explicate.sofi.instances import choose_instances
from explicate.sofi.plotting import CURVE_COLORS, plot_ranks


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6]
    return RandomForestClassifier(15, max_depth=4, random_state=0).fit(X, y), X


@pytest.fixture(scope="module")
def mixed():
    generator = np.random.default_rng(0)
    n = 80
    X = pd.DataFrame(
        {
            "size": generator.normal(size=n),
            "count": generator.integers(0, 5, n),
            "maybe": pd.array(np.where(generator.random(n) < 0.2, None, generator.integers(0, 9, n)), dtype="Int64"),
            "flag": generator.random(n) < 0.5,
            "gap flag": pd.array(np.where(generator.random(n) < 0.2, None, generator.random(n) < 0.5), dtype="boolean"),
            "kind": pd.Series(generator.choice(["a", "b", "c"], n), dtype="str"),
            "arrow": pd.array(generator.choice(["x", "y"], n), dtype="string[pyarrow]"),
            "level": pd.Categorical(generator.choice(["low", "high"], n), categories=["low", "high", "unseen"]),
        },
        index=generator.permutation(n),
    )
    return X, np.where(X["size"] + (X["kind"] == "a") > 0.3, "yes", "no")


class DtypeSpy(ClassifierMixin, BaseEstimator):
    """Remember the dtypes that reach ``predict_proba``."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        self.seen_ = []
        return self

    def predict_proba(self, X):
        self.seen_.append(dict(X.dtypes))
        p = 1 / (1 + np.exp(-X["size"].to_numpy()))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


@pytest.mark.parametrize("marginalization", ["background", "constant"])
@pytest.mark.filterwarnings("ignore:column.s. 'maybe', 'gap flag' hold missing values")  # tested below
@pytest.mark.filterwarnings("ignore:marginalising features raised")  # the point here is dtypes
def test_every_query_keeps_every_dtype_and_the_frame_untouched(mixed, marginalization):
    X, y = mixed
    spy, before = DtypeSpy().fit(X, y), X.copy()
    explainer = SOFIExplainer(spy, X, marginalization=marginalization, n_background=4, max_iterations=5, random_state=0)
    explainer.explain(X.head(6), search="hill_climbing")
    explainer.explain(X.head(2), mode="local", search="exact")
    assert all(seen == dict(X.dtypes) for seen in spy.seen_)
    pd.testing.assert_frame_equal(X, before)
    assert list(explainer.marginalizer_.rows_.dtypes) == list(X.dtypes)


def test_a_pipeline_of_mixed_columns_is_compiled_and_agrees_with_queries(mixed):
    X, y = mixed
    X = X[["size", "count", "kind", "level"]]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["kind", "level"]), remainder="passthrough"
    )
    model = make_pipeline(encoder, RandomForestClassifier(10, max_depth=4, random_state=0)).fit(X, y)
    compiled = SOFIExplainer(model, X, random_state=0, verbose=False).explain(X.head(15))
    queried = SOFIExplainer(model, X, random_state=0, verbose=False, compile_trees=False).explain(X.head(15))
    assert (compiled.response, queried.response) == ("compiled trees", "model queries")
    assert compiled.ds_raw == pytest.approx(queried.ds_raw, abs=1e-12)
    assert compiled.feature_names == ("size", "count", "kind", "level")
    odd = X.head(3).assign(kind="never seen")
    assert SOFIExplainer(model, X, random_state=0, verbose=False).explain(odd).n_instances == 3


def test_array_and_frame_agree():
    X, y = load_wine(return_X_y=True)
    X = X[:, :5]
    frame = pd.DataFrame(X, columns=list("abcde"))
    one = SOFIExplainer(LogisticRegression(max_iter=5000).fit(X, y), X, random_state=0, verbose=False)
    two = SOFIExplainer(LogisticRegression(max_iter=5000).fit(frame, y), frame, random_state=0, verbose=False)
    a, b = one.explain(X[:9]), two.explain(frame[:9])
    assert a.order == b.order
    assert a.ds_raw == pytest.approx(b.ds_raw, abs=1e-12)
    assert one.feature_names_ == ["f0", "f1", "f2", "f3", "f4"]
    assert one.explain(X[0], mode="local").order == two.explain(frame.iloc[0], mode="local").order


def test_columns_are_matched_by_name(wine):
    model, X = wine
    explainer = SOFIExplainer(model, X, random_state=0, verbose=False)
    assert explainer.explain(X.head(9)[X.columns[::-1]]).order == explainer.explain(X.head(9)).order
    with pytest.raises(ValueError, match=r"lacks the column.s. 'alcohol'"):
        explainer.explain(X.head(9).drop(columns="alcohol"))
    with pytest.raises(ValueError, match="'extra' that the training data lacks"):
        explainer.explain(X.head(9).assign(extra=1))
    with pytest.raises(ValueError, match="more than one column named 'alcohol'"):
        explainer.explain(pd.concat([X.head(9), X.head(9)[["alcohol"]]], axis=1))


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("compile_trees", [True, False])
@pytest.mark.filterwarnings("ignore:the response never falls|marginalising features raised")
def test_local_explanations_do_not_depend_on_the_workers(wine, backend, compile_trees):
    model, X = wine
    options = {"random_state": 0, "verbose": False, "compile_trees": compile_trees, "n_background": 5}
    alone = SOFIExplainer(model, X, **options).explain(X.head(4), mode="local")
    with joblib.parallel_config(backend=backend):
        shared = SOFIExplainer(model, X, n_jobs=2, **options).explain(X.head(4), mode="local")
    assert [one.order for one in alone] == [one.order for one in shared]
    assert [one.ds_raw for one in alone] == [one.ds_raw for one in shared]
    assert [one.instance_index for one in shared] == X.index[:4].tolist()


def test_same_seed_same_answer_and_a_generator_is_drawn_from_once(wine):
    model, X = wine
    explainer = SOFIExplainer(model, X, verbose=False)
    assert explainer.explain(X.head(8)).ds_raw == explainer.explain(X.head(8)).ds_raw
    twins = [SOFIExplainer(model, X, random_state=np.random.default_rng(3), verbose=False) for _ in range(2)]
    assert twins[0].explain(X.head(8)).ds_raw == twins[1].explain(X.head(8)).ds_raw


def test_callables_stand_in_for_an_estimator(wine):
    model, X = wine
    explainer = SOFIExplainer(None, X, proba_fn=model.predict_proba, random_state=0, verbose=False)
    assert explainer.task == "classification"
    direct = SOFIExplainer(model, X, random_state=0, verbose=False, compile_trees=False)
    assert explainer.explain(X.head(5)).ds_raw == direct.explain(X.head(5)).ds_raw
    with pytest.raises(ValueError, match="SVC has no predict_proba; give proba_fn"):
        SOFIExplainer(SVC(random_state=0).fit(X, model.predict(X)), X)


def test_four_ways_to_declare_features(mixed):
    X, y = mixed
    X = X[["size", "kind", "level"]]
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["kind", "level"]), remainder="passthrough"
    ).set_output(transform="pandas")
    encoded = encoder.fit_transform(X)
    forest = RandomForestClassifier(8, random_state=0).fit(encoded, y)
    apart = SOFIExplainer(forest, X, encoder=encoder, random_state=0, verbose=False)
    auto = SOFIExplainer(forest, encoded, encoder=encoder, feature_groups="auto", random_state=0, verbose=False)
    plain = SOFIExplainer(forest, encoded, random_state=0, verbose=False)
    assert apart.feature_names_ == ["size", "kind", "level"]
    assert set(auto.feature_names_) == {"size", "kind", "level"}
    assert auto.feature_map().set_index("feature").loc["kind", "n_columns"] == 3
    assert len(plain.feature_names_) == encoded.shape[1]
    assert auto.explain(encoded.head(9)).ds_raw == pytest.approx(apart.explain(X.head(9)).ds_raw, abs=1e-12)


def test_a_block_takes_its_most_frequent_joint_pattern():
    table = pd.DataFrame({"a": [1.0, 0.0, 0.0, 1.0, 1.0], "b": [0.0, 1.0, 1.0, 0.0, 0.0]})
    model = LinearRegression().fit(table, [1, 2, 3, 4, 5])
    explainer = SOFIExplainer(
        model, table, feature_groups={"ab": ["a", "b"]}, marginalization="constant", verbose=False
    )
    assert explainer.marginalization_values()["value"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["alcohol", "nothing"]}, r"feature_groups\['g'\] names 'nothing', no column"),
        ({"g": []}, r"feature_groups\['g'\] is empty"),
        ({"g": ["alcohol"], "h": ["alcohol"]}, "puts column 'alcohol' in 'g' and 'h'"),
        ({"ash": ["alcohol"]}, "has a feature 'ash' without the column of that name"),
        ("auto", "reads the groups off encoder, which is None"),
        ("all", "feature_groups='all' is not accepted"),
    ],
)
def test_wrong_groups_are_named(wine, groups, message):
    model, X = wine
    with pytest.raises(ValueError, match=message):
        SOFIExplainer(model, X, feature_groups=groups)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"task": "rank"}, ValueError, "task='rank'"),
        ({"marginalization": "zero"}, ValueError, "marginalization='zero'"),
        ({"numeric_strategy": "max"}, ValueError, "numeric_strategy='max'"),
        ({"integer_strategy": "max"}, ValueError, "integer_strategy='max'"),
        ({"categorical_strategy": "mean"}, ValueError, "categorical_strategy='mean'"),
        ({"n_background": 0}, ValueError, "n_background=0 is out of range"),
        ({"n_background": 2.5}, TypeError, "n_background=2.5 has type float"),
        ({"chunk_size": 0}, ValueError, "chunk_size=0"),
        ({"search": "best"}, ValueError, "search='best'"),
        ({"random_state": -1}, ValueError, "random_state=-1"),
        ({"initialization": "best"}, ValueError, "initialization='best'"),
        ({"initialization": ["alcohol"]}, ValueError, "each of the 6 features once; it has 1 entries and lacks"),
        ({"initialization": ["alcohol", "beer"]}, ValueError, "the ranking names 'beer', no feature"),
        ({"max_memory": -1}, ValueError, "max_memory=-1"),
    ],
)
def test_wrong_options_are_named_at_construction(wine, options, error, message):
    model, X = wine
    with pytest.raises(error, match=message):
        SOFIExplainer(model, X, **options)


def test_wrong_models_and_rows_are_named(wine, mixed):
    model, X = wine
    with pytest.raises(NotFittedError):
        SOFIExplainer(RandomForestClassifier(), X)
    with pytest.raises(ValueError, match=r"cannot predict rows .* fit a Pipeline that carries the encoder"):
        SOFIExplainer(model, mixed[0])
    with pytest.raises(ValueError, match="cannot read the task of object"):
        SOFIExplainer(object(), X)
    explainer = SOFIExplainer(model, X, verbose=False)
    with pytest.raises(ValueError, match="X has no rows"):
        explainer.explain(X.head(0))
    with pytest.raises(ValueError, match="mode='all'"):
        explainer.explain(X, mode="all")
    with pytest.raises(ValueError, match=r"X has shape \(2, 3\); give rows of 6 columns"):
        explainer.explain(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="column 'ash' of X has dtype"):
        explainer.explain(X.head(2).assign(ash=["a", "b"]))
    with pytest.raises(ValueError, match=r"shape \(0, 6\)"):
        SOFIExplainer(model, X.head(0))


def test_the_warnings_of_the_method(wine):
    _, X = wine
    flat = SOFIExplainer(None, X, proba_fn=lambda rows: np.tile([0.7, 0.3], (len(rows), 1)), verbose=False)
    with pytest.warns(UserWarning, match="never falls") as caught:
        explanation = flat.explain(X.head(3))
    assert len(caught) == 1
    assert explanation.ds == 0.0
    assert explanation.morf_scores.tolist() == [1.0] * 7

    def climbing(rows):
        p = np.where(np.abs(rows["alcohol"] - X["alcohol"].mean()) < 1e-9, 0.95, np.where(rows["ash"] > 2, 0.6, 0.5))
        return np.column_stack([p, 1 - p])

    sure = SOFIExplainer(None, X, proba_fn=climbing, marginalization="constant", verbose=False)
    with pytest.warns(UserWarning, match="raised the response above the unperturbed one .* n_background"):
        sure.explain(X.head(3))
    gaps = X.assign(ash=X["ash"].where(X.index % 3 > 0))
    with pytest.warns(UserWarning, match="column.s. 'ash' hold missing values, which their statistics leave out"):
        SOFIExplainer(None, gaps, proba_fn=climbing, marginalization="constant", verbose=False)
    counts = X.assign(ash=np.arange(len(X)) % 2)
    with pytest.warns(UserWarning, match="the mean 0.5 of integer column 'ash' was rounded"):
        SOFIExplainer(
            None, counts, proba_fn=climbing, marginalization="constant", integer_strategy="mean", verbose=False
        )


def test_trees_that_cannot_be_compiled_are_queried_with_one_warning(wine):
    _, X = wine

    class Tilted(RandomForestClassifier):
        def predict_proba(self, rows):
            return super().predict_proba(rows) * 0.9 + 0.1 / 3

    y = np.arange(len(X)) % 3
    explainer = SOFIExplainer(Tilted(5, random_state=0).fit(X, y), X, random_state=0, verbose=False)
    with pytest.warns(
        UserWarning, match="queried from the model, since its trees were not compiled: compiled predictions"
    ):
        first = explainer.explain(X.head(4))
    assert first.response == "model queries"
    explainer.explain(X.head(4))  # not said again


@pytest.mark.filterwarnings("ignore:the response never falls")  # a constant feature alone explains nothing
def test_edges_one_row_one_feature_constant_features():
    X = pd.DataFrame({"only": np.arange(20.0)})
    model = RandomForestRegressor(5, random_state=0).fit(X, X["only"])
    one = SOFIExplainer(model, X, random_state=0, verbose=False).explain(X.head(1))
    assert one.ranking == ["only"]
    assert one.is_optimal
    X["constant"] = 1.0
    model = RandomForestRegressor(5, random_state=0).fit(X, X["only"])
    assert SOFIExplainer(model, X, random_state=0, verbose=False).explain(X.head(4)).ranking == ["only", "constant"]


def test_rows_larger_than_joblibs_shared_memory_threshold():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(45_000, 4)), columns=list("abcd"))  # 1.4 MB: joblib hands out memory maps
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, X["a"] - X["b"])
    with joblib.parallel_config(backend="loky", max_nbytes="100K"):
        explainer = SOFIExplainer(model, X, random_state=0, verbose=False, n_jobs=2, n_background=3)
        explanations = explainer.explain(X.head(3), mode="local")
    assert {one.ranking[0] for one in explanations} <= {"a", "b"}


def test_explanations_hold_together(wine):
    model, X = wine
    explainer = SOFIExplainer(model, X, random_state=0, verbose=False)
    explanation = explainer.explain(X.head(20))
    assert explanation.ds == pytest.approx(explanation.ds_raw / (explanation.anchor_high - explanation.anchor_low))
    assert explanation.statistics["degradation_score"] == explanation.ds
    assert explanation.importances.iloc[0] == 1.0
    assert explanation.drops.sum() == pytest.approx(explanation.morf_scores[0] - explanation.morf_scores[-1])
    assert explanation.scores.tolist() == explanation.morf_scores.tolist()
    assert len(explanation.to_frame()) == 6
    assert len(explanation.curves()) == 7
    assert "proved optimal" in str(explanation)
    assert "and 4 more" in explanation.summary(top_k=2)
    assert repr(explanation).startswith("SOFIExplanation(task=classification, mode=global, DS=")
    assert 0 <= explanation.sparsity <= 1
    given = explainer.score_ranking(explanation.ranking, X.head(20))
    assert given.ds_raw == pytest.approx(explanation.ds_raw)
    assert not given.is_optimal
    copied = pickle.loads(pickle.dumps(explanation))
    assert copied.ds == explanation.ds
    with pytest.raises(ValueError, match="does not know its model any more"):
        copied.stability()


def test_modularity_gap_is_zero_for_an_additive_response():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)), columns=list("abcd"))

    def additive(rows):
        p = 0.5 + np.clip(rows.to_numpy() @ [0.05, 0.04, 0.03, 0.02], -0.4, 0.4)
        return np.column_stack([p, 1 - p])

    one = SOFIExplainer(None, X, proba_fn=additive, marginalization="constant", verbose=False)
    rows = pd.DataFrame(np.ones((3, 4)), columns=list("abcd"))
    assert one.explain(rows).modularity_gap == pytest.approx(0.0, abs=1e-9)


def test_stability_repeats_the_explanation(wine):
    model, X = wine
    explanation = SOFIExplainer(model, X, random_state=0, verbose=False).explain(X.head(20))
    stability = explanation.stability(n_draws=5, top_k=2)
    assert stability.ranks.shape == (5, 6)
    assert (np.sort(stability.ranks, axis=1) == np.arange(1, 7)).all()
    assert (stability.ds_kept <= stability.ds + 1e-9).all()
    assert stability.to_frame()["top_share"].sum() == pytest.approx(2.0)
    assert "5 re-drawn samples" in stability.summary()
    again = explanation.stability(n_draws=5, top_k=2)
    assert np.array_equal(again.ranks, stability.ranks)


def test_instances_are_chosen_by_confidence(wine):
    model, X = wine
    chosen = choose_instances(model, X, classification=True, most=5)
    proba = model.predict_proba(X).max(axis=1)
    assert proba[chosen["most confident"]] == proba.max()
    assert proba[chosen["least confident"]] == proba.min()
    assert len(set(chosen.values())) == len(chosen) == 5


@pytest.mark.filterwarnings("ignore:the response never falls|marginalising features raised|Glyph")
def test_figures_draw_what_the_tables_hold(wine):
    model, X = wine
    X = X.rename(columns={"ash": "ash in $", "alcohol": "酒精" * 30})
    model = RandomForestClassifier(5, random_state=0).fit(X, np.arange(178) % 3)
    explainer = SOFIExplainer(model, X, random_state=0, verbose=False)
    explanation = explainer.explain(X.head(9))
    ax = explanation.plot(title="given", morf_color="#c0392b")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), explanation.morf_scores)
    np.testing.assert_allclose(ax.lines[1].get_ydata(), explanation.lerf_scores)
    assert ax.get_ylabel() == "Prediction fidelity"
    assert ax.lines[0].get_color() == "#c0392b"
    ax.figure.canvas.draw()
    local = explainer.explain(X.head(3), mode="local")
    figure = plot_explanation_grid(local, title="three", ncols=2)
    figure.canvas.draw()
    assert len(figure.axes) == 4
    plot_ranks(aggregate_explanations(local)).canvas.draw()
    with pytest.raises(ValueError, match="picks is empty"):
        plot_explanation_grid([])
    with pytest.raises(ValueError, match="explanations is empty"):
        aggregate_explanations([])


def test_session_style_and_colours():
    import matplotlib

    before, size = dict(CURVE_COLORS), matplotlib.rcParams["font.size"]
    try:
        set_curve_colors(morf="#865321")
        assert CURVE_COLORS["morf"] == "#865321"
        assert CURVE_COLORS["lerf"] == before["lerf"]
        with pytest.raises(ValueError, match="lerf='no colour' is no colour matplotlib knows"):
            set_curve_colors(lerf="no colour")
        with pytest.raises(ValueError, match="font_scale=0"):
            set_plot_style(font_scale=0)
        set_plot_style(font_scale=1.5)
    finally:
        CURVE_COLORS.update(before)
        matplotlib.rcParams["font.size"] = size


def test_rankings_scored_together_score_as_alone(wine):
    model, X = wine[0], wine[1]
    explainer = SOFIExplainer(model, X, n_background=3, random_state=0, verbose=False)
    rows = X.head(6)
    rankings = {"forward": list(X.columns), "backward": list(X.columns)[::-1]}
    together = explainer.score_rankings(rankings, rows)
    for name, ranking in rankings.items():
        alone = explainer.score_ranking(ranking, rows)
        assert together[name].ds_raw == alone.ds_raw
        np.testing.assert_array_equal(together[name].morf_scores, alone.morf_scores)
