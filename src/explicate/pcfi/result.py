"""What PCFI returns: importance by class and feature, with its spread over trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explicate.core.validation import shorten_list

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class PerClassImportance:
    """
    How much each feature helps a tree ensemble to tell each class from the others.

    Attributes
    ----------
    values : ndarray of shape (n_classes, n_features), dtype float64
        Importance; each row sums to one unless it was not normalised, or no split counts for its class (zeros).
    overall : ndarray of shape (n_features,), dtype float64
        Decrease of all classes together (mean decrease in impurity), normalised alike.
    sd : ndarray of shape (n_classes, n_features), dtype float64
        Standard deviation over trees (rounds of a boosted model), on the scale of `values`.
    classes : ndarray of shape (n_classes,)
        Labels as the user wrote them.
    features : tuple of length n_features
        Names of features.
    support : ndarray of shape (n_classes,), dtype float64
        Share of each class at the roots: of training weight, or of the held-out rows; NaN for boosted models.
    n_trees : int
        Trees averaged.
    source : {"training", "held-out", "out-of-bag"}
        Rows the node weights and class fractions come from.
    """

    values: np.ndarray
    overall: np.ndarray
    sd: np.ndarray
    classes: np.ndarray
    features: tuple[Any, ...]
    support: np.ndarray
    n_trees: int
    source: str

    @property
    def _unit(self) -> str:
        return "training weight" if self.source == "training" else "rows"

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean over trees, shape (n_classes, n_features)."""
        return self.sd / np.sqrt(self.n_trees)

    def rank(self, class_label: Any) -> list[Any]:
        """
        Return feature names from the most to the least important for one class (ties in column order).

        Parameters
        ----------
        class_label : object
            One of `classes`.

        Raises
        ------
        ValueError
            For a label the model does not know.
        """
        found = np.flatnonzero([label == class_label for label in self.classes])
        if not len(found):
            raise ValueError(f"class_label={class_label!r} is unknown; the model has {shorten_list(self.classes)}.")
        return [self.features[i] for i in np.argsort(-self.values[found[0]], kind="stable")]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per class and feature: class, support, feature, importance, sd, standard_error, rank."""
        n_classes, n_features = self.values.shape
        ranks = np.argsort(np.argsort(-self.values, axis=1, kind="stable"), axis=1) + 1
        return pd.DataFrame(
            {
                "class": np.repeat(np.array([str(label) for label in self.classes], dtype=object), n_features),
                "support": np.repeat(self.support, n_features),
                "feature": [str(name) for name in self.features] * n_classes,
                "importance": self.values.ravel(),
                "sd": self.sd.ravel(),
                "standard_error": self.standard_error.ravel(),
                "rank": ranks.ravel(),
                "overall": np.tile(self.overall, n_classes),
            }
        ).astype({"class": "str"})

    def metrics(self) -> dict[str, float]:
        """Return ``<class>.<feature>`` -> importance."""
        return {
            f"{label}.{name}": float(self.values[row, column])
            for row, label in enumerate(self.classes)
            for column, name in enumerate(self.features)
        }

    def summary(self, top_k: int = 3) -> str:
        """
        Return a text that names the leading features of each class.

        Parameters
        ----------
        top_k : int, default 3
            Features named per class.
        """
        heads = [f"{label} {self.rank(label)[0]}" for row, label in enumerate(self.classes) if self.values[row].any()]
        first = f"{', '.join(heads[:8])}{', …' if len(heads) > 8 else ''}" if heads else "none"
        lines = [f"leading feature of each class: {first} ({self.n_trees} trees, {self.source} rows)"]
        for row, label in enumerate(self.classes):
            known = not np.isnan(self.support[row])
            share = f" ({self.support[row]:.0%} of {self._unit})" if known else ""
            leading = ", ".join(
                f"{name} {self.values[row, self.features.index(name)]:.2f}" for name in self.rank(label)[:top_k]
            )
            none = "no such rows" if known and self.support[row] == 0 else "no split counts for this class"
            lines.append(f"  {label}{share}: {leading if self.values[row].any() else none}")
        return "\n".join(lines)

    def plot(self, max_features: int = 20) -> Figure:
        """Draw the heat map and the bars of each class; see `explicate.pcfi.plotting.plot_importance`."""
        from explicate.pcfi.plotting import plot_importance

        return plot_importance(self, max_features=max_features)
