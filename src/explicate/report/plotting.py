"""Pictures of the report, drawn from stored tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from explicate.core.plotting import PALETTE, new_figure, short_labels, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_bars(table: pd.DataFrame, label: str, value: str, axis: str, most: int = 15) -> Figure:
    """Draw the first `most` rows as horizontal bars: `label` beside the bar, `value` along it, titled `axis`."""
    part = table.head(most).iloc[::-1]
    figure, ax = new_figure(6.6, 1.0 + 0.3 * len(part))
    ax.barh(range(len(part)), part[value], color=PALETTE[0])
    ax.set_yticks(range(len(part)), short_labels(part[label]))
    ax.set_xlabel(axis)
    tidy(ax)
    return figure
