"""Degradation curves: one explanation, a grid of them, ranks over instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explicate.core.plotting import INK, PALETTE, QUIET, new_figure, short_labels, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from explicate.sofi.explanation import SOFIExplanation

#: Colours of the session; `set_curve_colors` changes them.
CURVE_COLORS = {"morf": "#03719c", "lerf": "#1A1A1A"}


def set_plot_style(font_scale: float = 1.2, style: str = "whitegrid", context: str = "notebook") -> None:
    """
    Fix the fonts of the session; figures never override them.

    Parameters
    ----------
    font_scale : float, default 1.2
        Factor of matplotlib's 10 points.
    style, context : str
        Passed to ``seaborn.set_theme`` when seaborn is installed; ignored otherwise.
    """
    import importlib.util

    import matplotlib

    from explicate.core.validation import check_number

    check_number("font_scale", font_scale, low=0, low_included=False)
    if importlib.util.find_spec("seaborn") is not None:
        import seaborn

        seaborn.set_theme(style=style, context=context, font_scale=font_scale)
    else:
        matplotlib.rcParams["font.size"] = 10.0 * font_scale


def set_curve_colors(morf: Any = None, lerf: Any = None) -> None:
    """
    Fix the colours of the session; an argument left out keeps the colour in force.

    Parameters
    ----------
    morf, lerf : colour, optional
        Anything matplotlib accepts.

    Raises
    ------
    ValueError
        For what matplotlib does not accept.
    """
    from matplotlib.colors import is_color_like

    for name, color in (("morf", morf), ("lerf", lerf)):
        if color is not None:
            if not is_color_like(color):
                raise ValueError(f"{name}={color!r} is no colour matplotlib knows; give a name or '#rrggbb'.")
            CURVE_COLORS[name] = color


def plot_explanation(
    explanation: SOFIExplanation,
    ax: Axes | None = None,
    title: str | None = None,
    annotate_ds: bool = True,
    legend: bool = True,
    figsize: tuple[float, float] = (6.6, 4.2),
    morf_color: Any = None,
    lerf_color: Any = None,
) -> Axes:
    """
    Draw both reported curves and shade the area between them, which is the degradation score.

    Parameters
    ----------
    explanation : SOFIExplanation
    ax : Axes, optional
        Where to draw; a figure of its own by default.
    title : str, optional
        Default: the mode of the run.
    annotate_ds, legend : bool, default True
        Whether the score is written inside, and the curves named underneath.
    figsize : (float, float), default (6.6, 4.2)
        Inches of a figure of its own.
    morf_color, lerf_color : colour, optional
        For this figure alone.

    Returns
    -------
    Axes
    """
    alone = ax is None
    if ax is None:
        _, ax = new_figure(*figsize)
    steps = np.arange(len(explanation.order) + 1)
    morf, lerf = explanation.morf_scores, explanation.lerf_scores
    colors = {"morf": morf_color or CURVE_COLORS["morf"], "lerf": lerf_color or CURVE_COLORS["lerf"]}
    ax.fill_between(steps, morf, lerf, color=colors["morf"], alpha=0.13, linewidth=0)
    ax.plot(steps, morf, color=colors["morf"], linewidth=2, label="MoRF", marker="o", markersize=4)
    ax.plot(steps, lerf, color=colors["lerf"], linewidth=2, label="LeRF", marker="s", markersize=3.5)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlim(0, steps[-1])
    _feature_ticks(ax, explanation)
    ax.set_ylabel("Prediction fidelity")
    ax.set_title(title if title is not None else f"{explanation.mode} explanation", loc="left")
    if annotate_ds:
        _write_score(ax, explanation, lerf, morf)
    if legend:
        handles, names = ax.get_legend_handles_labels()
        if alone:
            ax.figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
        else:
            ax.legend(handles, names, loc="upper center", bbox_to_anchor=(0.5, -0.35), ncols=2, frameon=False)
    return tidy(ax, grid="y")


def _write_score(ax: Axes, explanation: SOFIExplanation, lerf: np.ndarray, morf: np.ndarray) -> None:
    """Write the score into the area it measures, where that is widest, under the curves."""
    proved = "\nproved optimal" if explanation.is_optimal else ""
    at = int(np.argmax(lerf - morf))
    side = "left" if at < len(morf) / 5 else "right" if at > len(morf) * 4 / 5 else "center"
    height = (lerf[at] + morf[at]) / 2
    ax.text(at, height, f"DS = {explanation.ds:.3f}{proved}", color=INK, ha=side, va="center", zorder=1.5)


def _feature_ticks(ax: Axes, explanation: SOFIExplanation) -> None:
    """Name the feature marginalised at each step; every few steps when there are many."""
    n = len(explanation.order)
    stride = max(1, -(-n // 24))
    shown = np.arange(0, n, stride)
    labels = short_labels((explanation.ranking[i] for i in shown), width=18)
    ax.set_xticks(
        shown + 1, labels, rotation=45 if n > 3 else 0, ha="right" if n > 3 else "center", rotation_mode="anchor"
    )
    ax.set_xlabel(
        "features marginalised, most relevant first (MoRF)" + (f"; one in {stride} named" if stride > 1 else "")
    )


def plot_explanation_grid(
    picks: Any,
    title: str | None = None,
    ncols: int = 2,
    figsize: tuple[float, float] | None = None,
    panel_size: tuple[float, float] = (6.3, 3.9),
    **keywords: Any,
) -> Figure:
    """
    Draw several explanations side by side.

    Parameters
    ----------
    picks : sequence of SOFIExplanation, or mapping of titles to them
    title : str, optional
        Of the whole figure.
    ncols : int, default 2
    figsize : (float, float), optional
        Inches of the figure; default: panels times `panel_size`.
    panel_size : (float, float), default (6.3, 3.9)
        Inches of a panel.
    **keywords
        Passed to `plot_explanation` (colours, ``annotate_ds``).

    Returns
    -------
    matplotlib.figure.Figure
    """
    named = list(picks.items()) if hasattr(picks, "items") else [(None, one) for one in picks]
    if not named:
        raise ValueError("picks is empty; give at least one explanation.")
    columns = min(ncols, len(named))
    rows = -(-len(named) // columns)
    width, height = figsize or (columns * panel_size[0], rows * panel_size[1])
    figure, axes = new_figure(width, height, rows, columns, squeeze=False)
    for ax, (name, one) in zip(axes.flat, named, strict=False):
        default = f"instance {one.instance_index}" if one.mode == "local" else None
        plot_explanation(one, ax=ax, title=name if name is not None else default, legend=False, **keywords)
    for ax in list(axes.flat)[len(named) :]:
        ax.set_axis_off()
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    if title:
        figure.suptitle(title)
    return figure


def plot_ranks(ranks: pd.DataFrame, max_features: int = 25) -> Figure:
    """
    Draw the mean rank of each feature over local explanations, with its spread.

    Parameters
    ----------
    ranks : DataFrame
        From `aggregate_explanations`.
    max_features : int, default 25
        Features drawn at most.

    Returns
    -------
    matplotlib.figure.Figure
    """
    shown: Any = ranks.head(max_features)
    figure, ax = new_figure(6.6, 1.2 + 0.28 * len(shown))
    rows = np.arange(len(shown))
    ax.hlines(
        rows,
        np.maximum(shown["mean_rank"] - shown["std_rank"], 1.0),
        shown["mean_rank"] + shown["std_rank"],
        color=QUIET,
        linewidth=1.5,
    )
    ax.scatter(shown["mean_rank"], rows, color=PALETTE[0], s=30, zorder=3)
    ax.set_yticks(rows, short_labels(shown["feature"]))
    ax.invert_yaxis()
    ax.set_xlabel("mean rank ± sd over instances (1 = first)")
    left = len(ranks) - len(shown)
    ax.set_title(f"{left} features not shown" if left else "", loc="right", fontsize="medium")
    tidy(ax)
    return figure
