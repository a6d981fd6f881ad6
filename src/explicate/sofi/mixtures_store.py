"""Where the triples of a compiled response are kept: block by block, whole, merged over instances, in buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from explicate.sofi import mixtures_enumeration_kernels as kernels

#: Offsets of groups, keys (mask of kept features, then of marginalised ones), outputs, weights.
Triples = tuple[np.ndarray, ...]
#: Bytes of triples enumerated at a time.
BLOCK_BYTES = 64e6


def in_blocks(enumerate_rows: Callable[[slice], Triples], n_rows: int) -> Iterator[tuple[slice, Triples]]:
    """Enumerate blocks of instances whose triples take about `BLOCK_BYTES`, by the size of the last block."""
    start, step = 0, 4
    while start < n_rows:
        rows = slice(start, min(start + step, n_rows))
        groups = enumerate_rows(rows)
        yield rows, groups
        per_row = _bytes(groups) / (rows.stop - rows.start)
        start, step = rows.stop, max(1, min(4 * step, int(BLOCK_BYTES // max(per_row, 1.0))))


def keep(blocks: Iterator[tuple[slice, Triples]], n_rows: int, max_bytes: float) -> Triples | None:
    """Return the triples of every group, or None when they would not fit."""
    parts: list[Triples] = []
    taken = 0.0
    for rows, groups in blocks:
        parts.append(groups)
        taken += _bytes(groups)
        if 2 * taken * n_rows / rows.stop > max_bytes:  # twice: parts and their concatenation
            return None
    if len(parts) == 1:
        return parts[0]
    shifts = np.cumsum([0] + [part[0][-1] for part in parts[:-1]])
    offsets = np.concatenate([[0]] + [part[0][1:] + shift for part, shift in zip(parts, shifts, strict=True)])
    return (offsets, *(np.concatenate([part[k] for part in parts]) for k in (1, 2, 3)))


def merge(blocks: Iterator[tuple[slice, Triples]], n_rows: int, n_words: int, max_bytes: float) -> Triples | None:
    """Merge linear triples over instances into one group of their mean, or None when they would not fit."""
    width = 2 * n_words
    count, room = 0, 0
    keys, outputs, weights = np.empty((0, width), np.uint64), np.zeros(0, np.int32), np.empty(0)
    slots = np.full(1, -1, np.int64)
    for rows, (_, more_keys, _, more_weights) in blocks:
        needed = count + len(more_weights) + 1
        if needed > room:
            room = max(needed, int(1.5 * room))
            n_slots = 1 << int(np.ceil(np.log2(1.5 * room)))
            if 2.5 * room * (8 * width + 12) + 8 * n_slots > max_bytes:
                return None
            keys, outputs, weights = _roomy(keys, count, room), np.zeros(room, np.int32), _roomy(weights, count, room)
            slots = np.full(n_slots, -1, np.int64)
            kernels.fill_slots(slots, keys, outputs, count)
        count = kernels.merge_into(slots, keys, outputs, weights, count, more_keys, more_weights)
        # Distinct triples grow faster than the square root of the instances: give up before the work, not after.
        if 2.5 * (8 * width + 12) * count * (n_rows / rows.stop) ** 0.5 > max_bytes:
            return None
    offsets = np.array([0, count], dtype=np.int64)
    return offsets, keys[:count].copy(), outputs[:count], weights[:count] / n_rows


def bucket(merged: Triples, n_words: int) -> tuple[np.ndarray, ...]:
    """Sort merged triples by what they keep: starts of equal runs, kept masks, marginalised masks, weights."""
    _, keys, _, weights = merged
    order = np.lexsort(keys[:, :n_words].T)
    kept = keys[order, :n_words]
    starts = np.flatnonzero(np.append(True, (kept[1:] != kept[:-1]).any(axis=1)))[: len(kept)]
    gone = np.ascontiguousarray(keys[order, n_words:])
    return np.append(starts, len(kept)), np.ascontiguousarray(kept[starts]), gone, weights[order]


def _roomy(array: np.ndarray, count: int, room: int) -> np.ndarray:
    larger = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    larger[:count] = array[:count]
    return larger


def _bytes(groups: tuple[np.ndarray, ...]) -> float:
    return float(sum(array.nbytes for array in groups))
