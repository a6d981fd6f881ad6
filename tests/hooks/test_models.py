"""A logged model loads, predicts the same, and takes any table the project takes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from explicate.core.labels import EncodedLabels
from explicate.hooks.kinds import table_digest
from explicate.hooks.models import log_model, requirements_of
from explicate.hooks.store import quiet

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow"),  # MLflow's own
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow"),
]


class Stubborn(ClassifierMixin, BaseEstimator):
    """A user's estimator that skops refuses."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.rule_ = lambda X: np.full(len(X), self.classes_[0])
        return self

    def predict(self, X):
        return self.rule_(X)


@pytest.fixture(scope="module")
def run_id(tmp_path_factory, empty_database):
    import mlflow

    folder = tmp_path_factory.mktemp("models")
    (folder / "mlflow.db").write_bytes(empty_database.read_bytes())
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    client = mlflow.MlflowClient()
    experiment = client.create_experiment("models", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment(experiment_id=experiment)
    return client.create_run(experiment).info.run_id


def log(run_id, model, rows):
    with quiet():
        return log_model(run_id, "model", model, rows)


def flavour(uri):
    import mlflow

    return mlflow.models.get_model_info(uri).flavors["sklearn"]


def mixed_table():
    return pd.DataFrame(
        {
            "text": pd.Series(["a", "b", None, "a", "b", "a", "c"], dtype="str"),
            "category": pd.Categorical(["u", "v", "u", None, "u", "v", "u"]),
            "flag": [True, False, True, True, False, True, False],
            "maybe": pd.array([True, None, False, True, True, False, None], dtype="boolean"),
            "whole": pd.array([1, 2, None, 4, 5, 6, None], dtype="Int64"),
            "count": [1, 2, 3, 4, 5, 6, 7],
            "real": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, np.nan],
        }
    )


def mixed_model(rows):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (SimpleImputer(), make_column_selector(dtype_include="number")),
    )
    return make_pipeline(encode, RandomForestClassifier(5, random_state=0)).fit(rows, list("pqpqpqp"))


def test_a_forest_on_a_mixed_table_is_skops_and_predicts_the_same(run_id):
    import mlflow

    rows = mixed_table()
    model = mixed_model(rows)
    uri = log(run_id, model, rows)
    assert flavour(uri)["serialization_format"] == "skops"
    assert np.array_equal(mlflow.sklearn.load_model(uri).predict_proba(rows), model.predict_proba(rows))
    info = mlflow.models.get_model_info(uri)
    assert info.signature.inputs.input_names() == list(rows)
    assert info.saved_input_example_info


def test_a_served_model_takes_what_the_signature_was_read_from(run_id):
    import mlflow

    rows = mixed_table()[["text", "count", "real", "flag"]]
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["text"]), remainder="passthrough")
    model = make_pipeline(encode, RandomForestClassifier(5, random_state=0)).fit(rows, list("pqpqpqp"))
    uri = log(run_id, model, rows)
    with quiet():
        served = mlflow.pyfunc.load_model(uri)
    assert np.array_equal(served.predict(rows), model.predict(rows))


def test_numbered_columns_are_logged(run_id):
    import mlflow

    rows = pd.DataFrame([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    model = SVC(random_state=0).fit(rows, [0, 1, 1])
    uri = log(run_id, model, rows)
    assert np.array_equal(mlflow.sklearn.load_model(uri).predict(rows), model.predict(rows))


def test_what_skops_refuses_is_pickled_and_leaves_no_half_model(run_id):
    import mlflow

    rows = pd.DataFrame({"x": [0.0, 1.0]})
    client = mlflow.MlflowClient()
    experiment = client.get_run(run_id).info.experiment_id
    before = len(client.search_logged_models([experiment]))
    uri = log(run_id, Stubborn().fit(rows, ["n", "y"]), rows)
    assert flavour(uri)["serialization_format"] == "cloudpickle"
    models = client.search_logged_models([experiment])
    assert len(models) == before + 1
    assert {model.status.name for model in models} == {"READY"}
    assert mlflow.sklearn.load_model(uri).predict(rows).tolist() == ["n", "n"]


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosted_trees_load_and_predict_the_same(run_id, library):
    import mlflow

    booster = pytest.importorskip(library)
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    labels = np.where(rows["a"] > 0, "yes", "no")
    if library == "xgboost":
        model = EncodedLabels(booster.XGBClassifier(n_estimators=3)).fit(rows, labels)
    else:
        model = booster.LGBMClassifier(n_estimators=3, verbose=-1).fit(rows, labels)
    uri = log(run_id, model, rows)
    assert np.array_equal(mlflow.sklearn.load_model(uri).predict_proba(rows), model.predict_proba(rows))
    assert any(line.startswith(library) for line in requirements_of(model))


def test_a_model_without_an_example_is_logged_all_the_same(run_id):
    import mlflow

    assert (
        mlflow.models.get_model_info(log(run_id, SVC(random_state=0).fit([[0], [1]], [0, 1]), None)).signature is None
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.assign(flag=[False] * 7),
        lambda table: table.assign(category=table["category"].cat.rename_categories({"u": "w"})),
        lambda table: table.assign(text=table["text"].fillna("z")),
        lambda table: table.rename(columns={"real": "unreal"}),
        lambda table: table.astype({"count": "int32"}),
        lambda table: table.set_axis(range(1, 8)),
        lambda table: table.iloc[::-1],
        lambda table: table.iloc[:-1],
    ],
)
def test_a_digest_changes_with_anything_in_the_table(change):
    assert table_digest(mixed_table()) == table_digest(mixed_table())
    assert table_digest(change(mixed_table())) != table_digest(mixed_table())
