"""Criteria of a frozen machine, one number per group: what `perturbation` shows and `ranking` orders by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explicate.mistic.freezing import FrozenMachine, group_sizes


def exact_dual(
    machine: FrozenMachine,
    groups: Sequence[np.ndarray],
    direction: str,
    normalization: str,
    *,
    one_class: bool = False,
) -> np.ndarray:
    """Return ½ βᵀ (K_with − K_without) β / s_g per group, summed over machines; for one class its absolute value."""
    change = machine.dual_changes(groups, direction).sum(axis=1)
    if one_class:
        change = np.abs(change)
    elif direction == "forward":
        change = -change
    return change / group_sizes(groups, normalization)


def mass_proxy(machine: FrozenMachine, groups: Sequence[np.ndarray], direction: str, normalization: str) -> np.ndarray:
    """Return M_g per group."""
    scale = -(machine.beta**2).sum() / 2
    return scale * machine.mass_changes(groups, direction) / group_sizes(groups, normalization)


def recalibrated_coverage(
    machine: FrozenMachine,
    rows: np.ndarray,
    reference: np.ndarray,
    groups: Sequence[np.ndarray],
    direction: str,
    nu: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return per group the share of `rows` inside after the offset is set on `reference`, and the change of spread."""
    used = machine.active

    def values(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kernel = machine.kernel.matrix(X[:, used], machine.support_vectors[:, used])
        whole = kernel @ machine.beta[0]
        return whole, whole - machine.decision_changes(X, groups, direction)[:, :, 0]

    before, changed = values(rows)
    held = changed if reference is rows else values(reference)[1]
    outside = min(int(nu * held.shape[1] + 1e-9), held.shape[1] - 1)
    offset = np.partition(held, outside, axis=1)[:, [outside]]
    coverage = (changed >= offset - 1e-12).mean(axis=1)
    return coverage, np.abs(before.std() - changed.std(axis=1))
