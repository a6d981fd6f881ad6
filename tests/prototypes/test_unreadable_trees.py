"""A tree model whose leaves cannot be read is explained by its features, and that is said."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier

from explicate.prototypes import GowerDistance, GreedyKMedoids


def test_auto_falls_back_to_features_and_says_why():
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X[:, :3], X[:, 0] > 13])
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[3], random_state=0).fit(X, y)
    selector = GreedyKMedoids(model, 2).fit(X)
    assert isinstance(selector.distance_, GowerDistance)
    assert any("sets of categories" in note for note in selector.notes_)
    with pytest.raises(ValueError, match="sets of categories"):
        GreedyKMedoids(model, 2, distance="tree").fit(X)
