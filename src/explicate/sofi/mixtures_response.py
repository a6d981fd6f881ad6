"""The response of a compiled tree ensemble: single sets, one instance at a time, or all subsets at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from explicate.core.parallel import row_blocks
from explicate.sofi import mixtures_enumeration_kernels as enumeration
from explicate.sofi import mixtures_kernels as kernels
from explicate.sofi import mixtures_table_kernels as tables
from explicate.sofi import mixtures_walk_kernels as walks
from explicate.sofi.mixtures_store import BLOCK_BYTES, Triples, bucket, in_blocks, keep, merge

#: Most features a table of all subsets may have: 2**30 numbers are 8.6 GB.
MOST_TABLE_FEATURES = 30
#: Nominal seconds of the inner loops, for predictions that do not depend on the clock: one triple checked, one
#: entry added in a transform, one link applied, one level of one tree walked or enumerated for one mixture.
CHECK, ADD, LINK, VISIT, ENUMERATE = 1e-9, 0.5e-9, 6e-9, 0.25e-9, 1e-7


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledResponse:
    """
    The response of a tree ensemble to marginalised features, read off its trees.

    Classification: the probability of the class predicted before any perturbation. Regression: minus the absolute
    deviation from the unperturbed estimate. Both are averaged over the background rows of an instance, then over
    instances. Built by `compile_response`.

    Attributes
    ----------
    trees : tuple of ndarray
        Roots, split columns, thresholds, left and right children, and where NaN goes.
    values : ndarray of shape (n_nodes, n_value_columns), dtype float64
    outputs_of_tree : ndarray of shape (n_trees,), dtype int32
    x, b : ndarray of shape (n_rows, n_columns) and (n_background, n_columns), dtype float64
        Encoded instances and background rows.
    logical : ndarray of shape (n_columns,), dtype int64
        Feature each encoded column belongs to; -1 for a column that is never marginalised.
    column : ndarray of shape (n_rows,), dtype int64
        Column of `values` that each instance reads.
    target : ndarray of shape (n_rows,), dtype float64
        Position of the class predicted before perturbation, or the unperturbed estimate.
    link : int
        As in `explicate.sofi.mixtures_kernels`.
    base : ndarray of shape (n_outputs,), dtype float64
    scale : float
        Factor of every leaf: one over the number of trees when they are averaged.
    regression : bool
    n_features : int
        Number of logical features.
    depth : int
        Nodes on the longest path of a tree.
    max_bytes : float
        Memory that stored triples may take; beyond it they are enumerated anew or the trees are walked.
    """

    trees: tuple[np.ndarray, ...]
    values: np.ndarray
    outputs_of_tree: np.ndarray
    x: np.ndarray
    b: np.ndarray
    logical: np.ndarray
    column: np.ndarray
    target: np.ndarray
    link: int
    base: np.ndarray
    scale: float
    regression: bool
    n_features: int
    depth: int
    max_bytes: float

    @property
    def n_rows(self) -> int:
        """Number of instances."""
        return len(self.x)

    @property
    def linear(self) -> bool:
        """Whether the response is a sum over leaves, so that triples merge over instances and background rows."""
        return self.link == kernels.LINEAR

    @property
    def n_words(self) -> int:
        """Number of 64-bit words of a mask."""
        return max(1, -(-self.n_features // 64))

    @property
    def n_triples(self) -> int:
        """Number of merged triples in store (0 when they do not fit `max_bytes`)."""
        store = self._merged if self.linear else self._stored
        return 0 if store is None else len(store[3])

    def only(self, rows: Any) -> CompiledResponse:
        """
        Return the compiled response of some instances; nothing is enumerated or checked again.

        Parameters
        ----------
        rows : int, slice, or array-like
            Positions of the instances.
        """
        chosen = np.atleast_1d(np.arange(self.n_rows)[rows])
        return dataclasses.replace(self, x=self.x[chosen], column=self.column[chosen], target=self.target[chosen])

    def __call__(self, sets: np.ndarray) -> np.ndarray:
        """
        Return the mean response for each set of marginalised features.

        Parameters
        ----------
        sets : ndarray of shape (n_sets, n_features), dtype bool
            True where a feature is marginalised.

        Returns
        -------
        ndarray of shape (n_sets,), dtype float64
        """
        sets = self._check(sets)
        if self.linear and self._merged is not None:
            return kernels.evaluate_buckets(*self._buckets, _words(sets))
        if self.linear:
            return self._walk_together(sets)
        blocks = row_blocks(len(sets), 8.0 * self.n_rows, BLOCK_BYTES)
        return np.concatenate([self.per_row(sets[block]).mean(axis=1) for block in blocks] or [np.zeros(0)])

    def _walk_together(self, sets: np.ndarray) -> np.ndarray:
        """Return the mean linear response by walking the trees for 64 sets at a time."""
        known = self.logical >= 0
        means = []
        for some in row_blocks(len(sets), 1.0, 64.0):
            swapped = np.zeros((self.x.shape[1], some.stop - some.start), dtype=bool)
            swapped[known] = sets[some][:, self.logical[known]].T
            means.append(
                walks.traverse_linear(
                    self.trees, self.values, self.x, self.b, self.column, _words(swapped)[:, 0],
                    swapped.shape[1], self.depth, self.scale,
                )
            )  # fmt: skip
        return np.concatenate(means or [np.zeros(0)]) + self.base[0]

    def per_row(self, sets: np.ndarray) -> np.ndarray:
        """
        Return the response of each instance for each set of marginalised features.

        Parameters
        ----------
        sets : ndarray of shape (n_sets, n_features), dtype bool

        Returns
        -------
        ndarray of shape (n_sets, n_rows), dtype float64
        """
        sets = self._check(sets)
        if self._walks(len(sets)):
            swapped = np.zeros((len(sets), self.x.shape[1]), dtype=bool)
            known = self.logical >= 0
            swapped[:, known] = sets[:, self.logical[known]]
            return walks.traverse(
                self.trees, self.values, self.outputs_of_tree, self.x, self.b, self.column, swapped,
                self.depth, self.scale, self.link, self.base, self.target, self.regression,
            )  # fmt: skip
        words = _words(sets)
        result = np.empty((len(sets), self.n_rows))
        for rows, groups in self._groups():
            result[:, rows] = kernels.evaluate(
                *groups, words, self._groups_per_row, self.link, self.base, self.target[rows], self.regression
            )
        return result

    def table(self, out: np.ndarray | None = None) -> np.ndarray:
        """
        Return the mean response of all 2**n sets; bit i of an index says that feature i is marginalised.

        Parameters
        ----------
        out : ndarray of shape (2**n_features,), dtype float64, optional
            Overwritten and returned; worth passing when many tables are made in turn.

        Returns
        -------
        ndarray of shape (2**n_features,), dtype float64

        Raises
        ------
        ValueError
            When there are more than 30 features.
        """
        n = self.n_features
        if n > MOST_TABLE_FEATURES:
            raise ValueError(
                f"n_features={n} is too many for a table of all subsets; use at most {MOST_TABLE_FEATURES}."
            )
        total = np.zeros(2**n) if out is None else out
        total[:] = 0.0
        if self.linear:
            self._linear_table(total)
        else:
            for rows, groups in self._groups():
                tables.add_tables(
                    *groups, n, self._groups_per_row, self.link, self.base, self.target[rows], self.regression, total
                )
            total /= self.n_rows
        return total

    def _linear_table(self, total: np.ndarray) -> None:
        """Expand the triples over S, over its complement, or each over its cheaper side; then sum over subsets."""
        blocks, divisor = (self._groups(), self.n_rows) if self._merged is None else (iter([(None, self._merged)]), 1)
        sides, mirrored = 2, total
        if self._merged is not None:
            _, keys, _, weights = self._merged
            sides = tables.best_sides(keys[:, 0], keys[:, 1], 0, len(weights), self.n_features)
        if sides == 2:
            mirrored = np.zeros_like(total)
        for _, (_, keys, _, weights) in blocks:
            tables.expand(keys[:, 0], keys[:, 1], weights, 0, len(weights), total, mirrored, sides)
        tables.subset_sums(total)
        if sides == 1:
            total[:] = total[::-1].copy()
        elif sides == 2:
            tables.subset_sums(mirrored)
            tables.add_complement(total, mirrored)
        if divisor > 1:
            total /= divisor

    def bytes_for_table(self) -> float:
        """Return the memory `table` takes at its peak, in bytes, triples in store not counted."""
        n_tables = 2 if self.linear else 2 + len(self.base)
        return 8.0 * n_tables * 2.0**self.n_features

    def table_seconds(self) -> float:
        """Return the predicted time of `table` in seconds, from counts and nominal speeds (not from a clock)."""
        n = self.n_features
        size = 2.0**n
        if self.linear:
            return self._enumeration_seconds + 2 * n * size * ADD
        per_group = size * (len(self.base) * n * ADD + LINK)
        return self._enumeration_seconds + self.n_rows * len(self.b) * per_group

    def set_seconds(self) -> float:
        """Return the predicted time of one set on its own in seconds, once triples are in store."""
        if not self.linear or self._merged is None:
            return self._walk_seconds
        return len(self._merged[3]) * CHECK

    @property
    def _groups_per_row(self) -> int:
        """A linear response merges over the background; any other needs each mixture on its own."""
        return 1 if self.linear else len(self.b)

    @property
    def _walk_seconds(self) -> float:
        return self.n_rows * len(self.b) * len(self.trees[0]) * self.depth * VISIT

    @property
    def _enumeration_seconds(self) -> float:
        return self.n_rows * len(self.b) * len(self.trees[0]) * self.depth * ENUMERATE

    def _walks(self, n_sets: int) -> bool:
        """Whether walking the trees costs less than triples: few sets that do not merge, or no room to store."""
        if not self.linear and n_sets < 4:
            return True
        return self._stored is None and n_sets * self._walk_seconds < self._enumeration_seconds

    def _check(self, sets: np.ndarray) -> np.ndarray:
        sets = np.asarray(sets)
        if sets.ndim != 2 or sets.shape[1] != self.n_features or sets.dtype != bool:
            raise ValueError(
                f"sets has shape {sets.shape} and dtype {sets.dtype}; "
                f"give booleans of shape (n_sets, {self.n_features})."
            )
        return sets

    def _enumerate(self, rows: slice) -> Triples:
        return enumeration.enumerate_groups(
            self.trees, self.values, self.outputs_of_tree, self.x[rows], self.b, self.logical, self.column[rows],
            not self.linear, self.n_words, self.depth, self.scale / (len(self.b) if self.linear else 1),
        )  # fmt: skip

    def _groups(self) -> Iterator[tuple[slice, Triples]]:
        """Return what is in store already, else enumerate block by block without keeping."""
        stored = self.__dict__.get("_stored")
        return in_blocks(self._enumerate, self.n_rows) if stored is None else iter([(slice(0, self.n_rows), stored)])

    @cached_property
    def _stored(self) -> Triples | None:
        """Triples of every group, or None when they would not fit."""
        return keep(in_blocks(self._enumerate, self.n_rows), self.n_rows, self.max_bytes)

    @cached_property
    def _merged(self) -> Triples | None:
        """Triples of the mean response over all instances as one group, or None when they would not fit."""
        if self.n_rows == 1:
            return self._enumerate(slice(0, 1))
        return merge(in_blocks(self._enumerate, self.n_rows), self.n_rows, self.n_words, self.max_bytes)

    @cached_property
    def _buckets(self) -> tuple[np.ndarray, ...]:
        assert self._merged is not None
        return bucket(self._merged, self.n_words)


def _words(sets: np.ndarray) -> np.ndarray:
    """Pack booleans (n_sets, n_features) into masks (n_sets, n_words): feature i is bit i % 64 of word i // 64."""
    n_words = max(1, -(-sets.shape[1] // 64))
    packed = np.zeros((len(sets), 8 * n_words), dtype=np.uint8)
    bits = np.packbits(sets, axis=1, bitorder="little")
    packed[:, : bits.shape[1]] = bits
    return packed.view("<u8").astype(np.uint64)
