"""One look for every figure: palette, sizes, and labels that stay readable and distinct."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's colours, told apart under every common colour blindness; ordered by use.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5A5A5A", "#B8A100")
#: Perceptually uniform map for magnitudes, and the diverging one for signed values.
SEQUENTIAL, DIVERGING = "cividis", "RdBu_r"
INK, QUIET, GRID = "#1A1A1A", "#6B6B6B", "#E3E3E3"


def new_figure(width: float, height: float, n_rows: int = 1, n_columns: int = 1, **keywords: Any) -> tuple[Any, Any]:
    """
    Return ``(figure, axes)`` outside pyplot: no display, no global state, nothing to close.

    Parameters
    ----------
    width, height : float
        Inches.
    n_rows, n_columns : int, default 1
        Grid of panels.
    **keywords
        Passed to ``Figure.subplots`` (``squeeze=False`` for an array in every case).

    Examples
    --------
    >>> figure, ax = new_figure(4, 3)
    >>> ax.get_subplotspec() is not None
    True
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_rows, n_columns, **keywords)


def tidy(ax: Axes, *, grid: Literal["x", "y", "both"] | None = "x") -> Axes:
    """Remove the box, keep a light grid along `grid` (``"x"``, ``"y"``, ``"both"`` or ``None``) under the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(QUIET)
    ax.tick_params(colors=QUIET, labelcolor=INK, length=3)
    if grid:
        ax.grid(True, axis=grid, color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
    return ax


def short_labels(names: Iterable[object], width: int = 24) -> list[str]:
    r"""
    Return one label per name: shortened in the middle, still distinct, and never read as mathematics.

    Parameters
    ----------
    names : iterable
        Feature, class or column names of any type.
    width : int, default 24
        Characters a label may take; labels that would collide show where they differ, or grow until they do.

    Returns
    -------
    list of str
        ``$`` is escaped, line breaks become spaces.

    Examples
    --------
    >>> short_labels(["price in $", "a_very_long_name_number_1", "a_very_long_name_number_2"], width=12)
    ['price in \\$', 'a_ver…mber_1', 'a_ver…mber_2']
    """
    texts = [" ".join(str(name).split()) for name in names]
    distinct = len(set(texts))
    longest = max((len(text) for text in texts), default=0)
    room = width
    labels = _around_differences(texts, [_middle(text, room) for text in texts], width)
    while len(set(labels)) < distinct and room < longest:
        room += 4
        labels = [_middle(text, room) for text in texts]
    return [label.replace("$", r"\$") for label in labels]


def _around_differences(texts: list[str], labels: list[str], width: int) -> list[str]:
    """Shorten names whose labels collide around the first place in which they differ."""
    groups: dict[str, set[str]] = {}
    for text, label in zip(texts, labels, strict=True):
        groups.setdefault(label, set()).add(text)
    shown = []
    for text, label in zip(texts, labels, strict=True):
        if len(groups[label]) > 1:
            columns = enumerate(zip(*groups[label], strict=False))
            differ = next((k for k, letters in columns if len(set(letters)) > 1), min(map(len, groups[label])))
            start = max(differ - width // 2, 1)
            end = start + width - 2
            label = f"…{text[start:end]}{'…' if end < len(text) else ''}"
        shown.append(label)
    return shown


def _middle(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    tail = width - 1 - head
    return f"{text[:head]}…{text[-tail:]}"


def ink_on(color: Any) -> str:
    """
    Return black or white, whichever stands out more from a background colour (relative luminance, WCAG 2).

    Examples
    --------
    >>> ink_on("#0072B2"), ink_on("#E69F00")
    ('white', 'black')
    """
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "black"


def write_cells(image: Any, texts: Any, fontsize: float = 8) -> None:
    """Write a text into each cell of an image ``ax.imshow`` returned, in the ink that stands out from its colour."""
    import numpy as np

    values = image.get_array()
    for (row, column), text in np.ndenumerate(np.asarray(texts, dtype=object)):
        value = values[row, column]
        ink = INK if np.ma.is_masked(value) else ink_on(image.cmap(image.norm(value)))
        image.axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=fontsize)


def note_figure(text: str) -> Figure:
    """Return a figure that says `text`: what a stage draws when it has nothing else to show."""
    figure, ax = new_figure(6.6, 1.6)
    ax.set_axis_off()
    ax.text(0.5, 0.5, text.replace("$", r"\$"), ha="center", va="center", wrap=True, color=QUIET)
    return figure


def colors(n: int) -> Sequence[str]:
    """Return `n` colors of the palette, repeated when it runs out (label directly, too)."""
    return [PALETTE[i % len(PALETTE)] for i in range(n)]
