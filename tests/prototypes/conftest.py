from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="session")
def forest(wine):
    return RandomForestClassifier(15, random_state=0).fit(*wine)


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def mixed():
    """Return a frame of every dtype, labels, and a pipeline that one-hot encodes it."""
    generator = np.random.default_rng(0)
    n = 80
    X = pd.DataFrame(
        {
            "number": generator.normal(size=n),
            "kind": pd.Categorical(generator.choice(["a", "b", "c"], n)),
            "count": pd.array(generator.integers(0, 5, n), dtype="Int64"),
            "flag": generator.random(n) < 0.5,
            "text": pd.Series(generator.choice(["x", "y"], n), dtype="str"),
        },
        index=[f"row {i}" for i in range(n)],
    )
    y = np.where((X["number"] > 0) & (X["kind"] != "a").to_numpy(), "yes", "no")
    encoder = ColumnTransformer(
        [("one", OneHotEncoder(sparse_output=False), ["kind", "text"])], remainder="passthrough"
    )
    return X, y, make_pipeline(encoder, RandomForestClassifier(15, random_state=0)).fit(X, y)
