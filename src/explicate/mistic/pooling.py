"""Refinement of a pool of feature sets: annealing for score, for different sets and for different predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import check_number
from explicate.mistic.refinement import Score, ScoreMemory, accept, check_schedule, check_start, propose


@dataclass(frozen=True, eq=False)
class PooledRefinement:
    """
    A pool of sets refined together for score and for diversity.

    Parameters
    ----------
    supports : ndarray of bool, shape (n_members, n_groups)
        The sets of the best pool.
    scores : ndarray of shape (n_members,)
        Score of each.
    objective, initial_objective : float
        Mean score plus weighted diversities, of the best pool and of the first.
    feature_diversity, prediction_diversity : float
        Mean Jaccard distance between the sets, and mean distance between predictions (NaN without `predict`).
    history : DataFrame
        One row per proposal: iteration, member, move, objective, best, temperature, accepted.
    n_evaluations : int
        Distinct sets scored.
    names : tuple
        Names of the groups.
    """

    supports: np.ndarray
    scores: np.ndarray
    objective: float
    initial_objective: float
    feature_diversity: float
    prediction_diversity: float
    history: pd.DataFrame
    n_evaluations: int
    names: tuple[object, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per member: its score, its size, and a boolean column per group."""
        sets = pd.DataFrame(self.supports, columns=[str(name) for name in self.names])
        return pd.concat([pd.DataFrame({"score": self.scores, "n_groups": self.supports.sum(axis=1)}), sets], axis=1)

    def metrics(self) -> dict[str, float]:
        """Return the objective and its parts as flat numbers."""
        return {
            "objective": self.objective,
            "initial_objective": self.initial_objective,
            "mean_score": float(self.scores.mean()),
            "feature_diversity": self.feature_diversity,
            "prediction_diversity": self.prediction_diversity,
            "n_evaluations": float(self.n_evaluations),
        }

    def summary(self) -> str:
        """Say in a sentence what the pool holds."""
        return (
            f"{len(self.supports)} sets of {self.supports.sum(axis=1).min()} to {self.supports.sum(axis=1).max()} "
            f"groups, mean score {self.scores.mean():.4f}, mean Jaccard distance {self.feature_diversity:.3f}; "
            f"objective {self.objective:.4f} (start {self.initial_objective:.4f})."
        )


def refine_pool(
    score: Score,
    initials: Any,
    *,
    predict: Callable[[np.ndarray], Any] | None = None,
    feature_diversity: float = 0.05,
    prediction_diversity: float = 0.05,
    ranking: Any = None,
    n_iterations: int = 400,
    patience: int = 100,
    temperature: float = 0.01,
    cooling: float = 0.98,
    min_groups: int = 1,
    max_groups: int | None = None,
    names: Sequence[object] | None = None,
    random_state: int | None = None,
) -> PooledRefinement:
    """
    Refine several sets together: mean score, plus weights times how much the sets and their predictions differ.

    Each proposal changes one member as `refine` does; the pool's objective decides.

    Parameters
    ----------
    score : callable
        As in `refine`.
    initials : array-like of bool, shape (n_members, n_groups)
        The pool to start from, two members or more.
    predict : callable, optional
        Takes a mask, returns predictions of shape (n_rows,) or (n_rows, k) on fixed rows: numbers are compared by half
        of one minus their correlation, labels by the share that differs.
    feature_diversity, prediction_diversity : float, default 0.05
        Weights of the mean pairwise Jaccard distance and of the mean pairwise prediction distance.
    ranking, n_iterations, patience, temperature, cooling, min_groups, max_groups, names, random_state
        As in `refine`.

    Returns
    -------
    PooledRefinement

    Raises
    ------
    ValueError
        When fewer than two members are given, or as `refine` does.

    Examples
    --------
    >>> pool = refine_pool(lambda mask: 1.0, [[True, False, False], [True, False, False]], random_state=0)
    >>> pool.feature_diversity
    1.0
    """
    members = np.array(initials, dtype=bool)
    if members.ndim != 2 or len(members) < 2:
        raise ValueError(f"initials has shape {members.shape}; give two masks or more, as (n_members, n_groups).")
    for row in members:
        _, ranks, labels, most = check_start(row, ranking, names, min_groups, max_groups)
    check_schedule(n_iterations, patience, temperature, cooling)
    for name, weight in (("feature_diversity", feature_diversity), ("prediction_diversity", prediction_diversity)):
        check_number(name, weight, low=0)
    rng, memory, seen = np.random.default_rng(random_state), ScoreMemory(score), {}

    def predictions(mask: np.ndarray) -> Any:
        key = mask.tobytes()
        if predict is not None and key not in seen:
            seen[key] = np.asarray(predict(mask.copy()))
        return seen.get(key)

    def judge(pool: np.ndarray) -> tuple[float, np.ndarray, float, float]:
        scores = np.array([memory(mask) for mask in pool])
        sets = _mean_pairwise(list(pool), jaccard_distance)
        votes = float("nan")
        if predict is not None:
            votes = _mean_pairwise([predictions(mask) for mask in pool], prediction_distance)
        value = scores.mean() + feature_diversity * sets + (prediction_diversity * votes if predict else 0.0)
        return float(value), scores, sets, votes

    pool, verdict = members, judge(members)
    first, best, best_verdict, since, records = verdict[0], pool, verdict, 0, []
    for iteration in range(n_iterations):
        which = int(rng.integers(len(pool)))
        changed, move = propose(pool[which], ranks, rng, min_groups, most)
        proposal = pool.copy()
        proposal[which] = changed
        trial, heat = judge(proposal), temperature * cooling**iteration
        accepted = accept(trial[0] - verdict[0], heat, rng)
        if accepted:
            pool, verdict = proposal, trial
        since += 1
        if trial[0] > best_verdict[0]:
            best, best_verdict, since = proposal, trial, 0
        records.append((iteration, which, move, trial[0], best_verdict[0], heat, accepted))
        if since >= patience:
            break
    columns = ["iteration", "member", "move", "objective", "best", "temperature", "accepted"]
    objective, scores, sets, votes = best_verdict
    history = pd.DataFrame(records, columns=columns)
    return PooledRefinement(best, scores, objective, first, sets, votes, history, len(memory.known), labels)


def jaccard_distance(a: np.ndarray, b: np.ndarray) -> float:
    """
    Return one minus shared over all members of two sets given as masks; two empty sets are at distance 0.

    Examples
    --------
    >>> import numpy as np
    >>> jaccard_distance(np.array([True, True]), np.array([True, False]))
    0.5
    """
    union = np.count_nonzero(a | b)
    return float(1.0 - np.count_nonzero(a & b) / union) if union else 0.0


def prediction_distance(a: np.ndarray, b: np.ndarray) -> float:
    """
    Return how much two predictions differ, in [0, 1]: (1 − correlation) / 2 for floats, share of unequal labels else.

    Examples
    --------
    >>> import numpy as np
    >>> prediction_distance(np.array(["a", "b"]), np.array(["a", "a"]))
    0.5
    """
    if a.dtype.kind != "f":
        return float(np.mean(a != b))
    x, y = a.ravel() - a.mean(), b.ravel() - b.mean()
    norm = float(np.sqrt((x @ x) * (y @ y)))
    if norm == 0:  # a constant prediction has no correlation: equal or not is all that can be said
        return float(not np.array_equal(a, b))
    return float(np.clip((1.0 - (x @ y) / norm) / 2, 0.0, 1.0))


def _mean_pairwise(items: list[Any], distance: Callable[[Any, Any], float]) -> float:
    return float(np.mean([distance(a, b) for i, a in enumerate(items) for b in items[:i]]))
