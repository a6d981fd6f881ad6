"""Per-class importance in one picture: a heat map of classes and features, and the overall importance beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from explicate.core.plotting import PALETTE, QUIET, SEQUENTIAL, new_figure, short_labels, tidy, write_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from explicate.pcfi.result import PerClassImportance

#: A class below half its fair share of rows is marked as rare.
RARE = 0.5


def plot_importance(result: PerClassImportance, max_features: int = 20) -> Figure:
    """
    Draw importance by class and feature as a heat map, with the overall importance as bars beside it.

    Features stand in the order of their greatest importance to any class; what is left out is said in the title.
    Each class is labelled with its share of rows, and marked when it is rare.

    Parameters
    ----------
    result : PerClassImportance
    max_features : int, default 20
        Features drawn at most.

    Returns
    -------
    matplotlib.figure.Figure
    """
    order = np.argsort(-result.values.max(axis=0), kind="stable")[:max_features]
    values = result.values[:, order]
    n_classes, n_features = values.shape
    columns = 0.62 * n_classes + 0.6
    figure, (bars, heat) = new_figure(
        4.6 + columns, 1.6 + 0.3 * n_features, 1, 2, sharey=True, width_ratios=[1.5, max(columns, 1.2)]
    )
    labels = short_labels(result.features[i] for i in order)
    rows = np.arange(n_features)
    bars.barh(rows, result.overall[order], color=QUIET, height=0.7)
    bars.set_yticks(rows, labels)
    bars.invert_yaxis()
    bars.set_xlabel("overall importance")
    tidy(bars)
    top = max(values.max(), 1e-12)
    image = heat.imshow(values.T, cmap=SEQUENTIAL, vmin=0, vmax=top, aspect="auto")
    write_cells(image, [[f"{value:.2f}".lstrip("0") or "0" for value in row] for row in values.T])
    tidy(heat, grid=None).tick_params(length=0)
    longest = max(len(str(label)) for label in result.classes)
    slanted = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if longest > 8 and n_classes > 3 else {}
    heat.set_xticks(range(n_classes), _class_labels(result), **slanted)
    for tick, share in zip(heat.get_xticklabels(), result.support, strict=True):
        if share < RARE / n_classes:
            tick.set_color(PALETTE[1])
            tick.set_fontweight("bold")
    left_out = len(result.features) - n_features
    heat.set_title(
        f"importance to each class ({result.source} rows)"
        + (f"; {left_out} feature{'s'[: left_out > 1]} not shown" if left_out else ""),
        loc="right",
        fontsize="medium",
    )
    return figure


def _class_labels(result: PerClassImportance) -> list[str]:
    labels = short_labels(result.classes, width=14)
    rare = RARE / len(labels)
    return [
        label if np.isnan(share) else f"{label}\n{share:.0%}{' rare' if share < rare else ''}"
        for label, share in zip(labels, result.support, strict=True)
    ]
