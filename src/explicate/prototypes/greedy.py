"""Lazy greedy selection for one class: Σ_i max(0, cost_i − cost(i, j)), with a phantom prototype at distance 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explicate.core.parallel import row_blocks
from explicate.core.validation import check_memory
from explicate.prototypes.distances import Neighbourhood
from explicate.prototypes.kernels import add_products, gains_over

#: Closed-form sums and sums of float32 values round differently; bounds are raised by more than that.
SLACK = 1e-4
FIRST_BATCH = 8


class LazyGreedy:
    """
    The candidates of one class and what the prototypes chosen so far cover.

    The objective is monotone and submodular for either sign of the importance term, because every row adds the best
    of fixed values. A gain can therefore only shrink, an old one is an upper bound, and only candidates whose bound
    reaches the top are evaluated again, in batches that double. Ties go to the lowest position, as in a full scan.

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
    keep : bool, default False
        Whether values of all pairs are computed once and kept (4 bytes a pair) instead of when they are needed.

    References
    ----------
    Minoux (1978), Accelerated greedy algorithms for maximizing submodular set functions.

    Examples
    --------
    >>> from explicate.prototypes import GowerDistance
    >>> distance = GowerDistance().fit([[0.0], [1.0], [10.0]])
    >>> greedy = LazyGreedy(distance.within(distance.encode([[0.0], [1.0], [10.0]])))
    >>> row, gain = greedy.add()
    >>> row, round(gain, 6)
    (1, 2.0)
    """

    def __init__(
        self,
        neighbourhood: Neighbourhood,
        importance: np.ndarray | None = None,
        beta: float = 0.0,
        candidates: Sequence[int] | None = None,
        *,
        keep: bool = False,
    ) -> None:
        self.near = neighbourhood
        n = neighbourhood.n_rows
        self.importance = np.ascontiguousarray(importance, dtype=float) if importance is not None and beta else None
        self.beta = beta * neighbourhood.total
        self.covered = np.zeros(n, dtype=np.float32)
        self.chosen: list[int] = []
        self.gains: list[float] = []
        self.n_evaluations = 0
        bound = neighbourhood.sums.copy()
        if self.importance is not None:
            self._by_feature = np.ascontiguousarray(self.importance.T)
            if beta > 0:
                bound += self.beta * (self.importance @ self.importance.sum(axis=0))
        self._bound = np.full(n, -np.inf)
        positions = np.arange(n) if candidates is None else np.asarray(candidates, dtype=np.intp)
        self._bound[positions] = bound[positions] + SLACK * (1.0 + bound[positions])
        self._fresh = np.zeros(n, dtype=bool)
        self._kept: np.ndarray | None = None
        if keep:
            self._kept = self.all_values()

    def values(self, which: np.ndarray) -> np.ndarray:
        """
        Return what some rows as prototypes would be worth to each row, shape (n_which, n_rows), float32.

        In units of the neighbourhood's total, the similarity of a row with itself.
        """
        if self._kept is not None:
            return self._kept[which]
        return self._with_importance(self.near.rows(which), which)

    def all_values(self) -> np.ndarray:
        """Return `values` of all rows, shape (n_rows, n_rows), float32."""
        if self._kept is not None:
            return self._kept
        return self._with_importance(self.near.pairs(), np.arange(self.near.n_rows))

    def _with_importance(self, values: np.ndarray, which: np.ndarray) -> np.ndarray:
        if self.importance is not None:
            add_products(values, self.importance[which], self._by_feature, self.beta)
        return values

    def restarted(self, candidates: Sequence[int]) -> LazyGreedy:
        """Return the same class with nothing chosen yet and only some candidates."""
        return LazyGreedy(self.near, self.importance, self.beta / self.near.total, candidates)

    def best(self) -> tuple[int, float]:
        """Return the position and gain (in rows) of the best candidate; ``(-1, 0.0)`` when nothing is gained."""
        size, reached = FIRST_BATCH, 0.0
        while True:
            top = int(self._bound.argmax())
            if self._bound[top] <= 0:
                return -1, 0.0
            if self._fresh[top]:
                return top, float(self._bound[top] / self.near.total)
            stale = np.flatnonzero(~self._fresh & (self._bound >= reached))
            if len(stale) > size:
                stale = stale[np.argpartition(self._bound[stale], -size)[-size:]]
            self._bound[stale] = self._gains_of(stale)
            self._fresh[stale] = True
            reached = max(reached, float(self._bound[stale].max()))
            size *= 2

    def add(self) -> tuple[int, float]:
        """Choose the best candidate and return it as `best` does; nothing changes when nothing is gained."""
        row, gain = self.best()
        if row >= 0:
            self._take(row, gain)
        return row, gain

    def add_central(self) -> int:
        """Choose the row most similar to all, whatever its gain: for a class that must have a prototype."""
        row = int(np.argmax(self.near.sums))
        self._take(row, float(self._gains_of(np.array([row]))[0] / self.near.total))
        return row

    def cost(self) -> float:
        """Return Σ_i min(1, min_p d(i, p) ± β fi(i, p)), the objective of eq. 6 with the phantom."""
        return float((self.near.total - self.covered.astype(float)).sum() / self.near.total)

    def _gains_of(self, which: np.ndarray) -> np.ndarray:
        self.n_evaluations += len(which)
        if self._kept is not None:
            return gains_over(self._kept, which, self.covered)
        gains = np.empty(len(which))
        for block in row_blocks(len(which), 32 * self.near.n_rows, 32e6):
            values = self.values(which[block])
            gains[block] = gains_over(values, np.arange(len(values)), self.covered)
        return gains

    def _take(self, row: int, gain: float) -> None:
        self.covered = np.maximum(self.covered, self.values(np.array([row]))[0])
        self._bound[row] = -np.inf
        self._fresh[:] = False
        self.chosen.append(row)
        self.gains.append(gain)


def polish(group: LazyGreedy, max_memory: float) -> LazyGreedy:
    """
    Swap prototypes of one class by FasterPAM; return what is better, listed in its greedy order.

    Parameters
    ----------
    group : LazyGreedy
    max_memory : float
        Bytes the pairs of the class may take.

    Raises
    ------
    MemoryError
        When they would take more.

    References
    ----------
    Schubert and Rousseeuw (2021), Fast and eager k-medoids clustering.
    """
    n = group.near.n_rows
    if len(group.chosen) < 2 or len(group.chosen) >= n:
        return group  # one greedy medoid is already the best one
    try:
        import kmedoids
    except ImportError as error:
        raise ImportError("polish=True needs the package kmedoids; install it or set polish=False.") from error
    check_memory(12.0 * n * n, max_memory, what=f"polishing a class of {n} rows", remedy="set polish=False")
    cost = 1.0 - np.maximum(group.all_values() / np.float32(group.near.total), 0.0)
    found = kmedoids.fasterpam(cost, np.array(group.chosen, dtype=np.uintp), max_iter=100, n_cpu=1)
    again = group.restarted([int(row) for row in found.medoids])
    while again.add()[0] >= 0:
        pass
    return again if again.cost() < group.cost() else group
