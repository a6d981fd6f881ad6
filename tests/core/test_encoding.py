"""Output columns are traced to inputs: proved by changing one input at a time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from explicate.core.encoding import column_origins, feature_groups_from_encoder, split_model


@pytest.fixture
def table():
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": generator.normal(size=40),
            "kind": generator.choice(["x", "y", "z", "rare"], 40, p=[0.4, 0.3, 0.25, 0.05]),
            "b": np.where(generator.random(40) < 0.3, np.nan, generator.normal(size=40)),
            "flag": generator.choice(["n", "y"], 40),
        }
    )


NUMERIC, NOMINAL = ["a", "b"], ["kind", "flag"]
ENCODERS = {
    "plain": lambda: ColumnTransformer(
        [("o", OneHotEncoder(handle_unknown="ignore"), NOMINAL), ("n", SimpleImputer(), NUMERIC)]
    ),
    "drop": lambda: ColumnTransformer([("o", OneHotEncoder(drop="if_binary"), NOMINAL)], remainder="passthrough"),
    "rare": lambda: ColumnTransformer(
        [("o", OneHotEncoder(min_frequency=8), NOMINAL), ("n", StandardScaler(), NUMERIC)]
    ),
    "indicator": lambda: ColumnTransformer(
        [("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), NUMERIC)]
    ),
    "ordinal": lambda: ColumnTransformer([("o", OrdinalEncoder(), NOMINAL)], remainder="drop"),
    "selector": lambda: ColumnTransformer(
        [("n", SimpleImputer(), make_column_selector(dtype_include=float)), ("o", OneHotEncoder(), [1, 3])]
    ),
    "slice": lambda: ColumnTransformer([("n", StandardScaler(), slice("b", "b")), ("o", OneHotEncoder(), slice(3, 4))]),
    "mask": lambda: ColumnTransformer([("n", StandardScaler(), [True, False, True, False])]),
    "bins": lambda: ColumnTransformer(
        [("k", KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), ["a"]), ("o", OneHotEncoder(), ["flag"])]
    ),
    "spline": lambda: ColumnTransformer([("s", SplineTransformer(n_knots=3), ["a"])]),
    "union": lambda: ColumnTransformer(
        [("u", FeatureUnion([("i", SimpleImputer()), ("m", MissingIndicator())]), NUMERIC)]
    ),
    "identity": lambda: ColumnTransformer([("f", FunctionTransformer(), NUMERIC)]),
    "threshold": lambda: ColumnTransformer(
        [("v", Pipeline([("i", SimpleImputer()), ("v", VarianceThreshold(0.5))]), NUMERIC)]
    ),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_origins_say_which_outputs_an_input_moves(name, table):
    encoder = ENCODERS[name]().set_output(transform="default").fit(table)
    origins = column_origins(encoder, 4)
    before = dense(encoder.transform(table))
    assert len(origins) == before.shape[1]
    for position, column in enumerate(table.columns):
        other = table.copy()
        other[column] = table[column].sample(frac=1, random_state=1).to_numpy()
        moved = (np.nan_to_num(dense(encoder.transform(other)), nan=-9) != np.nan_to_num(before, nan=-9)).any(axis=0)
        assert set(np.flatnonzero(moved)) <= set(np.flatnonzero(origins == position))


def dense(matrix):
    return np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix, dtype=float)


def test_target_encoder_repeats_per_class(table):
    y = np.array(["p", "q", "r", "p"] * 10)
    encoder = TargetEncoder(random_state=0).fit(table[NOMINAL], y)
    assert column_origins(encoder, 2).tolist() == [0, 0, 0, 1, 1, 1]


def test_imputer_forgets_an_empty_column():
    encoder = SimpleImputer().fit(pd.DataFrame({"a": [1.0, 2.0], "empty": [np.nan, np.nan], "c": [1.0, 3.0]}))
    assert column_origins(encoder, 3).tolist() == [0, 2]


@pytest.mark.parametrize("mixing", [PCA(2, random_state=0), KNNImputer(), FunctionTransformer(np.cumsum)])
def test_an_output_of_several_inputs_has_no_origin(mixing, table):
    numbers = table[NUMERIC].fillna(0)
    encoder = ColumnTransformer([("m", mixing, NUMERIC)]).fit(numbers)
    assert column_origins(encoder, 2) is None
    with pytest.raises(ValueError, match="declare feature_groups explicitly"):
        feature_groups_from_encoder(encoder)


def test_groups_carry_the_users_names(table):
    groups = feature_groups_from_encoder(ENCODERS["plain"]().fit(table))
    assert list(groups) == ["a", "kind", "b", "flag"]
    assert groups["flag"] == ["o__flag_n", "o__flag_y"]
    assert groups["b"] == ["n__b"]


def test_a_model_is_split_at_its_last_step(table):
    X, y = table[["a"]], np.arange(40.0)
    assert split_model(LinearRegression())[0] is None
    encoder, estimator = split_model(make_pipeline(StandardScaler(), LinearRegression()).fit(X, y))
    assert isinstance(estimator, LinearRegression)
    assert encoder.transform(X).shape == (40, 1)
    assert split_model(Pipeline([("p", "passthrough"), ("m", LinearRegression())]).fit(X, y))[0] is None
