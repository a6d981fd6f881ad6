"""Lazy greedy selection for one class: Σ_i max(0, cost_i − cost(i, j)), with a phantom prototype at distance 1."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from explicate.prototypes.distances import Neighbourhood
from explicate.prototypes.kernels import gain_over

#: Closed-form sums and summed columns round differently; bounds are raised by more than that.
SLACK = 1e-9


class LazyGreedy:
    """
    The candidates of one class and what the prototypes chosen so far cover.

    The objective is monotone and submodular for either sign of the importance term, because every row adds the best
    of fixed values. A gain can therefore only shrink, an old one is an upper bound, and only candidates whose bound
    reaches the top are evaluated again. Ties go to the lowest position, as in a full scan.

    Parameters
    ----------
    neighbourhood : Neighbourhood
        Similarities among the rows of the class.
    importance : ndarray of shape (n_rows, n_features), optional
        Importance of each row normalised by eq. 1.
    beta : float, default 0.0
        Weight of the importance term, negative when it is a penalty (diversity): value = similarity + beta · fi.
    candidates : sequence of int, optional
        Positions that may be chosen; all by default.

    References
    ----------
    Minoux (1978), Accelerated greedy algorithms for maximizing submodular set functions.

    Examples
    --------
    >>> from explicate.prototypes.distances import GowerDistance
    >>> distance = GowerDistance().fit([[0.0], [1.0], [10.0]])
    >>> greedy = LazyGreedy(distance.within(distance.encode([[0.0], [1.0], [10.0]])))
    >>> greedy.add(), greedy.add()
    ((1, 2.0), (2, 0.9...))
    """

    def __init__(
        self,
        neighbourhood: Neighbourhood,
        importance: np.ndarray | None = None,
        beta: float = 0.0,
        candidates: Sequence[int] | None = None,
    ) -> None:
        self.near = neighbourhood
        self.importance = importance if beta else None
        self.beta = beta * neighbourhood.total
        self.covered = np.zeros(neighbourhood.n_rows)
        self.chosen: list[int] = []
        self.gains: list[float] = []
        self.n_evaluations = 0
        bound = neighbourhood.sums.copy()
        if self.importance is not None and beta > 0:
            bound += self.beta * (self.importance @ self.importance.sum(axis=0))
        bound += SLACK * (1.0 + bound)
        positions = range(neighbourhood.n_rows) if candidates is None else candidates
        self._heap = [(-float(bound[j]), int(j), -1) for j in positions]
        heapq.heapify(self._heap)

    def value(self, row: int) -> np.ndarray:
        """Return what `row` as a prototype would be worth to each row, in units of the neighbourhood's total."""
        value = self.near.column(row)
        if self.importance is not None:
            value = value + self.beta * (self.importance @ self.importance[row])
        return value

    def best(self) -> tuple[int, float]:
        """Return the position and gain (in rows) of the best candidate; ``(-1, 0.0)`` when nothing is gained."""
        now = len(self.chosen)
        while self._heap:
            bound, row, when = self._heap[0]
            if when == now:
                return (row, -bound / self.near.total) if bound < 0 else (-1, 0.0)
            gain = gain_over(self.value(row), self.covered)
            self.n_evaluations += 1
            heapq.heapreplace(self._heap, (-gain, row, now))
        return -1, 0.0

    def add(self) -> tuple[int, float]:
        """Choose the best candidate and return it as `best` does; nothing changes when nothing is gained."""
        row, gain = self.best()
        if row >= 0:
            heapq.heappop(self._heap)
            self._take(row, gain)
        return row, gain

    def add_central(self) -> int:
        """Choose the row most similar to all, whatever its gain: for a class that must have a prototype."""
        row = int(np.argmax(self.near.sums))
        self._heap = [entry for entry in self._heap if entry[1] != row]
        heapq.heapify(self._heap)
        self._take(row, gain_over(self.value(row), self.covered) / self.near.total)
        return row

    def cost(self) -> float:
        """Return Σ_i min(1, min_p d(i, p) ± β fi(i, p)), the objective of eq. 6 with the phantom."""
        return float((self.near.total - self.covered).sum() / self.near.total)

    def _take(self, row: int, gain: float) -> None:
        self.covered = np.maximum(self.covered, self.value(row))
        self.chosen.append(row)
        self.gains.append(gain)
