"""Figures of the comparison: degradation curves, ranks and agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from explicate.core.plotting import PALETTE, QUIET, SEQUENTIAL, new_figure, note_figure, short_labels, tidy, write_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from explicate.comparison.scores import ScoredRankings


def plot_curves(result: ScoredRankings) -> Figure:
    """Draw the MoRF and LeRF curve of each method in small multiples on one scale; best first."""
    methods = result.scores["method"].tolist()
    if not methods:
        return note_figure("No ranking to compare.")
    columns = min(4, len(methods))
    rows = -(-len(methods) // columns)
    figure, axes = new_figure(
        2.6 * columns + 0.6, 2.3 * rows + 0.5, rows, columns, squeeze=False, sharex=True, sharey=True
    )
    labels = short_labels(methods, 28)
    for k, ax in enumerate(axes.flat):
        if k >= len(methods):
            ax.set_axis_off()
            axes.flat[k - columns].tick_params(labelbottom=True)  # nothing stands below to show the steps
            continue
        part = result.curves[result.curves["method"] == methods[k]]
        tidy(ax, grid="y")
        ax.plot(part["step"], part["morf"], color=PALETTE[1], label="most relevant first")
        ax.plot(part["step"], part["lerf"], color=PALETTE[0], label="least relevant first")
        ax.fill_between(part["step"], part["morf"], part["lerf"], color=QUIET, alpha=0.12, linewidth=0)
        ax.set_title(f"{labels[k]}\nDS {result.scores['ds'].iloc[k]:.3f}", fontsize=9)
    figure.supxlabel("features marginalised", fontsize=9)
    figure.supylabel("response (scaled)", fontsize=9)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False, fontsize=9
    )
    return figure


def plot_ranks(result: ScoredRankings, max_features: int = 20) -> Figure:
    """Draw the rank of each feature under each method; features by mean rank, at most `max_features`."""
    methods = result.scores["method"].tolist()
    if not methods:
        return note_figure("No ranking to compare.")
    features = result.rankings[methods[0]]
    place = np.array([[result.rankings[m].index(f) + 1 for m in methods] for f in features])
    kept = np.argsort(place.mean(axis=1), kind="stable")[:max_features]
    shown = place[kept]
    figure, ax = new_figure(2.6 + 0.75 * len(methods), 1.8 + 0.3 * len(kept))
    image = ax.imshow(shown, cmap=SEQUENTIAL + "_r", vmin=1, vmax=len(features), aspect="auto")
    write_cells(image, shown)
    ax.set_xticks(range(len(methods)), short_labels(methods), rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(kept)), short_labels([features[k] for k in kept]))
    ax.set_title("Rank of each feature (1: most important)", fontsize=10)
    return figure


def plot_agreement(table: pd.DataFrame) -> Figure:
    """Draw Kendall's tau of every pair as a matrix."""
    if table.empty:
        return note_figure("Fewer than two rankings: nothing to compare.")
    methods = list(dict.fromkeys([*table["method"], *table["other"]]))
    values = np.eye(len(methods))
    for one, two, tau in zip(table["method"], table["other"], table["kendall_tau"], strict=True):
        i, j = methods.index(one), methods.index(two)
        values[i, j] = values[j, i] = tau
    size = 2.4 + 0.6 * len(methods)
    figure, ax = new_figure(size, size)
    image = ax.imshow(values, cmap="RdBu", vmin=-1, vmax=1)
    write_cells(image, [[f"{tau:.2f}" for tau in row] for row in values])
    labels = short_labels(methods)
    ax.set_xticks(range(len(methods)), labels, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(methods)), labels)
    ax.set_title("Kendall's tau of the rankings", fontsize=10)
    return figure
