"""Figures of prototypes: what matters to each, what is highlighted how often, and what β and k change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explicate.core.plotting import PALETTE, QUIET, SEQUENTIAL, new_figure, short_labels, tidy, write_cells
from explicate.prototypes.alike_parts import mask_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_prototypes(
    sets: Mapping[str, tuple[np.ndarray, Sequence[Any]]],
    features: Sequence[Any],
    *,
    max_features: int = 20,
    max_prototypes: int = 40,
) -> Figure:
    """
    Draw prototypes × features, one panel per set: circle area is importance, colour marks the important ones.

    Parameters
    ----------
    sets : mapping of str to (importance, labels)
        Title -> normalised importance of shape (n_prototypes, n_features), and one label per prototype.
    features : sequence
        Names.
    max_features : int, default 20
        Features drawn, the most important over all sets.
    max_prototypes : int, default 40
        Prototypes drawn per set, the first.

    Returns
    -------
    Figure
    """
    counts = {title: len(labels) for title, (_, labels) in sets.items()}
    sets = {title: (rows[:max_prototypes], labels[:max_prototypes]) for title, (rows, labels) in sets.items()}
    everything = np.concatenate([importance for importance, _ in sets.values()])
    shown = np.sort(np.argsort(-everything.max(axis=0), kind="stable")[:max_features])
    names = short_labels([features[k] for k in shown])
    widest = max(len(labels) for _, labels in sets.values())
    width = max(5.0, 2.4 + 0.3 * widest)
    height = len(sets) * (1.5 + 0.26 * len(shown))
    figure, axes = new_figure(width, height, len(sets), 1, squeeze=False)
    for ax, (title, (importance, labels)) in zip(axes[:, 0], sets.items(), strict=True):
        important = mask_weights(importance, "mean")[:, shown]
        x, y = np.meshgrid(np.arange(len(labels)), np.arange(len(shown)), indexing="ij")
        ax.scatter(
            x.ravel(),
            y.ravel(),
            s=1 + 170 * importance[:, shown].ravel(),
            c=np.where(important.ravel(), PALETTE[1], "#B8B8B8"),
            linewidths=0,
        )
        ax.set_yticks(np.arange(len(shown)), names)
        ax.set_xticks(np.arange(len(labels)), short_labels(labels, 16), rotation=90, fontsize=8)
        ax.set_xlim(-0.7, widest - 0.3)
        ax.set_ylim(len(shown) - 0.4, -0.6)
        cut = f", the first {len(labels)} drawn" if len(labels) < counts[title] else ""
        ax.set_title(f"{title}: {counts[title]} prototypes{cut}", loc="left", fontsize=10)
        tidy(ax, grid="both")
    axes[-1, 0].set_xlabel("class and row of the prototype")
    hidden = f"; {len(features) - len(shown)} features not shown" if len(shown) < len(features) else ""
    figure.suptitle(
        f"Importance by prototype (area: share; orange: above the prototype's mean{hidden})", fontsize=9, color=QUIET
    )
    return figure


def plot_frequency(frequencies: Mapping[str, pd.Series], *, max_features: int = 20) -> Figure:
    """
    Draw how often each feature is in an alike part, one mark per set.

    Parameters
    ----------
    frequencies : mapping of str to Series
        Name of the set -> share of pairs by feature.
    max_features : int, default 20
        Features drawn, the most frequent.

    Returns
    -------
    Figure
    """
    table = pd.DataFrame(dict(frequencies))
    order = np.argsort(-table.max(axis=1).to_numpy(), kind="stable")[:max_features]
    table = table.iloc[order]
    figure, ax = new_figure(6.6, 1.5 + 0.3 * len(table))
    y = np.arange(len(table))
    shown = table.to_numpy() * 100
    ax.hlines(y, shown.min(axis=1), shown.max(axis=1), color="#B8B8B8", linewidth=2, zorder=1)
    for k, name in enumerate(table.columns):
        ax.scatter(
            shown[:, k],
            y,
            s=max(90 - 50 * k, 16),
            color=PALETTE[k],
            marker="osD^v"[k % 5],
            label=str(name),
            zorder=2 + k,
        )
    ax.set_yticks(y, short_labels(table.index))
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.set_xlim(-3, 103)
    ax.set_xlabel("alike parts that hold the feature (%)")
    tidy(ax)
    if len(table.columns) > 1:
        figure.legend(loc="outside upper center", ncols=len(table.columns), frameon=False, fontsize=9)
    return figure


def plot_grid(
    trials: pd.DataFrame,
    parameter: str,
    *,
    beta: str = "beta",
    value: str = "validation_accuracy",
    title: str = "",
    ax: Any = None,
) -> Any:
    """
    Draw a heat map of `value` over `parameter` (x) and β (y); the bottom row, β = 0, is the raw objective.

    Parameters
    ----------
    trials : DataFrame
        One row per setting, such as ``Tuning.trials``; equal settings are averaged.
    parameter, beta, value : str
        Columns.
    title : str, default ""
    ax : Axes, optional
        Panel to draw into.

    Returns
    -------
    Figure, or Axes when `ax` is given
    """
    table = trials.pivot_table(index=beta, columns=parameter, values=value, aggfunc="mean").sort_index()
    figure = None
    if ax is None:
        figure, ax = new_figure(1.8 + 0.62 * table.shape[1], 1.5 + 0.42 * table.shape[0])
    numbers = table.to_numpy()
    image = ax.imshow(numbers, origin="lower", aspect="auto", cmap=SEQUENTIAL)
    write_cells(image, [[f"{number:.3f}".lstrip("0") for number in row] for row in numbers], fontsize=7)
    ax.set_xticks(range(table.shape[1]), [f"{label:g}" for label in table.columns])
    ax.set_yticks(range(table.shape[0]), [f"{label:g}" for label in table.index])
    ax.set_xlabel({"n_prototypes": "number of prototypes", "alpha": "α"}.get(parameter, parameter))
    ax.set_ylabel("β")
    ax.set_title(title, loc="left", fontsize=10)
    tidy(ax, grid=None)
    if figure is None:
        return ax
    figure.colorbar(image, ax=ax, label=value.replace("_", " "))
    return figure


def plot_ablation(table: pd.DataFrame, *, title: str = "", ax: Any = None) -> Any:
    """
    Draw importance within alike parts (left) and their length (right) over β.

    Parameters
    ----------
    table : DataFrame
        Columns ``beta``, ``alike_importance`` and ``alike_length``.
    title : str, default ""
    ax : Axes, optional
        Panel to draw into.

    Returns
    -------
    Figure, or Axes when `ax` is given
    """
    figure = None
    if ax is None:
        figure, ax = new_figure(5.2, 3.2)
    mean = table.groupby("beta")[["alike_importance", "alike_length"]].mean()
    ax.plot(mean.index, mean["alike_importance"], color=PALETTE[0], marker="o", markersize=4)
    ax.set_xlabel("β")
    ax.set_ylabel("importance in alike parts", color=PALETTE[0])
    ax.set_title(title, loc="left", fontsize=10)
    tidy(ax, grid="x")
    right = ax.twinx()
    right.plot(mean.index, mean["alike_length"], color=PALETTE[1], marker="s", markersize=4)
    right.set_ylabel("features per alike part", color=PALETTE[1])
    for side in ("top", "left"):
        right.spines[side].set_visible(False)
    return ax if figure is None else figure
