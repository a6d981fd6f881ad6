"""Hill climbing over rankings: swaps of two positions, restarts when patience is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict

import numpy as np

from explicate.core.parallel import progress_bar
from explicate.core.validation import check_number

#: A gain counts from here on.
MINIMUM_GAIN = 1e-12
#: Swaps proposed ahead at most, whose sets are asked for in one batch.
LOOKAHEAD = 16


RECORD = ("iteration", "swap", "candidate_ds", "current_ds", "best_ds", "accepted", "restart")


class ClimbingResult(TypedDict):
    """
    Where a search ended and how it got there.

    Attributes
    ----------
    evaluation : object
        Best evaluation seen (``order``, ``ds``).
    history : list of dict
        One record per proposed swap and per restart (whose ``swap`` is ``None``): ``iteration``, ``swap``,
        ``candidate_ds``, ``current_ds``, ``best_ds``, ``accepted``, ``restart``.
    n_iterations, n_restarts_used, n_evaluations : int
        Swaps proposed, restarts, and different rankings tried.
    """

    evaluation: Any
    history: list[dict[str, Any]]
    n_iterations: int
    n_restarts_used: int
    n_evaluations: int


def no_climb(evaluation: Any) -> ClimbingResult:
    """Return the result of a search that proposed nothing."""
    return {"evaluation": evaluation, "history": [], "n_iterations": 0, "n_restarts_used": 0, "n_evaluations": 1}


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
    *,
    prefetch: Callable[[Iterable[Sequence[int]]], None] | None = None,
    lookahead: int = LOOKAHEAD,
) -> ClimbingResult:
    """
    Climb from a ranking by swapping two random positions at a time.

    Parameters
    ----------
    n_features : int
    evaluate : callable
        Takes a ranking; returns an object with ``order`` and ``ds``, larger being better. A ranking met again is not
        evaluated again. (sofi-tabular hands it the incumbent and the swap too.)
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
    dict
        See `ClimbingResult`.

    Examples
    --------
    >>> class Score:
    ...     def __init__(self, order):
    ...         self.order, self.ds = list(order), -sum(abs(i - f) for i, f in enumerate(order))
    >>> hill_climbing(4, Score, [3, 2, 1, 0], rng=np.random.default_rng(0))["evaluation"].order
    [0, 1, 2, 3]
    """
    check_number("max_iterations", max_iterations, low=0, integer=True)
    check_number("n_restarts", n_restarts, low=0, integer=True)
    if patience is not None:
        check_number("patience", patience, low=1, integer=True)
    generator = np.random.default_rng() if rng is None else rng
    patience = max(max_iterations, 1) if patience is None else patience
    known: dict[tuple[int, ...], Any] = {}

    def ask(order: list[int]) -> Any:
        key = tuple(order)
        if key not in known:
            known[key] = evaluate(order)
        return known[key]

    def record(iteration: int, swap: tuple[int, int] | None, ds: float, accepted: bool) -> None:
        values = (iteration, swap, ds, current.ds, best.ds, accepted, swap is None)
        history.append(dict(zip(RECORD, values, strict=True)))

    best = current = ask([int(feature) for feature in initial_order])
    history: list[dict[str, Any]] = []
    waiting: list[tuple[int, int]] = []
    stale = restarts = iteration = 0
    for iteration in progress_bar(range(1, max_iterations + 1), label=description if verbose else None):
        if n_features < 2:
            iteration = 0
            break
        if stale >= patience:
            if restarts >= n_restarts:
                iteration -= 1
                break
            restarts, stale = restarts + 1, 0
            current = ask(generator.permutation(n_features).tolist())
            best = current if current.ds > best.ds + MINIMUM_GAIN else best
            record(iteration - 1, None, current.ds, True)
        if not waiting:
            # No restart can fall among them, so drawing swaps ahead leaves the stream of random numbers as it is.
            ahead = min(patience - stale, max_iterations - iteration + 1, lookahead if prefetch else 1)
            waiting = [_draw(generator, n_features) for _ in range(ahead)]
            if prefetch:
                prefetch(_swapped(current.order, i, j) for i, j in waiting)
        swap = waiting.pop(0)
        candidate = ask(_swapped(current.order, *swap))
        gain = candidate.ds - current.ds
        improves = gain > MINIMUM_GAIN
        accepted = improves or (accept_equal and gain >= -MINIMUM_GAIN)
        stale = 0 if improves else stale + 1
        if accepted:
            current = candidate
            if prefetch and waiting:
                prefetch(_swapped(current.order, a, b) for a, b in waiting)
        best = current if current.ds > best.ds + MINIMUM_GAIN else best
        record(iteration, swap, candidate.ds, accepted)
    return {
        "evaluation": best,
        "history": history,
        "n_iterations": iteration,
        "n_restarts_used": restarts,
        "n_evaluations": len(known),
    }


def _draw(generator: np.random.Generator, n: int) -> tuple[int, int]:
    first, second = sorted(generator.choice(n, size=2, replace=False).tolist())
    return first, second


def _swapped(order: Sequence[int], i: int, j: int) -> list[int]:
    other = list(order)
    other[i], other[j] = other[j], other[i]
    return other
