"""Pictures of the report, drawn from stored tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from explicate.core.plotting import GRID, INK, PALETTE, QUIET, new_figure, short_labels, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 4.8


def plot_bars(
    table: pd.DataFrame, label: str, value: str, axis: str, most: int = 15, *, marked: Any = (), mark: str = ""
) -> Figure:
    """
    Draw rows as horizontal bars.

    Parameters
    ----------
    table : DataFrame
    label, value : str
        Columns: what stands beside the bar, and its length.
    axis : str
        Title of the axis, units included.
    most : int, default 15
        Rows drawn, from the top of the table.
    marked : container, default ()
        Labels whose bars are drawn in the second colour.
    mark : str, default ""
        What the second colour means.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.patches import Patch

    part = table.head(most).iloc[::-1]
    second = [name in marked for name in part[label]]
    figure, ax = new_figure(WIDTH, 0.9 + 0.28 * len(part))
    tidy(ax)
    ax.barh(range(len(part)), part[value], color=[PALETTE[1] if one else PALETTE[0] for one in second])
    ax.set_yticks(range(len(part)), short_labels(part[label]))
    ax.set_xlabel(short_labels([axis], 52)[0])
    if (part[value] < 0).any():
        ax.axvline(0, color=QUIET, linewidth=0.8)
    if any(second) and mark:
        ax.legend(handles=[Patch(color=PALETTE[1], label=mark)], loc="lower right", fontsize=8.5, frameon=False)
    return figure


def plot_degradation(curves: pd.DataFrame) -> Figure:
    """
    Draw the response while features are marginalised, the most and the least relevant first.

    Parameters
    ----------
    curves : DataFrame
        ``marginalised`` (number of features), ``morf``, ``lerf`` (scaled response).

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, ax = new_figure(WIDTH, 3.3)
    tidy(ax, grid="y")
    steps, morf, lerf = curves["marginalised"], curves["morf"], curves["lerf"]
    ax.fill_between(steps, morf, lerf, color=GRID)
    ax.plot(steps, morf, color=PALETTE[1], marker="o", markersize=3)
    ax.plot(steps, lerf, color=PALETTE[0], marker="s", markersize=3)
    for part, text, color, low in (
        (lerf, "least relevant first", PALETTE[0], False),
        (morf, "most relevant first", PALETTE[1], True),
    ):
        k = len(steps) // 2
        ax.annotate(
            text,
            (steps.iloc[k], part.iloc[k]),
            xytext=(0, -6 if low else 6),
            textcoords="offset points",
            ha="right" if low else "left",
            va="top" if low else "bottom",
            color=color,
            fontsize=8.5,
        )
    ax.margins(y=0.12)
    ax.set_xlabel("features marginalised")
    ax.set_ylabel("response (scaled)")
    return figure


def plot_scores(scores: pd.DataFrame, most: int = 15) -> Figure:
    """
    Draw the degradation score of each ranking over the band of random rankings.

    Parameters
    ----------
    scores : DataFrame
        ``method``, ``ds``, ``ds_low``, ``ds_high``; the row ``random`` is the band.
    most : int, default 15
        Rankings drawn.

    Returns
    -------
    matplotlib.figure.Figure
    """
    part = scores[scores["method"] != "random"].head(most).iloc[::-1]
    floor = scores[scores["method"] == "random"]
    figure, ax = new_figure(WIDTH, 1.1 + 0.28 * len(part))
    tidy(ax)
    if len(floor) and floor["ds"].notna().all():
        one = floor.iloc[0]
        ax.axvspan(one["ds_low"], one["ds_high"], color=GRID, linewidth=0)
        ax.axvline(one["ds"], color=QUIET, linewidth=1, linestyle=":")
        ax.set_title("grey: 95 % of random rankings; dotted: their mean", fontsize=8.5, color=QUIET, loc="left")
    ax.plot(part["ds"], range(len(part)), "o", color=PALETTE[0], markersize=6)
    for k, ds in enumerate(part["ds"]):
        ax.annotate(
            f"{ds:.3f}", (ds, k), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8.5, color=INK
        )
    ax.set_yticks(range(len(part)), short_labels(part["method"]))
    ax.set_ylim(-0.7, len(part) - 0.3)
    ax.margins(x=0.15)
    ax.set_xlabel("degradation score")
    return figure
