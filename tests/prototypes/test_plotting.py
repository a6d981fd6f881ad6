from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from explicate.prototypes import alike_parts
from explicate.prototypes.plotting import plot_ablation, plot_frequency, plot_grid, plot_prototypes


@pytest.mark.parametrize("d", [5, 60])
def test_prototypes_figure_shows_the_most_important_features(d):
    importance = np.random.default_rng(0).dirichlet(np.ones(d), size=4)
    features = [f"feature {k}" for k in range(d)]
    figure = plot_prototypes({"raw": (importance, list("abcd"))}, features, max_features=10)
    (ax,) = figure.axes
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert len(shown) == min(d, 10)
    assert features[importance.max(axis=0).argmax()] in shown
    figure.draw_without_rendering()


def test_a_long_list_of_prototypes_is_cut_and_counted():
    importance = np.random.default_rng(0).dirichlet(np.ones(3), size=90)
    (ax,) = plot_prototypes({"raw": (importance, [f"a · {k}" for k in range(90)])}, list("pqr")).axes
    assert len(ax.get_xticklabels()) == 40
    assert ax.get_title(loc="left") == "raw: 90 prototypes, the first 40 drawn"


def test_frequency_figure_holds_the_numbers_of_the_table():
    parts = alike_parts([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]], features=["p", "q"])
    (ax,) = parts.plot().axes
    drawn = ax.collections[-1].get_offsets()
    assert drawn.tolist() == [[50.0, 0.0], [0.0, 1.0]]


def test_frequency_figure_tells_two_sets_apart():
    one = pd.Series({"p": 0.2, "q": 0.8})
    figure = plot_frequency({"raw": one, "informed": 1 - one})
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["raw", "informed"]


def test_grid_and_ablation():
    trials = pd.DataFrame({"beta": [0, 0, 1, 1], "alpha": [0.1, 0.2] * 2, "validation_accuracy": [0.5, 0.6, 0.7, 0.8]})
    ax = plot_grid(trials, "alpha").axes[0]
    assert [text.get_text() for text in ax.texts] == [".500", ".600", ".700", ".800"]
    table = pd.DataFrame({"beta": [0, 1, 1], "alike_importance": [0.2, 0.4, 0.6], "alike_length": [3, 2, 2]})
    left, right = plot_ablation(table).axes
    assert left.lines[0].get_ydata().tolist() == [0.2, 0.5]
    assert right.lines[0].get_ydata().tolist() == [3, 2]
