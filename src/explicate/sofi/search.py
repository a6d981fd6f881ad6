"""Which search runs: the proved optimum where it is affordable, else climbing, descent and exact windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explicate.core.validation import check_choice
from explicate.sofi.climbing import LOOKAHEAD, MINIMUM_GAIN, ClimbingResult, hill_climbing, no_climb
from explicate.sofi.lattice import exact_order, window_masks, window_order
from explicate.sofi.objective import Objective, RankingEvaluation

#: Features beyond which 2^n sets are never enumerated.
MOST_EXACT_FEATURES = 26
#: Seconds from which a set is too dear to be asked for in vain.
DEAR = 2e-3
#: Positions that `auto` rearranges exactly at a time when the whole is too large.
WINDOW = 6


@dataclass(frozen=True)
class Budget:
    """
    What a search may spend.

    Attributes
    ----------
    max_iterations, patience, n_restarts, accept_equal
        As in `hill_climbing`.
    max_exact_seconds : float
        Predicted seconds an exact search may take.
    max_memory : float
        Bytes its tables may take.
    """

    max_iterations: int = 200
    patience: int | None = None
    n_restarts: int = 0
    accept_equal: bool = False
    max_exact_seconds: float = 30.0
    max_memory: float = 2e9


@dataclass(frozen=True, eq=False)
class Found:
    """
    The ranking a search ended with.

    Attributes
    ----------
    best : RankingEvaluation
    search : {"exact", "hill_climbing", "descent"}
        What ran.
    reason : str
        Why.
    is_optimal : bool
        Whether no ranking scores higher, by proof.
    climb : ClimbingResult
        Its history and counters.
    """

    best: RankingEvaluation
    search: str
    reason: str
    is_optimal: bool
    climb: ClimbingResult


@dataclass(frozen=True)
class ExactCost:
    """Predicted cost of an exact search: seconds (nominal, so that they do not depend on the clock) and bytes."""

    seconds: float
    memory: float

    @classmethod
    def of(cls, response: Any) -> ExactCost:
        """Predict the cost of asking a response for all sets and searching them."""
        n = response.n_features
        lattice_seconds, lattice_bytes = 2.0**n * n * 1e-9, 2.0**n * 17
        if hasattr(response, "table"):
            return cls(response.table_seconds() + lattice_seconds, response.bytes_for_table() + lattice_bytes)
        return cls(2.0**n * response.set_seconds() + lattice_seconds, 2.0**n * 200 + lattice_bytes)

    def refusal(self, n: int, budget: Budget) -> str | None:
        """Say why an exact search is too large, naming the parameter that changes it; ``None`` when it fits."""
        if n > MOST_EXACT_FEATURES:
            return f"{n} features make 2^{n} sets, more than the 2^{MOST_EXACT_FEATURES} an exact search enumerates"
        if self.seconds > budget.max_exact_seconds:
            return (
                f"2^{n} sets would take about {self.seconds:,.0f} s, above "
                f"max_exact_seconds={budget.max_exact_seconds:g}"
            )
        if self.memory > budget.max_memory:
            return (
                f"2^{n} sets would take about {self.memory / 1e9:.1f} GB, above "
                f"max_memory={budget.max_memory / 1e9:g} GB"
            )
        return None


def find_ranking(
    response: Any,
    initial_order: Any,
    *,
    search: str,
    budget: Budget,
    seed: Any,
    verbose: bool = False,
) -> tuple[Found, Objective]:
    """
    Search the ranking of greatest degradation score.

    Parameters
    ----------
    response : Response
    initial_order : callable
        Takes an Objective and a Generator; returns the starting ranking.
    search : {"auto", "exact", "hill_climbing"}
    budget : Budget
    seed : int or Generator
        Of the swaps and restarts.
    verbose : bool, default False

    Returns
    -------
    Found
    Objective
        Holds every response asked for.

    Raises
    ------
    ValueError
        For ``search="exact"`` when it is too large, with the estimate and the remedy.
    """
    check_choice("search", search, ["auto", "exact", "hill_climbing"])
    n = response.n_features
    refusal = None if search == "hill_climbing" else ExactCost.of(response).refusal(n, budget)
    if search == "exact" and refusal:
        raise ValueError(f"search='exact' is too large: {refusal}; raise that limit, or use search='auto'.")
    if search != "hill_climbing" and refusal is None:
        table = response.table() if hasattr(response, "table") else _query_table(response)
        objective = Objective.from_response(response, table)
        best = objective.evaluate(exact_order(table, n))
        reason = f"all 2^{n} sets are affordable"
        return Found(best, "exact", reason, True, no_climb(best)), objective
    objective = Objective.from_response(response)
    generator = np.random.default_rng(seed)
    start = initial_order(objective, generator)
    climb = hill_climbing(
        n,
        objective.evaluate,
        start,
        max_iterations=budget.max_iterations,
        patience=budget.patience,
        n_restarts=budget.n_restarts,
        accept_equal=budget.accept_equal,
        rng=generator,
        verbose=verbose,
        prefetch=objective.prefetch,
        lookahead=LOOKAHEAD if response.set_seconds() < DEAR else 1,
    )
    if search == "hill_climbing":
        return Found(climb["evaluation"], "hill_climbing", "as asked", n < 2, climb), objective
    # Descending from the climbed ranking and from the start: never worse than climbing alone.
    width = _affordable_width(n, response.set_seconds(), budget.max_exact_seconds)
    ends = [descend(objective, order, width) for order in (climb["evaluation"].order, start)]
    best = max(ends, key=lambda end: end.ds)
    return Found(best, "descent", f"{refusal}; windows of {width}", n < 2, climb), objective


def _affordable_width(n: int, set_seconds: float, max_seconds: float) -> int:
    """Return the widest windows whose sets, over a pass, fit the seconds an exact search may take; two always do."""
    for width in range(WINDOW, 2, -1):
        if n / max(1, width // 2) * 2 ** (width + 1) * set_seconds <= max_seconds:
            return width
    return 2


def _starts(n: int, width: int) -> list[int]:
    """Return where the windows of a pass begin: every half width, and at the end."""
    return sorted({*range(0, n - width + 1, max(1, width // 2)), n - width})


def descend(objective: Objective, order: Sequence[int], width: int) -> RankingEvaluation:
    """
    Improve a ranking by adjacent swaps, then by exact windows, until neither helps.

    Parameters
    ----------
    objective : Objective
    order : sequence of int
    width : int
        Positions rearranged at a time; adjacent swaps are windows of two.

    Returns
    -------
    RankingEvaluation
        Never worse than `order`.
    """
    best = objective.evaluate(order)
    n = objective.n_features
    for size in sorted({min(2, n), min(width, n)}):
        improved = size > 1
        while improved:
            improved = False
            whole = (1 << n) - 1
            starts = _starts(n, size)
            masks = [mask for start in starts for mask in window_masks(best.order, start, size)]
            objective.fetch([*masks, *(whole ^ mask for mask in masks)])
            for start in starts:
                candidate = objective.evaluate(window_order(objective, best.order, start, size))
                if candidate.ds > best.ds + MINIMUM_GAIN:
                    best, improved = candidate, True
    return best


def _query_table(response: Any, block: int = 4096) -> np.ndarray:
    """Ask for all sets, in blocks."""
    n = response.n_features
    table = np.empty(1 << n)
    for start in range(0, len(table), block):
        masks = np.arange(start, min(start + block, len(table)), dtype=np.int64)
        table[masks] = response((masks[:, None] >> np.arange(n)) & 1 == 1)
    return table
