"""How the model errs, in one picture."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explicate.core.plotting import PALETTE, QUIET, new_figure, short_labels, tidy, write_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_confusion(predictions: pd.DataFrame) -> "Figure":
    """
    Draw how many test rows of each class received each prediction; shade is the share of the true class.

    Parameters
    ----------
    predictions : DataFrame
        Columns ``truth`` and ``prediction``.
    """
    classes = sorted(set(predictions["truth"]) | set(predictions["prediction"]))
    counts = pd.crosstab(predictions["truth"], predictions["prediction"]).reindex(
        index=classes, columns=classes, fill_value=0
    )
    numbers = counts.to_numpy()
    share = numbers / np.maximum(numbers.sum(axis=1, keepdims=True), 1)
    size = 2.2 + 0.5 * len(classes)
    figure, ax = new_figure(size + 0.8, size)
    image = ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    write_cells(image, np.where(numbers, numbers.astype(str), ""), fontsize=10)
    labels = short_labels(classes, width=16)
    long = max(map(len, labels)) > 4
    ax.set_xticks(range(len(classes)), labels, rotation=40 if long else 0, ha="right" if long else "center")
    ax.set_yticks(range(len(classes)), labels)
    ax.set_xlabel("predicted class")
    ax.set_ylabel("true class")
    ax.set_title(f"{int(np.trace(numbers))} of {numbers.sum()} test rows right", loc="left", fontsize="medium")
    tidy(ax, grid=None)
    return figure


def plot_predicted_against_true(predictions: pd.DataFrame, target: Any) -> "Figure":
    """
    Draw each test row's estimate over its true value, with the line of no error.

    Parameters
    ----------
    predictions : DataFrame
        Columns ``truth`` and ``prediction``.
    target : str or int
        Name of the target, for the axes.
    """
    figure, ax = new_figure(4.8, 4.6)
    truth, estimate = predictions["truth"].to_numpy(), predictions["prediction"].to_numpy()
    low, high = min(truth.min(), estimate.min()), max(truth.max(), estimate.max())
    ax.plot([low, high], [low, high], color=QUIET, linewidth=1)
    ax.annotate("no error", (high, high), color=QUIET, ha="right", va="bottom", fontsize="small")
    ax.scatter(truth, estimate, s=14, color=PALETTE[0], alpha=0.6, linewidths=0)
    name = short_labels([target])[0]
    ax.set_xlabel(f"true {name}")
    ax.set_ylabel(f"predicted {name}")
    error = np.abs(truth - estimate).mean()
    ax.set_title(f"{len(truth)} test rows, mean absolute error {error:.3g}", loc="left", fontsize="medium")
    tidy(ax, grid="both")
    return figure
