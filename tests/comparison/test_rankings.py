"""Rankings are collected over the original features and scored with a floor."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from explicate.comparison.agreement import agreement_table
from explicate.comparison.models import collect_rankings
from explicate.comparison.plotting import plot_agreement, plot_curves, plot_ranks
from explicate.comparison.rankings import merge_rankings, no_rankings, rankings_from_table
from explicate.comparison.scores import score_rankings


def place_score(rankings):
    """Score the place of `a`: 1 at the top."""

    def one(ds):
        return SimpleNamespace(ds=ds, auc_morf=0.0, auc_lerf=ds, morf_scores=[1, 0, 0, 0], lerf_scores=[1, 1, 1, 0])

    return {name: one(1 - ranking.index("a") / 2) for name, ranking in rankings.items()}


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"noise": generator.normal(size=80), "colour": generator.choice(["r", "g", "b"], 80)})
    return X, (X["colour"] == "r").to_numpy()


def encoder():
    return make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")


def test_one_hot_blocks_count_as_one_feature(table):
    X, y = table
    model = make_pipeline(encoder(), RandomForestClassifier(10, random_state=0)).fit(X, y)
    found = collect_rankings(model, X, y)
    assert not found.skipped
    assert set(found.rankings) == {"permutation", "impurity", "shap"}
    assert all(ranking == ["colour", "noise"] for ranking in found.rankings.values())
    assert found.costs["permutation"][1] == 1 + 2 * 5


def test_a_model_without_trees_has_shap_and_says_what_it_lacks(table):
    X, y = table
    model = make_pipeline(encoder(), LogisticRegression()).fit(X, y)
    found = collect_rankings(model, X, y)
    assert {method: ranking[0] for method, ranking in found.rankings.items()} == {
        "permutation": "colour",
        "shap": "colour",
    }
    assert list(found.skipped) == ["impurity"]
    assert "LogisticRegression has no feature_importances_" in found.skipped["impurity"]


def test_columns_that_mix_features_have_no_impurity_ranking(table):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    model = make_pipeline(PCA(2), RandomForestClassifier(5, random_state=0)).fit(X, X["a"] > 0)
    assert "cannot be traced" in collect_rankings(model, X, X["a"] > 0).skipped["impurity"]


def test_two_sources_may_not_name_a_method_alike():
    with pytest.raises(ValueError, match="another name"):
        merge_rankings({"shap": list("ab")}, {"shap": list("ba")})
    with pytest.raises(ValueError, match="another name"):
        merge_rankings({"random": list("ab")})


def test_scores_sort_best_first_and_random_is_the_floor():
    result = score_rankings({"bad": list("bca"), "good": list("abc")}, place_score, list("abc"), n_random=50)
    assert result.scores["method"].tolist() == ["good", "bad"]
    assert result.metrics()["good.ds"] == 1
    assert result.floor.mean() == pytest.approx(0.5, abs=0.2)
    assert result.to_frame()["method"].tolist() == ["good", "bad", "random"]
    again = score_rankings({}, place_score, list("abc"), n_random=50)
    np.testing.assert_array_equal(again.floor, result.floor)
    assert again.scores.empty
    assert "No ranking" in again.summary()


def test_user_rankings_are_read_by_rank_and_checked():
    given = pd.DataFrame({"method": "mine", "feature": ["1", "2"], "rank": [2, 1]})
    assert rankings_from_table(given, [1, 2]) == {"mine": [2, 1]}
    assert rankings_from_table(no_rankings(), [1, 2]) == {}
    with pytest.raises(ValueError, match="every feature once"):
        rankings_from_table(given.assign(feature="1"), [1, 2])
    assert rankings_from_table(given.assign(rank=["2", "1.0"]), [1, 2]) == {"mine": [2, 1]}
    with pytest.raises(ValueError, match=r"every feature once; .* \['1', '2'\]"):
        rankings_from_table(given.assign(feature="1"), [1, 2])
    with pytest.raises(ValueError, match="rank 'first' of ranking 'mine' is no number"):
        rankings_from_table(given.assign(rank=[1, "first"]), [1, 2])
    with pytest.raises(ValueError, match="rank nan of ranking 'mine'"):
        rankings_from_table(given.assign(rank=[1, None]), [1, 2])
    with pytest.raises(ValueError, match="rows without a method"):
        rankings_from_table(given.assign(method=["mine", None]), [1, 2])
    with pytest.raises(ValueError, match="lacks"):
        rankings_from_table(given[["method"]], [1, 2])


@pytest.mark.parametrize("rankings", [{}, {"one": list("abc")}, {"one": list("abc"), "two $": list("bca")}])
def test_figures_draw_with_any_number_of_methods(rankings):
    result = score_rankings(rankings, place_score, list("abc"), n_random=2)
    for figure in (plot_curves(result), plot_ranks(result), plot_agreement(agreement_table(rankings))):
        figure.canvas.draw()
