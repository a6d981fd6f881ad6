"""The degradation score of a ranking, as a path through sets of marginalised features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.features import FeatureSpace
from explicate.reliability import infer_task
from explicate.sofi.marginalization import Marginalizer
from explicate.sofi.response import ModelAdapter, QueryResponse, Response, adapt_model


@dataclass(frozen=True, eq=False)
class RankingEvaluation:
    """
    A ranking and how it fared.

    Attributes
    ----------
    order : list of int
        Features from the most to the least important.
    morf, lerf : list of float
        Raw response after 0 … n features were marginalised, most (least) relevant first.
    ds : float
        Raw degradation score.
    """

    order: list[int]
    morf: list[float]
    lerf: list[float]
    ds: float = 0.0


def curve_auc(scores: Sequence[float]) -> float:
    """
    Return the mean height of a curve over equal steps, by the trapezoid rule.

    Examples
    --------
    >>> curve_auc([1.0, 0.5, 0.0])
    0.5
    """
    values = np.asarray(scores, dtype=float)
    if len(values) < 2:
        return float(values.mean()) if len(values) else 0.0
    return float(np.trapezoid(values, dx=1.0 / (len(values) - 1)))


def degradation_score(morf: Sequence[float], lerf: Sequence[float]) -> float:
    """
    Return the area between the LeRF and the MoRF curve.

    Raises
    ------
    ValueError
        For curves of different lengths, which sofi-tabular scores all the same.

    Examples
    --------
    >>> degradation_score([1.0, 0.5, 0.0], [1.0, 1.0, 0.0])
    0.25
    """
    if len(morf) != len(lerf):
        raise ValueError(f"morf has {len(morf)} points and lerf {len(lerf)}; give curves of equal length.")
    return curve_auc(lerf) - curve_auc(morf)


def noise_onset(curve: Sequence[float], tolerance: float = 0.02) -> int | None:
    """
    Return the step after which fidelity recovers: the minimum of the curve, when its end lies above it.

    Parameters
    ----------
    curve : sequence of float
        Reported MoRF curve.
    tolerance : float, default 0.02
        Rise from the minimum to the end that counts.

    Returns
    -------
    int or None
        Number of features marginalised at the minimum.

    Examples
    --------
    >>> noise_onset([1.0, 0.2, 0.5]), noise_onset([1.0, 0.5, 0.2])
    (1, None)
    """
    values = np.asarray(curve, dtype=float)
    if not len(values):
        return None
    low = int(np.argmin(values))
    return low if values[-1] - values[low] >= tolerance else None


class Objective:
    """
    Scores rankings by cumulative marginalization, each set of marginalised features asked for once.

    With T_k the k top features, MoRF is R(T_k), LeRF is R(N∖T_{n−k}), and the score is the area between them,
    (1/n)·Σ_{k=1}^{n−1} [R(N∖T_k) − R(T_k)] (trapezoid rule; the end points cancel).

    Parameters
    ----------
    wrapper : estimator or ModelAdapter
        Fitted model, whose input is what ``space.transform`` makes of a table; `ModelAdapter` for anything else.
    space : FeatureSpace
    marginalizer : Marginalizer
    X_eval : DataFrame of shape (n_rows, n_columns)
        Instances.
    chunk_size : int, default 20000
        Rows in one query at most.

    Attributes
    ----------
    n_features : int
    n_evaluations : int
        Rankings scored so far.
    n_sets : int
        Different sets asked for so far.
    n_batches : int
        Calls of the response so far.

    Notes
    -----
    `SOFIExplainer.objective` builds one from an explainer, reading trees instead of querying them where it can.
    sofi-tabular's objective takes a wrapper class that it does not export; an estimator stands in for it here.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> from explicate.sofi import FeatureSpace, Marginalizer
    >>> X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 0.0, 1.0]})
    >>> model = LinearRegression().fit(X, 4 * X["a"] + X["b"])
    >>> space = FeatureSpace.from_groups(None, X.columns)
    >>> objective = Objective(model, space, Marginalizer(space, X, "constant"), X)
    >>> round(objective.evaluate([0, 1]).ds, 6), round(objective.evaluate([1, 0]).ds, 6)
    (1.75, -1.75)
    """

    def __init__(
        self,
        wrapper: Any,
        space: FeatureSpace,
        marginalizer: Marginalizer,
        X_eval: pd.DataFrame,
        chunk_size: int = 20000,
    ) -> None:
        if not isinstance(wrapper, ModelAdapter):
            classification = infer_task(wrapper) == "classification"
            wrapper = adapt_model(wrapper, classification=classification, transform=space.transform)
        self._use(QueryResponse(wrapper, space, X_eval, marginalizer.rows_, chunk_size))

    @classmethod
    def from_response(cls, response: Response, table: np.ndarray | None = None) -> Objective:
        """
        Score through any response that depends on sets alone.

        Parameters
        ----------
        response : callable
            Mean response for sets of shape (n_sets, n_features); see `explicate.sofi.response.Response`.
        table : ndarray of shape (2**n_features,), optional
            Responses of all sets, bit i = feature i marginalised, when they are known already.
        """
        objective = cls.__new__(cls)
        objective._use(response, table)
        return objective

    def _use(self, response: Response, table: np.ndarray | None = None) -> None:
        self._response = response
        self._table = table
        self._known: dict[int, float] = {}
        self.n_features = response.n_features
        self.n_evaluations = 0
        self.n_batches = 0
        self._reference: tuple[np.ndarray, list[int], list[float], float, float] | None = None

    @property
    def n_sets(self) -> int:
        """Different sets asked for so far."""
        return len(self._known) if self._table is None else len(self._table)

    def responses(self, masks: Sequence[int]) -> np.ndarray:
        """
        Return the response of sets given as bit masks (bit i = feature i marginalised).

        Parameters
        ----------
        masks : sequence of int

        Returns
        -------
        ndarray of shape (len(masks),), dtype float64
        """
        if self._table is not None:
            return self._table[np.asarray(masks, dtype=np.int64)]
        self.fetch(masks)
        return np.array([self._known[mask] for mask in masks])

    def fetch(self, masks: Iterable[int]) -> None:
        """Ask for the sets not known yet, in one batch."""
        if self._table is not None:
            return
        new = [mask for mask in dict.fromkeys(masks) if mask not in self._known]
        if new:
            values = self._response(_booleans(new, self.n_features))
            self.n_batches += 1
            self._known.update(zip(new, values.tolist(), strict=True))

    def prefetch(self, orders: Iterable[Sequence[int]]) -> None:
        """Ask for every set that scoring these rankings needs, in one batch."""
        whole = (1 << self.n_features) - 1
        if self._table is None:
            self.fetch([mask for order in orders for top in _tops(order) for mask in (top, whole ^ top)])

    def evaluate(
        self,
        order: Sequence[int],
        incumbent: RankingEvaluation | None = None,
        swap: tuple[int, int] | None = None,
    ) -> RankingEvaluation:
        """
        Score a ranking.

        Parameters
        ----------
        order : sequence of int
            A permutation of the features, most important first.
        incumbent, swap
            Ranking this one was made from, and the positions swapped; not needed, since sets are remembered.
        """
        tops = _tops(order)
        whole = tops[-1]
        values = self.responses([*tops, *(whole ^ top for top in reversed(tops))]).tolist()
        self.n_evaluations += 1
        morf, lerf = values[: len(tops)], values[len(tops) :]
        return RankingEvaluation(list(order), morf, lerf, degradation_score(morf, lerf))

    def curve(self, order: Sequence[int]) -> list[float]:
        """Return the raw response after 0 … n features vanished in this order."""
        return self.responses(_tops(order)).tolist()

    def normalize(self, scores: Sequence[float]) -> list[float]:
        """Return a raw curve on the reported scale: between the anchors, clipped to the unit interval."""
        high, low = self.anchors_
        if high <= low:
            return [1.0] * len(scores)
        return np.clip((np.asarray(scores, dtype=float) - low) / (high - low), 0.0, 1.0).tolist()

    def single_feature_drops(self) -> np.ndarray:
        """Return how far the response falls when each feature vanishes alone, shape (n_features,)."""
        return self._sweep()[0]

    def greedy_order(self) -> list[int]:
        """Return features by their single drops, largest first (ties in feature order)."""
        return list(self._sweep()[1])

    @property
    def anchors_(self) -> tuple[float, float]:
        """Responses placed at one and at zero when a curve is reported."""
        return self._sweep()[3:]

    @property
    def baseline(self) -> float:
        """Response of the unperturbed instances."""
        return self._sweep()[2][0]

    def _sweep(self) -> tuple[np.ndarray, list[int], list[float], float, float]:
        """Marginalise each feature alone, then all cumulatively in greedy order."""
        if self._reference is None:
            n = self.n_features
            singles = self.responses([0, *(1 << i for i in range(n))])
            drops = singles[0] - singles[1:]
            order = np.argsort(-drops, kind="stable").tolist()
            curve = self.responses(_tops(order)).tolist()
            seen = [*singles.tolist(), *curve]
            low, high = min(seen), float(singles[0])
            span = high - low
            if max(seen) - high > 0.1 * span:
                high = max(seen)
            self._reference = (drops, order, curve, high, low)
        return self._reference


def _tops(order: Sequence[int]) -> list[int]:
    """Masks of the 0 … n top features."""
    masks = [0]
    for feature in order:
        masks.append(masks[-1] | (1 << int(feature)))
    return masks


def _booleans(masks: Sequence[int], n: int) -> np.ndarray:
    if n <= 62:
        return (np.array(masks, dtype=np.int64)[:, None] >> np.arange(n)) & 1 == 1
    return np.array([[mask >> i & 1 for i in range(n)] for mask in masks], dtype=bool)
