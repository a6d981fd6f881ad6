"""Figures of attributions and counterfactuals, readable with five features and with sixty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from explicate.core.plotting import DIVERGING, INK, PALETTE, QUIET, SEQUENTIAL, colors, new_figure, short_labels, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from explicate.mistic.attribution import IntegratedGradients
    from explicate.mistic.counterfactuals import BoundaryCounterfactuals


def plot_summary(result: IntegratedGradients, max_features: int = 20) -> Figure:
    """
    Draw one point per row and feature: attribution across, color the feature's value from its low to its high.

    Features stand in order of mean absolute attribution; what is left out is said in the title.

    Parameters
    ----------
    result : IntegratedGradients
    max_features : int, default 20
        Features drawn at most.

    Returns
    -------
    matplotlib.figure.Figure
    """
    order = np.argsort(-result.importance, kind="stable")[:max_features]
    figure, ax = new_figure(7.2, 1.6 + 0.32 * len(order))
    ax.axvline(0, color=QUIET, linewidth=0.8)
    dots = None
    for place, feature in enumerate(order):
        values, data = result.values[:, feature], result.rows[:, feature]
        shade = np.argsort(np.argsort(data, kind="stable")) / max(len(data) - 1, 1)
        dots = ax.scatter(
            values, place + _swarm(values), c=shade, cmap=SEQUENTIAL, vmin=0, vmax=1, s=11, linewidths=0, zorder=2
        )
    ax.set_yticks(range(len(order)), short_labels(result.names[i] for i in order))
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlabel(f"attribution (units of the {result.output})")
    if dots is not None:
        bar = figure.colorbar(dots, ax=ax, ticks=[0, 1], aspect=30, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        bar.set_label("value of the feature (rank)")
        bar.outline.set_visible(False)
    _left_out(ax, len(result.names) - len(order))
    tidy(ax)
    return figure


def plot_heatmap(result: IntegratedGradients, target: Any = None, max_features: int = 30) -> Figure:
    """
    Draw attributions as a map of rows and features, rows ordered by hierarchical clustering, with a strip of targets.

    Parameters
    ----------
    result : IntegratedGradients
    target : array-like of shape (n_rows,), optional
        Labels (up to eight, one color each) or numbers; default the model's output.
    max_features : int, default 30
        Features drawn at most, by mean absolute attribution.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.lines import Line2D
    from scipy.cluster.hierarchy import leaves_list, linkage

    order = np.argsort(-result.importance, kind="stable")[:max_features]
    shown = result.values[:, order]
    rows = leaves_list(linkage(shown, method="average")) if len(shown) > 2 else np.arange(len(shown))
    strip = result.outputs if target is None else np.asarray(target)
    figure, (top, heat) = new_figure(
        8.2, 2.4 + 0.24 * len(order), 2, 1, sharex=True, height_ratios=[0.3, max(0.24 * len(order), 0.8)]
    )
    limit = max(float(np.quantile(np.abs(shown), 0.99)), 1e-12)
    image = heat.imshow(shown[rows].T, cmap=DIVERGING, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    heat.set_yticks(range(len(order)), short_labels(result.names[i] for i in order))
    heat.set_xlabel(f"{len(rows)} rows, alike ones side by side")
    heat.set_xticks([])
    labels = np.unique(strip)
    if strip.dtype.kind == "f" or len(labels) > len(PALETTE):
        top.imshow(strip[rows][None], cmap=SEQUENTIAL, aspect="auto", interpolation="nearest")
        note = result.output if target is None else "target"
        top.set_title(f"{note}: {np.min(strip):.3g} (dark) to {np.max(strip):.3g} (light)", loc="left", fontsize=9)
    else:
        from matplotlib.colors import ListedColormap

        codes = np.searchsorted(labels, strip[rows])
        shades = list(colors(len(labels)))
        top.imshow(codes[None], cmap=ListedColormap(shades), vmin=-0.5, vmax=len(labels) - 0.5, aspect="auto",
                   interpolation="nearest")  # fmt: skip
        marks = [Line2D([], [], marker="s", linestyle="", color=shade) for shade in shades]
        top.legend(marks, short_labels(labels), ncols=4, loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    top.set_yticks([0], ["target" if target is not None else "output"])
    bar = figure.colorbar(image, ax=heat, aspect=30, pad=0.02)
    bar.set_label(f"attribution (units of the {result.output})")
    bar.outline.set_visible(False)
    for ax in (top, heat):
        tidy(ax, grid=None).tick_params(length=0)
    if len(result.names) > len(order):
        heat.set_title(f"{len(result.names) - len(order)} features not shown", loc="right", fontsize=9)
    return figure


def plot_dependence(result: IntegratedGradients, feature: object = None, color_by: object = None) -> Figure:
    """
    Draw a feature's attribution against its value, colored by the feature that shapes it most.

    Parameters
    ----------
    result : IntegratedGradients
    feature : name, optional
        Default: the feature of greatest importance.
    color_by : name, optional
        Default: the greatest interaction score.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When a name is not among the features.
    """
    i = int(np.argmax(result.importance)) if feature is None else _position(result.names, "feature", feature)
    scores = result.interaction_scores[i]
    j = int(np.argmax(scores)) if color_by is None else _position(result.names, "color_by", color_by)
    first, second = short_labels([result.names[i], result.names[j]])
    figure, ax = new_figure(5.8, 4.0)
    dots = ax.scatter(result.rows[:, i], result.values[:, i], c=result.rows[:, j], cmap=SEQUENTIAL, s=18, linewidths=0)
    ax.axhline(0, color=QUIET, linewidth=0.8)
    ax.set_xlabel(first)
    ax.set_ylabel(f"attribution (units of the {result.output})")
    bar = figure.colorbar(dots, ax=ax, aspect=30, pad=0.02)
    bar.set_label(f"{second} (interaction score {scores[j]:.2f})")
    bar.outline.set_visible(False)
    tidy(ax, grid="both")
    return figure


def plot_counterfactuals(result: BoundaryCounterfactuals, max_features: int = 20) -> Figure:
    """
    Draw the spread of every feature's change to the boundary, over the rows that reached it.

    Parameters
    ----------
    result : BoundaryCounterfactuals
    max_features : int, default 20
        Features drawn at most, by mean absolute change.

    Returns
    -------
    matplotlib.figure.Figure
    """
    changes = result.scaled_changes[result.success]
    size = np.abs(changes).mean(axis=0) if len(changes) else np.zeros(len(result.names))
    order = np.argsort(-size, kind="stable")[:max_features]
    figure, ax = new_figure(7.2, 1.6 + 0.32 * len(order))
    ax.axvline(0, color=QUIET, linewidth=0.8)
    for place, feature in enumerate(order):
        values = changes[:, feature]
        ax.scatter(values, place + _swarm(values), s=11, color=PALETTE[0], linewidths=0, alpha=0.6, zorder=2)
        if len(values):
            ax.plot([np.median(values)] * 2, [place - 0.36, place + 0.36], color=PALETTE[1], linewidth=2, zorder=3)
    ax.set_yticks(range(len(order)), short_labels(result.names[i] for i in order))
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlabel("change to the boundary (inputs of the SVM); the bar is the median")
    ax.set_title(f"{int(result.success.sum())} of {len(result.rows)} rows reached it", loc="left", fontsize=9)
    _left_out(ax, len(result.names) - len(order))
    tidy(ax)
    return figure


def plot_counterfactual(result: BoundaryCounterfactuals, row: int = 0, max_features: int = 20) -> Figure:
    """
    Draw one row's changes to the boundary as bars, each labelled with the feature's value before and after.

    Parameters
    ----------
    result : BoundaryCounterfactuals
    row : int, default 0
        Position of the row.
    max_features : int, default 20
        Features drawn at most, by absolute change.

    Returns
    -------
    matplotlib.figure.Figure
    """
    changes = result.scaled_changes[row]
    order = np.argsort(-np.abs(changes), kind="stable")[:max_features]
    figure, ax = new_figure(7.2, 1.6 + 0.3 * len(order))
    places = np.arange(len(order))
    ax.barh(places, changes[order], color=[PALETTE[1] if c > 0 else PALETTE[0] for c in changes[order]], height=0.7)
    ax.axvline(0, color=QUIET, linewidth=0.8)
    for place, feature in zip(places, order, strict=True):
        text = f"{result.rows[row, feature]:.3g} → {result.values[row, feature]:.3g}"
        right = changes[feature] >= 0
        ax.annotate(text, (changes[feature], place), xytext=(4 if right else -4, 0), textcoords="offset points",
                    ha="left" if right else "right", va="center", fontsize=8, color=INK)  # fmt: skip
    ax.set_yticks(places, short_labels(result.names[i] for i in order))
    ax.set_ylim(len(order) - 0.4, -0.6)
    room = 0.4 * max(float(np.abs(changes).max()), 1e-12)  # for the labels beyond the bars
    ax.set_xlim(min(changes.min(), 0.0) - room, max(changes.max(), 0.0) + room)
    ax.set_xlabel("change to the boundary (inputs of the SVM)")
    before, after = result.classes[row]
    name = short_labels([result.index[row]])[0]
    way = f": {before} to the boundary with {after}" if str(after) else ""
    ax.set_title(f"row {name}{way}, distance {result.distances[row]:.3g}"
                 + ("" if result.success[row] else " (not reached)"), loc="left", fontsize=9)  # fmt: skip
    _left_out(ax, len(result.names) - len(order))
    tidy(ax)
    return figure


def _left_out(ax: Any, count: int) -> None:
    if count:
        ax.set_title(f"{count} features not shown", loc="right", fontsize=9)


def _position(names: tuple[object, ...], parameter: str, name: object) -> int:
    if name not in names:
        raise ValueError(f"{parameter}={name!r} is no feature; use one of the result's names.")
    return names.index(name)


def _swarm(values: np.ndarray) -> np.ndarray:
    """Spread points that fall in one bin evenly about the line, densest bins widest; no randomness."""
    if len(values) < 2 or np.ptp(values) == 0:
        return np.linspace(-0.3, 0.3, len(values)) if len(values) > 1 else np.zeros(len(values))
    bins = np.minimum((60 * (values - values.min()) / np.ptp(values)).astype(int), 59)
    counts = np.bincount(bins)
    offsets = np.zeros(len(values))
    for b in np.flatnonzero(counts > 1):
        mine = np.flatnonzero(bins == b)
        half = 0.36 * counts[b] / counts.max()
        offsets[mine] = np.linspace(-half, half, len(mine))
    return offsets


def plot_performance(performance: Any, n_features: int, knee: int | None = None) -> Figure:
    """
    Draw the mean score over the splits for every number of features, its spread, the knee and what was selected.

    Parameters
    ----------
    performance : DataFrame
        Columns ``n_features``, ``score``, ``score_sd``, as `MisticSelector.performance_` has them.
    n_features : int
        Number selected.
    knee : int, optional
        Number at the knee.

    Returns
    -------
    matplotlib.figure.Figure
    """
    counts, scores = performance["n_features"].to_numpy(), performance["score"].to_numpy()
    spread = performance["score_sd"].to_numpy()
    figure, ax = new_figure(6.6, 3.8)
    ax.fill_between(counts, scores - spread, scores + spread, color=PALETTE[0], alpha=0.18, linewidth=0)
    ax.plot(counts, scores, color=PALETTE[0], marker="o", markersize=3)
    at = int(np.abs(counts - n_features).argmin())
    ax.axvline(counts[at], color=PALETTE[1], linewidth=1)
    what = "knee" if knee == n_features else "selected"
    left = counts[at] < (counts.min() + counts.max()) / 2 or len(counts) < 3
    ax.annotate(
        f"{what}: {n_features}, score {scores[at]:.3f}",
        (counts[at], 0.04),
        xycoords=("data", "axes fraction"),
        xytext=(5 if left else -5, 0),
        textcoords="offset points",
        ha="left" if left else "right",
        color=PALETTE[1],
    )
    if counts.max() > 100:
        ax.set_xscale("log")
    else:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("features")
    ax.set_ylabel("score on validation rows")
    ax.set_title("mean over splits; the band is one standard deviation", loc="left", fontsize=9)
    tidy(ax, grid="y")
    return figure
