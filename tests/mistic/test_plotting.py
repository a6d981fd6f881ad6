"""Figures show what the results hold, with few features and with many."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from explicate.mistic.attribution import integrated_gradients
from explicate.mistic.counterfactuals import boundary_counterfactuals

#: libsvm's seed is drawn from the global generator unless a state is given.
svc = partial(SVC, random_state=0)


@pytest.fixture(scope="module", params=[5, 60])
def results(request):
    X, y = make_classification(60, request.param, n_informative=4, n_redundant=0, random_state=0)
    svm = svc().fit(X, y)
    return integrated_gradients(svm, X, reference=X.mean(axis=0)), boundary_counterfactuals(svm, X[:15]), y


def drawn(figure):
    figure.canvas.draw()
    return figure.axes


def test_summary_orders_features_by_importance(results):
    result, _, _ = results
    ax = drawn(result.plot(max_features=4))[0]
    order = np.argsort(-result.importance, kind="stable")[:4]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [str(i) for i in order]
    for points, feature in zip(ax.collections, order, strict=True):
        np.testing.assert_array_equal(points.get_offsets()[:, 0], result.values[:, feature])
    assert ax.get_title(loc="right") == f"{len(result.names) - 4} features not shown"


@pytest.mark.parametrize("labelled", [True, False])
def test_heatmap_aligns_rows_and_target(results, labelled):
    result, _, y = results
    strip, heat = drawn(result.plot("heatmap", target=y if labelled else None, max_features=30))[:2]
    shown = heat.images[0].get_array()
    order = np.argsort(-result.importance, kind="stable")[:30]
    rows = [int(np.flatnonzero((result.values[:, order] == column).all(axis=1))[0]) for column in shown.T]
    assert sorted(rows) == list(range(60))
    np.testing.assert_array_equal(strip.images[0].get_array()[0], (y if labelled else result.outputs)[rows])


def test_dependence_shows_a_feature_and_what_shapes_it(results):
    result, _, _ = results
    ax = drawn(result.plot("dependence", feature=1))[0]
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), np.c_[result.rows[:, 1], result.values[:, 1]])
    with pytest.raises(ValueError, match="color_by='q' is no feature"):
        result.plot("dependence", color_by="q")


def test_counterfactual_figures(results):
    _, result, _ = results
    drawn(result.plot())
    ax = drawn(result.plot(0))[0]
    widths = np.array([bar.get_width() for bar in ax.patches])
    np.testing.assert_allclose(widths, result.scaled_changes[0][np.argsort(-np.abs(result.scaled_changes[0]))][:20])
    assert (np.diff(np.abs(widths)) <= 1e-12).all()
