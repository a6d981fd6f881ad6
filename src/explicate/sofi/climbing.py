"""Hill climbing over rankings: swaps of two positions, restarts when patience is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explicate.core.parallel import progress_bar
from explicate.core.validation import check_number

#: A gain counts from here on.
MINIMUM_GAIN = 1e-12
#: Swaps proposed ahead at most, whose sets are asked for in one batch.
LOOKAHEAD = 16


@dataclass(eq=False)
class ClimbingResult:
    """
    Where a search ended and how it got there.

    Attributes
    ----------
    best : object
        Best evaluation seen (``order``, ``ds``).
    history : list of dict
        One record per proposed swap.
    n_iterations, n_restarts_used : int
    """

    best: Any
    history: list[dict[str, Any]] = field(default_factory=list)
    n_iterations: int = 0
    n_restarts_used: int = 0


def hill_climbing(
    n_features: int,
    evaluate: Callable[[Sequence[int]], Any],
    initial_order: Sequence[int],
    max_iterations: int = 200,
    patience: int | None = None,
    n_restarts: int = 0,
    accept_equal: bool = False,
    rng: np.random.Generator | None = None,
    verbose: bool = False,
    description: str = "hill climbing",
    prefetch: Callable[[Iterable[Sequence[int]]], None] | None = None,
    lookahead: int = LOOKAHEAD,
) -> ClimbingResult:
    """
    Climb from a ranking by swapping two random positions at a time.

    Parameters
    ----------
    n_features : int
    evaluate : callable
        Takes a ranking; returns an object with ``order`` and ``ds``, larger being better.
    initial_order : sequence of int
        Where to start.
    max_iterations : int, default 200
        Swaps proposed in all, over restarts.
    patience : int, optional
        Swaps without improvement before a restart or the end; ``None`` is the whole budget.
    n_restarts : int, default 0
        Restarts from a random ranking, once patience is spent.
    accept_equal : bool, default False
        Whether swaps that leave the score as it is are accepted.
    rng : Generator, optional
        Source of swaps and restarts.
    verbose : bool, default False
        Whether a progress bar is drawn (in a terminal).
    description : str
        Its label.
    prefetch : callable, optional
        Told the rankings that come next unless a swap is accepted, so that their cost can be paid in one batch; the
        accepted sequence does not depend on it.
    lookahead : int, default 16
        Rankings told ahead at most; those behind an accepted one were asked for in vain.

    Returns
    -------
    ClimbingResult

    Examples
    --------
    >>> class Score:
    ...     def __init__(self, order):
    ...         self.order, self.ds = list(order), -sum(abs(i - f) for i, f in enumerate(order))
    >>> hill_climbing(4, Score, [3, 2, 1, 0], rng=np.random.default_rng(0)).best.order
    [0, 1, 2, 3]
    """
    check_number("max_iterations", max_iterations, low=0, integer=True)
    check_number("n_restarts", n_restarts, low=0, integer=True)
    if patience is not None:
        check_number("patience", patience, low=1, integer=True)
    generator = np.random.default_rng() if rng is None else rng
    patience = max(max_iterations, 1) if patience is None else patience
    current = evaluate(list(initial_order))
    result = ClimbingResult(best=current)
    if n_features < 2:
        return result
    waiting: list[tuple[int, int]] = []
    stale = 0
    for iteration in progress_bar(range(1, max_iterations + 1), label=description if verbose else None):
        restarted = False
        if stale >= patience:
            if result.n_restarts_used >= n_restarts:
                break
            result.n_restarts_used += 1
            current, stale, restarted = evaluate(generator.permutation(n_features).tolist()), 0, True
            if current.ds > result.best.ds + MINIMUM_GAIN:
                result.best = current
        if not waiting:
            # No restart can fall among them, so drawing swaps ahead leaves the stream of random numbers as it is.
            ahead = min(patience - stale, max_iterations - iteration + 1, lookahead if prefetch else 1)
            waiting = [_draw(generator, n_features) for _ in range(ahead)]
            if prefetch:
                prefetch(_swapped(current.order, i, j) for i, j in waiting)
        i, j = waiting.pop(0)
        candidate = evaluate(_swapped(current.order, i, j))
        gain = candidate.ds - current.ds
        improves = gain > MINIMUM_GAIN
        accepted = improves or (accept_equal and gain >= -MINIMUM_GAIN)
        stale = 0 if improves else stale + 1
        if accepted:
            current = candidate
            if prefetch and waiting:
                prefetch(_swapped(current.order, a, b) for a, b in waiting)
        if current.ds > result.best.ds + MINIMUM_GAIN:
            result.best = current
        result.n_iterations = iteration
        result.history.append(
            {
                "iteration": iteration,
                "swap": (i, j),
                "candidate_ds": candidate.ds,
                "current_ds": current.ds,
                "best_ds": result.best.ds,
                "accepted": accepted,
                "restart": restarted,
            }
        )
    return result


def _draw(generator: np.random.Generator, n: int) -> tuple[int, int]:
    first, second = sorted(generator.choice(n, size=2, replace=False).tolist())
    return first, second


def _swapped(order: Sequence[int], i: int, j: int) -> list[int]:
    other = list(order)
    other[i], other[j] = other[j], other[i]
    return other
