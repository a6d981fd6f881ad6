"""Alike parts: the features important to an instance and to its prototype alike (eq. 1 to 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import align_columns, check_choice
from explicate.prototypes.attribution import normalize_importance

MASKS = ("mean", "knee", "sqrt", "log")


@dataclass(frozen=True, eq=False)
class AlikeParts:
    """
    What instances and their prototypes have in common.

    Attributes
    ----------
    features : tuple
        Names, in the order of the columns.
    instance, prototype : ndarray of shape (n_rows, n_features), dtype float64
        Attributions as given.
    weights : ndarray of shape (n_rows, n_features), dtype float64
        Products of normalised importance (eq. 2).
    mask : ndarray of shape (n_rows, n_features), dtype bool
        Features of the alike part (eq. 3, or another rule).
    rule : str
        Rule of the mask.
    """

    features: tuple[Any, ...]
    instance: np.ndarray
    prototype: np.ndarray
    weights: np.ndarray
    mask: np.ndarray
    rule: str

    def to_frame(self, row: int = 0) -> pd.DataFrame:
        """Return the paper's Table 1 for one pair: instance, prototype, weights and mask by feature."""
        return pd.DataFrame(
            [self.instance[row], self.prototype[row], self.weights[row], self.mask[row].astype(int)],
            index=["instance", "prototype", "weights", "mask"],
            columns=list(self.features),
        )

    def names(self, row: int = 0) -> list[Any]:
        """Return the features of one alike part, heaviest first."""
        order = np.argsort(-self.weights[row], kind="stable")
        return [self.features[k] for k in order if self.mask[row, k]]

    def sentence(self, label: Any, row: int = 0) -> str:
        """
        Say one alike part in words.

        Parameters
        ----------
        label : object
            What to call the prototype, such as ``"penguin 132"``.
        row : int, default 0
        """
        names = [str(name) for name in self.names(row)]
        if not names:
            return f"like {label} in no feature that matters to both"
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"like {label} in {listed}"

    def frequency(self) -> pd.Series:
        """Return the share of pairs whose alike part holds each feature."""
        return pd.Series(self.mask.mean(axis=0), index=list(self.features), name="frequency")

    def metrics(self) -> dict[str, float]:
        """
        Return ``alike_length`` (features per alike part, mean) and ``alike_importance``.

        The latter is the mean, over all features of all alike parts, of the importance (eq. 1) averaged over instance
        and prototype; NaN when every part is empty.
        """
        both = (normalize_importance(self.instance) + normalize_importance(self.prototype)) / 2
        return {
            "alike_length": float(self.mask.sum(axis=1).mean()),
            "alike_importance": float(both[self.mask].mean()) if self.mask.any() else float("nan"),
        }

    def summary(self) -> str:
        """Return one line on all pairs."""
        metrics = self.metrics()
        return (
            f"{len(self.mask)} pairs share {metrics['alike_length']:.2f} of {len(self.features)} features on average "
            f"(rule {self.rule}); most often {self.frequency().idxmax()}."
        )

    def plot(self, **keywords: Any) -> Any:
        """Draw how often each feature is highlighted; see `plotting.plot_frequency`."""
        from explicate.prototypes.plotting import plot_frequency

        return plot_frequency({self.rule: self.frequency()}, **keywords)


def alike_parts(
    instance: Any, prototype: Any, mask: str = "mean", *, features: Sequence[Any] | None = None
) -> AlikeParts:
    """
    Find the features important to instances and to their prototypes alike.

    Parameters
    ----------
    instance, prototype : array-like of shape (n_features,) or (n_rows, n_features)
        Attributions of each pair, signed or not; normalised here (eq. 1).
    mask : {"mean", "knee", "sqrt", "log"}, default "mean"
        Which weights make the part: above their mean (eq. 3); up to the knee of the sorted weights (the point
        farthest below the chord from first to last; the heaviest alone when none is below); the ⌈√d⌉ or ⌈log₂(d + 1)⌉
        heaviest. A weight of zero never does.
    features : sequence, optional
        Names; columns of a frame (index of a Series), or positions, by default. Two frames are matched by name.

    Returns
    -------
    AlikeParts

    Raises
    ------
    ValueError
        When shapes or names differ, without rows, or for an unknown mask.

    References
    ----------
    Karolczak and Stefanowski (2025), This part looks alike this, eq. 1–3.

    Examples
    --------
    >>> part = alike_parts([2.0, 1.0, 0.1], [2.0, -1.0, 3.0], features=["size", "age", "ripe"])
    >>> part.names()
    ['size']
    """
    check_choice("mask", mask, MASKS)
    instance, prototype = (x.to_frame().T if isinstance(x, pd.Series) else x for x in (instance, prototype))
    if isinstance(instance, pd.DataFrame):
        features = list(instance.columns) if features is None else features
        if isinstance(prototype, pd.DataFrame):
            prototype = align_columns(prototype, list(instance.columns), what="prototype")
    a = np.atleast_2d(np.asarray(instance, dtype=float))
    b = np.atleast_2d(np.asarray(prototype, dtype=float))
    if len(a) == 0:
        raise ValueError("instance has 0 rows; give at least one.")
    if a.shape != b.shape:
        raise ValueError(f"instance has shape {a.shape} and prototype {b.shape}; give one prototype per instance.")
    names = tuple(range(a.shape[1])) if features is None else tuple(features)
    if len(names) != a.shape[1]:
        raise ValueError(f"features has {len(names)} names and the attributions {a.shape[1]} columns; give one each.")
    weights = normalize_importance(a) * normalize_importance(b)
    return AlikeParts(names, a, b, weights, mask_weights(weights, mask), mask)


def mask_weights(weights: np.ndarray, rule: str = "mean") -> np.ndarray:
    """
    Return the features whose weights make the alike part, shape (n_rows, n_features), bool; see `alike_parts`.

    Examples
    --------
    >>> mask_weights(np.array([[0.5, 0.3, 0.0, 0.0]]), "sqrt").tolist()
    [[True, True, False, False]]
    """
    if rule == "mean":
        # One more rounding than equal weights survive: a mean of equal numbers must not lie below them.
        return weights > weights.mean(axis=1, keepdims=True) * (1 + 1e-12)
    order = np.argsort(-weights, axis=1, kind="stable")
    d = weights.shape[1]
    if rule == "knee":
        ordered = np.take_along_axis(weights, order, axis=1)
        chord = ordered[:, :1] + (ordered[:, -1:] - ordered[:, :1]) * np.linspace(0, 1, d) if d > 1 else ordered
        below = chord - ordered
        below[below < 1e-12 * ordered[:, :1]] = 0.0  # the ends lie on the chord, whatever rounding says
        keep = np.maximum(below.argmax(axis=1), 1)  # the knee is the first weight of the flat end: not kept
    else:
        keep = np.full(len(weights), int(np.ceil(np.sqrt(d) if rule == "sqrt" else np.log2(d + 1))))
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(d), order.shape), axis=1)
    return (rank < keep[:, None]) & (weights > 0)
