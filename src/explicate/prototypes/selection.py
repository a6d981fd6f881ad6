"""G-KM, SM-A and A-PETE: three orders in which one greedy engine hands out prototypes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from explicate.core.validation import check_number
from explicate.prototypes.greedy import LazyGreedy
from explicate.prototypes.selector import PrototypeSelector, class_by_class


@dataclass(eq=False, repr=False)
class GreedyKMedoids(PrototypeSelector):
    """
    G-KM: the same number of prototypes for every predicted class, greedy k-medoids within each.

    Parameters
    ----------
    model : estimator or Distance
        See `PrototypeSelector`, also for the keywords not listed here.
    n_prototypes : int, default 5
        Per class; a class has fewer when no other row of it adds anything (see ``notes_``).

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]}, index=list("abcdef"))
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X, [0, 0, 0, 1, 1, 1])
    >>> selector = GreedyKMedoids(forest, n_prototypes=1).fit(X)
    >>> selector.predict(X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _per_class = True

    n_prototypes: int = 5

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("n_prototypes", self.n_prototypes, low=1, integer=True)

    def _select(self, groups: list[LazyGreedy]) -> list[tuple[int, int]]:
        for group in groups:
            while len(group.chosen) < max(self.n_prototypes, self.per_class_minimum) and self._serve(group):
                pass
        return class_by_class(groups)


@dataclass(eq=False, repr=False)
class SubmodularAdaptive(PrototypeSelector):
    """
    SM-A: a total number of prototypes, each where it gains most over all classes (SM-WA when weighted).

    Parameters
    ----------
    model : estimator or Distance
        See `PrototypeSelector`, also for the keywords not listed here.
    n_prototypes : int, default 10
        In all.
    weighted : bool, default False
        Whether gains are divided by the size of their class, so that small classes count as much (SM-WA).

    References
    ----------
    Tan, Soloviev, Hooker and Wells (2020), Tree Space Prototypes, FODS 2020.

    Examples
    --------
    >>> from explicate.prototypes import GowerDistance
    >>> rows = [[0.0], [0.1], [0.2], [9.0]]
    >>> selector = SubmodularAdaptive(GowerDistance(), n_prototypes=2).fit(rows, ["a", "a", "a", "b"])
    >>> selector.prototype_indices_.tolist()
    [1, 3]
    """

    n_prototypes: int = 10
    weighted: bool = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("n_prototypes", self.n_prototypes, low=1, integer=True)

    def _select(self, groups: list[LazyGreedy]) -> list[tuple[int, int]]:
        needed = self.per_class_minimum * len(groups)
        if needed > self.n_prototypes:
            raise ValueError(
                f"n_prototypes={self.n_prototypes} is fewer than per_class_minimum={self.per_class_minimum} for each "
                f"of {len(groups)} predicted classes; give at least {needed} or per_class_minimum=0."
            )
        order: list[tuple[int, int]] = []
        exhausted: set[int] = set()
        while len(order) < self.n_prototypes:
            owed = {
                k: self.per_class_minimum - len(group.chosen)
                for k, group in enumerate(groups)
                if k not in exhausted and len(group.chosen) < self.per_class_minimum
            }
            k = _widest(groups, self.weighted)
            if k < 0 or sum(owed.values()) >= self.n_prototypes - len(order):  # the rest belongs to classes owed to
                if not owed:
                    break
                k = min(owed)
                if not self._serve(groups[k]):
                    exhausted.add(k)
                    continue
            else:
                groups[k].add()
            order.append((k, len(groups[k].chosen) - 1))
        if len(order) < self.n_prototypes:
            self.notes_.append(f"{len(order)} prototype(s) instead of {self.n_prototypes}; no other row adds anything")
        return order


@dataclass(eq=False, repr=False)
class APete(PrototypeSelector):
    """
    A-PETE: as SM-A, stopping by itself when the gain settles.

    After prototype t with gain g_t, selection stops when g_t = 0 or |g_{t−1} − g_t| / g_t ≤ alpha (g_0 = 0); classes
    still without `per_class_minimum` prototypes are then served.

    Parameters
    ----------
    model : estimator or Distance
        See `PrototypeSelector`, also for the keywords not listed here.
    alpha : float, default 0.05
        Relative change of the gain at which selection stops.
    max_prototypes : int, optional
        Stop there at the latest (classes not yet served excepted).

    References
    ----------
    Karolczak and Stefanowski (2024), A-PETE: Adaptive Prototype Explanations of Tree Ensembles.

    Examples
    --------
    >>> from explicate.prototypes import GowerDistance
    >>> rows = [[0.0], [0.1], [0.2], [9.0]]
    >>> APete(GowerDistance(), alpha=2.0).fit(rows, ["a", "a", "a", "b"]).prototype_indices_.tolist()
    [1, 3]
    """

    alpha: float = 0.05
    _: KW_ONLY
    max_prototypes: int | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("alpha", self.alpha, low=0)
        if self.max_prototypes is not None:
            check_number("max_prototypes", self.max_prototypes, low=1, integer=True)

    def _select(self, groups: list[LazyGreedy]) -> list[tuple[int, int]]:
        order: list[tuple[int, int]] = []
        before = 0.0
        while self.max_prototypes is None or len(order) < self.max_prototypes:
            k = _widest(groups, False)
            if k < 0:
                break
            gain = groups[k].add()[1]
            order.append((k, len(groups[k].chosen) - 1))
            if abs(before - gain) / gain <= self.alpha:
                break
            before = gain
        for k, group in enumerate(groups):
            while len(group.chosen) < self.per_class_minimum and self._serve(group):
                order.append((k, len(group.chosen) - 1))
        return order


def _widest(groups: list[LazyGreedy], weighted: bool) -> int:
    """Return the class whose best candidate gains most (the first of equals), or -1 when none gains anything."""
    gains = [group.best()[1] / (group.near.n_rows if weighted else 1) for group in groups]
    best = int(np.argmax(gains))
    return best if gains[best] > 0 else -1
