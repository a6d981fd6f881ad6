"""Compiled enumeration: walk trees once per instance, list the triples, merge equal ones."""

from __future__ import annotations

import numpy as np
from numba import njit

from explicate.sofi.mixtures_walk_kernels import goes_left, partition


@njit(cache=True, nogil=True)
def hash_of(keys: np.ndarray, at: int, output: int) -> np.uint64:
    """Mix the words of one key into 64 bits."""
    mixed = np.uint64(output) * np.uint64(0xD6E8FEB86659FD93)
    for k in range(keys.shape[1]):
        mixed ^= keys[at, k]
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(32))


@njit(cache=True, nogil=True)
def find_slot(slots: np.ndarray, keys: np.ndarray, outputs: np.ndarray, first: int, at: int) -> int:
    """Return the slot that holds the key stored at `at`, or the free slot it belongs to."""
    last = np.uint64(slots.size - 1)
    slot = hash_of(keys, at, outputs[at]) & last
    while True:
        held = slots[slot]
        if held < 0:
            return slot
        other = first + held
        same = outputs[other] == outputs[at]
        for k in range(keys.shape[1]):
            same = same and keys[other, k] == keys[at, k]
        if same:
            return slot
        slot = (slot + np.uint64(1)) & last


@njit(cache=True, nogil=True)
def walk_row(
    row: int,
    trees: tuple[np.ndarray, ...],
    values: np.ndarray,
    outputs_of_tree: np.ndarray,
    x: np.ndarray,
    b: np.ndarray,
    logical: np.ndarray,
    value_column: int,
    per_pair: bool,
    scale: float,
    stacks: tuple[np.ndarray, np.ndarray],
    counts: np.ndarray,
    keys: np.ndarray,
    outputs: np.ndarray,
    weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    List the triples of one instance, per background row when `per_pair`, else with those of all rows together.

    List g holds ``counts[g]`` entries of ``keys[g], outputs[g], weights[g]``, which are returned since they may grow.
    """
    roots, feature, threshold, left, right, missing_left = trees
    stack, stack_mask = stacks
    n_lists, capacity, width = keys.shape
    n_words = width // 2
    of_b = np.arange(b.shape[0])
    mask = np.empty(width, dtype=np.uint64)
    counts[:] = 0
    for tree in range(roots.size):  # the nodes of a tree stay in cache
        stack[0, 0], stack[0, 1], stack[0, 2] = roots[tree], 0, b.shape[0]
        stack_mask[0, :] = np.uint64(0)
        top = 1
        while top > 0:
            top -= 1
            node, start, stop = stack[top, 0], stack[top, 1], stack[top, 2]
            for k in range(width):
                mask[k] = stack_mask[top, k]
            while left[node] >= 0:
                c = feature[node]
                f = logical[c]
                word = f >> 6
                bit = np.uint64(1) << np.uint64(f & 63)
                go = goes_left(x[row, c], node, threshold, missing_left)
                if f < 0 or mask[word] & bit != np.uint64(0):
                    node = left[node] if go else right[node]
                    continue
                if stop - start == 1:
                    middle = stop if goes_left(b[of_b[start], c], node, threshold, missing_left) else start
                else:
                    middle = partition(of_b, start, stop, b, c, node, threshold, missing_left)
                if mask[n_words + word] & bit != np.uint64(0):  # marginalised: each background row its own way
                    if start < middle < stop:
                        stack[top, 0], stack[top, 1], stack[top, 2] = right[node], middle, stop
                        for k in range(width):
                            stack_mask[top, k] = mask[k]
                        top += 1
                        stop = middle
                    node = left[node] if start < middle else right[node]
                    continue
                part_start, part_stop = (middle, stop) if go else (start, middle)
                near, far = (left[node], right[node]) if go else (right[node], left[node])
                if part_start < part_stop:  # these part from the instance here: note it, both ways
                    whole = part_stop - part_start == stop - start
                    for way in range(1 if whole else 2):
                        stack[top, 0] = near if way else far
                        stack[top, 1], stack[top, 2] = part_start, part_stop
                        for k in range(width):
                            stack_mask[top, k] = mask[k]
                        stack_mask[top, word if way else n_words + word] |= bit
                        top += 1
                    if whole:
                        mask[word] |= bit
                    else:
                        start, stop = (start, middle) if go else (middle, stop)
                node = near
            weight = values[node, value_column] * scale
            if weight == 0.0:
                continue
            for member in range(start, stop if per_pair else start + 1):
                group = of_b[member] if per_pair else 0
                at = counts[group]
                if at == capacity:
                    capacity *= 2
                    more_keys = np.empty((n_lists, capacity, width), dtype=np.uint64)
                    more_keys[:, :at] = keys
                    more_outputs = np.empty((n_lists, capacity), dtype=np.int32)
                    more_outputs[:, :at] = outputs
                    more_weights = np.empty((n_lists, capacity), dtype=np.float64)
                    more_weights[:, :at] = weights
                    keys, outputs, weights = more_keys, more_outputs, more_weights
                for k in range(width):
                    keys[group, at, k] = mask[k]
                outputs[group, at] = outputs_of_tree[tree]
                weights[group, at] = weight if per_pair else weight * (stop - start)
                counts[group] = at + 1
    return keys, outputs, weights


@njit(cache=True, nogil=True)
def merge_list(slots: np.ndarray, count: int, keys: np.ndarray, outputs: np.ndarray, weights: np.ndarray) -> int:
    """Merge equal keys among the first `count` triples in place; return how many stay."""
    last = 1024
    while last < 2 * count:
        last *= 2
    used = slots[:last]
    used[:] = -1
    kept = 0
    for at in range(count):
        for k in range(keys.shape[1]):
            keys[kept, k] = keys[at, k]
        outputs[kept] = outputs[at]
        weight = weights[at]
        slot = find_slot(used, keys, outputs, 0, kept)
        if used[slot] >= 0:
            weights[used[slot]] += weight
        else:
            used[slot] = kept
            weights[kept] = weight
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def enumerate_groups(
    trees: tuple[np.ndarray, ...],
    values: np.ndarray,
    outputs_of_tree: np.ndarray,
    x: np.ndarray,
    b: np.ndarray,
    logical: np.ndarray,
    column: np.ndarray,
    per_pair: bool,
    n_words: int,
    depth: int,
    scale: float,
) -> tuple[np.ndarray, ...]:
    """
    Enumerate and merge the mixtures of every row of `x` (times every row of `b` when `per_pair`).

    Returns ``offsets, keys, outputs, weights``: group g holds the triples offsets[g] … offsets[g+1]; a key is the
    mask of features that must be kept followed by the mask of features that must be marginalised.
    """
    n_lists = b.shape[0] if per_pair else 1
    width = 2 * n_words
    offsets = np.zeros(x.shape[0] * n_lists + 1, dtype=np.int64)
    stacks = (np.empty((2 * depth + 1, 3), dtype=np.int64), np.empty((2 * depth + 1, width), dtype=np.uint64))
    counts = np.zeros(n_lists, dtype=np.int64)
    list_keys = np.empty((n_lists, 1024, width), dtype=np.uint64)
    list_outputs = np.empty((n_lists, 1024), dtype=np.int32)
    list_weights = np.empty((n_lists, 1024), dtype=np.float64)
    slots = np.empty(1024, dtype=np.int64)
    keys = np.empty((4096, width), dtype=np.uint64)
    outputs = np.empty(4096, dtype=np.int32)
    weights = np.empty(4096, dtype=np.float64)
    total = 0
    for row in range(x.shape[0]):
        list_keys, list_outputs, list_weights = walk_row(
            row, trees, values, outputs_of_tree, x, b, logical, column[row], per_pair, scale, stacks, counts,
            list_keys, list_outputs, list_weights,
        )  # fmt: skip
        if slots.size < 4 * list_weights.shape[1]:
            slots = np.empty(4 * list_weights.shape[1], dtype=np.int64)
        for group in range(n_lists):
            count = merge_list(slots, counts[group], list_keys[group], list_outputs[group], list_weights[group])
            if total + count > weights.size:
                room = 2 * (total + count)
                more_keys = np.empty((room, width), dtype=np.uint64)
                more_keys[:total] = keys[:total]
                more_outputs = np.empty(room, dtype=np.int32)
                more_outputs[:total] = outputs[:total]
                more_weights = np.empty(room, dtype=np.float64)
                more_weights[:total] = weights[:total]
                keys, outputs, weights = more_keys, more_outputs, more_weights
            keys[total : total + count] = list_keys[group, :count]
            outputs[total : total + count] = list_outputs[group, :count]
            weights[total : total + count] = list_weights[group, :count]
            total += count
            offsets[row * n_lists + group + 1] = total
    return offsets, keys[:total].copy(), outputs[:total].copy(), weights[:total].copy()


@njit(cache=True, nogil=True)
def merge_into(
    slots: np.ndarray,
    keys: np.ndarray,
    outputs: np.ndarray,
    weights: np.ndarray,
    count: int,
    more_keys: np.ndarray,
    more_weights: np.ndarray,
) -> int:
    """Merge triples into the first `count` entries of roomy arrays; return the new count."""
    for at in range(more_weights.size):
        for k in range(keys.shape[1]):
            keys[count, k] = more_keys[at, k]
        slot = find_slot(slots, keys, outputs, 0, count)
        if slots[slot] >= 0:
            weights[slots[slot]] += more_weights[at]
        else:
            slots[slot] = count
            weights[count] = more_weights[at]
            count += 1
    return count


@njit(cache=True, nogil=True)
def fill_slots(slots: np.ndarray, keys: np.ndarray, outputs: np.ndarray, count: int) -> None:
    """Place the first `count` distinct keys into an empty slot table."""
    for at in range(count):
        slots[find_slot(slots, keys, outputs, 0, at)] = at
