"""Stochastic refinement of a feature set: simulated annealing over sets of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import check_number

#: Score of a set of groups, from a boolean mask of shape (n_groups,); higher is better.
Score = Callable[[np.ndarray], float]


@dataclass(frozen=True, eq=False)
class Refinement:
    """
    The best set an annealing run met, and the way there.

    Parameters
    ----------
    support : ndarray of bool, shape (n_groups,)
        The best set.
    score, initial_score : float
        Its score, and that of the set the run started from.
    reserved_score, reserved_initial_score : float
        The same two on rows the search never saw; NaN when none were reserved.
    history : DataFrame
        One row per proposal: iteration, move, n_groups, score, best, temperature, accepted.
    n_evaluations : int
        Distinct sets that were scored (repeats come from memory).
    stopped : str
        ``"patience"`` or ``"iterations"``.
    names : tuple
        Names of the groups.
    """

    support: np.ndarray
    score: float
    initial_score: float
    reserved_score: float
    reserved_initial_score: float
    history: pd.DataFrame
    n_evaluations: int
    stopped: str
    names: tuple[object, ...]

    @property
    def selected(self) -> list[object]:
        """Names of the groups kept."""
        return [name for name, kept in zip(self.names, self.support, strict=True) if kept]

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the history, one row per proposal."""
        return self.history.copy()

    def metrics(self) -> dict[str, float]:
        """Return the scores and counts as flat numbers."""
        return {
            "score": self.score,
            "initial_score": self.initial_score,
            "reserved_score": self.reserved_score,
            "reserved_initial_score": self.reserved_initial_score,
            "n_groups": float(self.support.sum()),
            "n_evaluations": float(self.n_evaluations),
            "n_proposals": float(len(self.history)),
        }

    def summary(self) -> str:
        """Say in a sentence or two what the run found."""
        text = (
            f"{int(self.support.sum())} of {len(self.names)} groups, score {self.score:.4f} "
            f"(start {self.initial_score:.4f}); {self.n_evaluations} sets scored in {len(self.history)} proposals, "
            f"stopped by {self.stopped}."
        )
        if np.isfinite(self.reserved_score):
            text += f" On reserved rows {self.reserved_score:.4f} (start {self.reserved_initial_score:.4f})."
        return text


def refine(
    score: Score,
    initial: Any,
    *,
    ranking: Any = None,
    n_iterations: int = 200,
    patience: int = 50,
    temperature: float = 0.01,
    cooling: float = 0.97,
    min_groups: int = 1,
    max_groups: int | None = None,
    reserved: Score | None = None,
    names: Sequence[object] | None = None,
    random_state: int | None = None,
) -> Refinement:
    """
    Improve a set of groups by simulated annealing: add, remove or swap, weighted by rank.

    A proposal is accepted when it does not lower the score, else with probability exp(change / temperature); the
    temperature falls by `cooling` each time. Candidates to add are drawn in proportion to 1 / rank, candidates to
    leave in proportion to rank. The best set met (among equals the smaller) is what is returned.

    Parameters
    ----------
    score : callable
        Takes a boolean mask of shape (n_groups,), returns a float, higher is better; called once per distinct set.
    initial : array-like of bool, shape (n_groups,)
        Where the run starts.
    ranking : array-like of shape (n_groups,), optional
        Positive ranks, 1 the most important; default all equal.
    n_iterations, patience : int
        Proposals at most, and proposals without a new best after which the run stops.
    temperature : float, default 0.01
        First temperature, in units of the score.
    cooling : float, default 0.97
        Factor on the temperature per proposal, in (0, 1].
    min_groups, max_groups : int
        Sizes allowed; `max_groups` defaults to all.
    reserved : callable, optional
        Same signature as `score`, over rows the search never sees; called for the first and the best set alone.
    names : sequence, optional
        Group names; default 0, 1, …
    random_state : int, optional
        Seed.

    Returns
    -------
    Refinement

    Raises
    ------
    ValueError
        When `initial` or `ranking` does not fit, or `score` returns a value that is not finite.

    References
    ----------
    Kirkpatrick, Gelatt, Vecchi (1983), Optimization by simulated annealing, Science 220.

    Examples
    --------
    >>> import numpy as np
    >>> wanted = np.array([True, False, True, False])
    >>> run = refine(lambda mask: float((mask == wanted).mean()), [True, True, False, False], random_state=0)
    >>> run.selected, run.score
    ([0, 2], 1.0)
    """
    state, ranks, labels, most = check_start(initial, ranking, names, min_groups, max_groups)
    check_schedule(n_iterations, patience, temperature, cooling)
    rng, memory = np.random.default_rng(random_state), ScoreMemory(score)
    current = initial_score = best_score = memory(state)
    best, since, records = state, 0, []
    for iteration in range(n_iterations):
        proposal, move = propose(state, ranks, rng, min_groups, most)
        value, heat = memory(proposal), temperature * cooling**iteration
        accepted = accept(value - current, heat, rng)
        if accepted:
            state, current = proposal, value
        since += 1
        if value > best_score or (value == best_score and proposal.sum() < best.sum()):
            best, best_score, since = proposal, value, 0
        records.append((iteration, move, int(proposal.sum()), value, best_score, heat, accepted))
        if since >= patience:
            break
    columns = ["iteration", "move", "n_groups", "score", "best", "temperature", "accepted"]
    return Refinement(
        support=best,
        score=best_score,
        initial_score=initial_score,
        reserved_score=float("nan") if reserved is None else float(reserved(best.copy())),
        reserved_initial_score=float("nan") if reserved is None else float(reserved(np.array(initial, dtype=bool))),
        history=pd.DataFrame(records, columns=columns),
        n_evaluations=len(memory.known),
        stopped="patience" if since >= patience else "iterations",
        names=labels,
    )


class ScoreMemory:
    """
    A score that remembers the sets it has seen, and refuses values that are not finite.

    Parameters
    ----------
    score : callable
        Takes a boolean mask, returns a float.

    Examples
    --------
    >>> import numpy as np
    >>> memory = ScoreMemory(lambda mask: float(mask.sum()))
    >>> memory(np.array([True, False])), memory(np.array([True, False])), len(memory.known)
    (1.0, 1.0, 1)
    """

    def __init__(self, score: Score) -> None:
        self.score = score
        self.known: dict[bytes, float] = {}

    def __call__(self, mask: np.ndarray) -> float:
        """Return the score of `mask`, from memory when known; ValueError when it is not finite."""
        key = mask.tobytes()
        if key not in self.known:
            value = float(self.score(mask.copy()))
            if not np.isfinite(value):
                raise ValueError(
                    f"score returned {value} for the groups {np.flatnonzero(mask).tolist()}; "
                    "return a finite number for every set (check the scorer and the splits)."
                )
            self.known[key] = value
        return self.known[key]


def propose(
    mask: np.ndarray, ranks: np.ndarray, rng: np.random.Generator, fewest: int, most: int
) -> tuple[np.ndarray, str]:
    """
    Draw a neighbour of a set: one group more, one fewer, or one exchanged, within the sizes allowed.

    Examples
    --------
    >>> import numpy as np
    >>> changed, move = propose(np.array([True, False]), np.ones(2), np.random.default_rng(0), 1, 1)
    >>> changed.tolist(), move
    ([False, True], 'swap')
    """
    inside, outside = np.flatnonzero(mask), np.flatnonzero(~mask)
    moves = []
    if outside.size and inside.size < most:
        moves.append("add")
    if inside.size > fewest:
        moves.append("remove")
    if outside.size and inside.size:
        moves.append("swap")
    changed = mask.copy()
    if not moves:
        return changed, "none"
    move = moves[int(rng.integers(len(moves)))]
    if move != "add":
        leaving = ranks[inside]
        changed[rng.choice(inside, p=leaving / leaving.sum())] = False
    if move != "remove":
        entering = 1.0 / ranks[outside]
        changed[rng.choice(outside, p=entering / entering.sum())] = True
    return changed, move


def accept(change: float, heat: float, rng: np.random.Generator) -> bool:
    """Decide by Metropolis' rule whether a change of the objective is taken at a temperature."""
    draw = rng.random()  # always drawn, so that the stream does not depend on the scores
    return bool(change >= 0 or (heat > 0 and draw < np.exp(change / heat)))


def check_schedule(n_iterations: int, patience: int, temperature: float, cooling: float) -> None:
    """Raise ValueError naming the parameter of the annealing schedule that is out of range."""
    check_number("n_iterations", n_iterations, low=0, integer=True)
    check_number("patience", patience, low=1, integer=True)
    check_number("temperature", temperature, low=0)
    check_number("cooling", cooling, low=0, high=1, low_included=False)


def check_start(
    initial: Any, ranking: Any, names: Sequence[object] | None, fewest: int, most: int | None
) -> tuple[np.ndarray, np.ndarray, tuple[object, ...], int]:
    """Return the first mask, the ranks, the names and the greatest size, checked."""
    state = np.array(initial)
    if state.ndim != 1 or state.dtype != bool:
        raise ValueError(f"initial has shape {state.shape} and dtype {state.dtype}; give a 1-d mask of booleans.")
    labels = tuple(range(state.size)) if names is None else tuple(names)
    if len(labels) != state.size:
        raise ValueError(f"names has {len(labels)} entries for {state.size} groups; give one per group.")
    ranks = np.ones(state.size) if ranking is None else np.asarray(ranking, dtype=np.float64)
    if ranks.shape != state.shape or not (np.isfinite(ranks).all() and (ranks > 0).all()):
        raise ValueError(f"ranking must hold {state.size} positive ranks (1 the most important); got {ranking!r}.")
    check_number("min_groups", fewest, low=1, high=state.size, integer=True)
    largest = state.size if most is None else most
    check_number("max_groups", largest, low=fewest, high=state.size, integer=True)
    if not fewest <= state.sum() <= largest:
        raise ValueError(f"initial holds {state.sum()} groups; start between min_groups={fewest} and {largest}.")
    return state, ranks, labels, largest
