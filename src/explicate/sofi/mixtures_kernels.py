"""Compiled loops over tree mixtures: enumerate them, evaluate sets of features, tabulate all subsets."""

from __future__ import annotations

import numpy as np
from numba import njit

#: What turns the summed leaves of one mixture into its response (see `link_value`).
LINEAR, IDENTITY, EXPONENTIAL, SIGMOID, SOFTMAX = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)
def goes_left(value: float, node: int, threshold: np.ndarray, missing_left: np.ndarray) -> bool:
    """Return whether `value` takes the left branch of `node`."""
    if value != value:
        return missing_left[node]
    return value <= threshold[node]


@njit(cache=True, nogil=True)
def depth_of(roots: np.ndarray, left: np.ndarray, right: np.ndarray) -> int:
    """Return the number of nodes on the longest path from a root to a leaf."""
    level = np.zeros(left.size, dtype=np.int64)
    stack = np.empty(left.size + 1, dtype=np.int64)
    deepest = 1
    for root in roots:
        level[root] = 1
        stack[0] = root
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            deepest = max(deepest, level[node])
            if left[node] >= 0:
                for child in (left[node], right[node]):
                    level[child] = level[node] + 1
                    stack[top] = child
                    top += 1
    return deepest


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
def partition(
    members: np.ndarray,
    start: int,
    stop: int,
    rows: np.ndarray,
    column: int,
    node: int,
    threshold: np.ndarray,
    missing_left: np.ndarray,
) -> int:
    """Move the members that go left at `node` to the front of members[start:stop]; return where the others begin."""
    while start < stop:
        member = members[start]
        if goes_left(rows[member, column], node, threshold, missing_left):
            start += 1
        else:
            stop -= 1
            members[start] = members[stop]
            members[stop] = member
    return start


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


@njit(cache=True, nogil=True)
def link_value(link: int, margins: np.ndarray, base: np.ndarray, target: float, regression: bool) -> float:
    """Turn the margins of one mixture into its response; `target` is the class, or the unperturbed estimate."""
    if link == LINEAR:
        return margins[0] + base[0]
    if link == SOFTMAX:
        highest = -np.inf
        for k in range(margins.size):
            highest = max(highest, margins[k] + base[k])
        total = 0.0
        for k in range(margins.size):
            total += np.exp(margins[k] + base[k] - highest)
        return np.exp(margins[int(target)] + base[int(target)] - highest) / total
    value = margins[0] + base[0]
    if link == SIGMOID:
        return 1.0 / (1.0 + np.exp(-value)) if target > 0 else 1.0 / (1.0 + np.exp(value))
    if link == EXPONENTIAL:
        value = np.exp(value)
    return -abs(value - target) if regression else value


@njit(cache=True, nogil=True)
def evaluate(
    offsets: np.ndarray,
    keys: np.ndarray,
    outputs: np.ndarray,
    weights: np.ndarray,
    sets: np.ndarray,
    n_b: int,
    link: int,
    base: np.ndarray,
    target: np.ndarray,
    regression: bool,
) -> np.ndarray:
    """
    Return the response of every row for every set, shape (n_sets, n_rows).

    `n_b` groups per row are averaged after the link (one when the response is linear and already merged).
    """
    n_sets, n_words = sets.shape
    n_rows = (offsets.size - 1) // n_b
    result = np.zeros((n_sets, n_rows))
    margins = np.zeros(base.size)
    batch = 64
    sums = np.empty((base.size, batch))
    inside, outside = np.empty(batch, dtype=np.uint64), np.empty(batch, dtype=np.uint64)
    clash = np.empty(batch, dtype=np.uint64)
    for first in range(0, n_sets, batch):
        size = min(batch, n_sets - first)
        for s in range(size):
            inside[s], outside[s] = sets[first + s, 0], ~sets[first + s, 0]
        for group in range(offsets.size - 1):
            row = group // n_b
            sums[:] = 0.0
            for at in range(offsets[group], offsets[group + 1]):
                weight, into = weights[at], sums[outputs[at]]
                if n_words == 1:  # without a branch, so that several sets go at once
                    kept, gone = keys[at, 0], keys[at, 1]
                    for s in range(size):
                        into[s] += weight if (kept & inside[s]) | (gone & outside[s]) == np.uint64(0) else 0.0
                    continue
                clash[:size] = np.uint64(0)
                for k in range(n_words):
                    kept, gone = keys[at, k], keys[at, n_words + k]
                    if kept | gone != np.uint64(0):
                        for s in range(size):
                            clash[s] |= (kept & sets[first + s, k]) | (gone & ~sets[first + s, k])
                for s in range(size):
                    into[s] += weight if clash[s] == np.uint64(0) else 0.0
            for s in range(size):
                for k in range(base.size):
                    margins[k] = sums[k, s]
                result[first + s, row] += link_value(link, margins, base, target[row], regression)
    return result / n_b


@njit(cache=True, nogil=True)
def evaluate_buckets(
    starts: np.ndarray, kept: np.ndarray, gone: np.ndarray, weights: np.ndarray, sets: np.ndarray
) -> np.ndarray:
    """
    Return the summed weights of the active triples of every set, shape (n_sets,).

    Bucket g holds the triples starts[g] … starts[g+1], which share the mask kept[g]: most buckets fall at once.
    """
    n_sets, n_words = sets.shape
    result = np.zeros(n_sets)
    for s in range(n_sets):
        inside, outside = sets[s, 0], ~sets[s, 0]
        total = 0.0
        for bucket in range(starts.size - 1):
            clash = kept[bucket, 0] & inside
            for k in range(1, n_words):
                clash |= kept[bucket, k] & sets[s, k]
            if clash != np.uint64(0):
                continue
            for at in range(starts[bucket], starts[bucket + 1]):
                clash = gone[at, 0] & outside
                for k in range(1, n_words):
                    clash |= gone[at, k] & ~sets[s, k]
                if clash == np.uint64(0):
                    total += weights[at]
        result[s] = total
    return result


@njit(cache=True, nogil=True)
def traverse(
    trees: tuple[np.ndarray, ...],
    values: np.ndarray,
    outputs_of_tree: np.ndarray,
    x: np.ndarray,
    b: np.ndarray,
    column: np.ndarray,
    swapped: np.ndarray,
    depth: int,
    scale: float,
    link: int,
    base: np.ndarray,
    target: np.ndarray,
    regression: bool,
) -> np.ndarray:
    """
    Return what `evaluate` returns by walking the trees for every set; `swapped` is (n_sets, n_columns).

    A node is reached by some instances crossed with some background rows: only the side whose value it reads is
    divided there, and a leaf is added to a whole rectangle of mixtures.
    """
    roots, feature, threshold, left, right, missing_left = trees
    n_b = b.shape[0]
    result = np.zeros((swapped.shape[0], x.shape[0]))
    block = 1024
    sums = np.empty((min(block, x.shape[0]), n_b, base.size))
    of_x, of_b = np.empty(block, dtype=np.int64), np.arange(n_b)
    stack = np.empty((depth + 1, 5), dtype=np.int64)
    for first in range(0, x.shape[0], block):
        size = min(block, x.shape[0] - first)
        for s in range(swapped.shape[0]):
            sums[:] = 0.0
            for k in range(size):
                of_x[k] = first + k
            for tree in range(roots.size):
                into = outputs_of_tree[tree]
                stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = roots[tree], 0, size, 0, n_b
                top = 1
                while top > 0:
                    top -= 1
                    node, x_start, x_stop = stack[top, 0], stack[top, 1], stack[top, 2]
                    b_start, b_stop = stack[top, 3], stack[top, 4]
                    while left[node] >= 0:
                        c = feature[node]
                        if swapped[s, c]:
                            middle = partition(of_b, b_start, b_stop, b, c, node, threshold, missing_left)
                            go_left, go_right = middle > b_start, middle < b_stop
                        else:
                            middle = partition(of_x, x_start, x_stop, x, c, node, threshold, missing_left)
                            go_left, go_right = middle > x_start, middle < x_stop
                        if go_left and go_right:
                            stack[top, 0] = right[node]
                            stack[top, 1], stack[top, 2], stack[top, 3], stack[top, 4] = (
                                x_start,
                                x_stop,
                                b_start,
                                b_stop,
                            )
                            if swapped[s, c]:
                                stack[top, 3] = middle
                                b_stop = middle
                            else:
                                stack[top, 1] = middle
                                x_stop = middle
                            top += 1
                        node = left[node] if go_left else right[node]
                    for k in range(x_start, x_stop):
                        row = of_x[k]
                        weight = values[node, column[row]] * scale
                        if link == LINEAR:
                            result[s, row] += weight * (b_stop - b_start)
                        else:
                            for j in range(b_start, b_stop):
                                sums[row - first, of_b[j], into] += weight
            if link != LINEAR:
                for row in range(first, first + size):
                    for j in range(n_b):
                        result[s, row] += link_value(link, sums[row - first, j], base, target[row], regression)
    return result / n_b


@njit(cache=True, nogil=True)
def traverse_linear(
    trees: tuple[np.ndarray, ...],
    values: np.ndarray,
    x: np.ndarray,
    b: np.ndarray,
    column: np.ndarray,
    with_column: np.ndarray,
    n_sets: int,
    depth: int,
    scale: float,
) -> np.ndarray:
    """
    Return the mean linear response of up to 64 sets in one walk, shape (n_sets,).

    Bit s of with_column[c] says that set s takes column c from the background. Sets go together until a node tells
    them apart, so the nested sets of a curve cost little more than a few sets.
    """
    roots, feature, threshold, left, right, missing_left = trees
    n_b = b.shape[0]
    sums = np.zeros(n_sets)
    block = 1024
    of_x, of_b = np.empty(block, dtype=np.int64), np.arange(n_b)
    stack = np.empty((3 * depth + 3, 5), dtype=np.int64)
    stack_sets = np.empty(3 * depth + 3, dtype=np.uint64)
    every = ~np.uint64(0) >> np.uint64(64 - n_sets)
    for first in range(0, x.shape[0], block):
        size = min(block, x.shape[0] - first)
        for k in range(size):
            of_x[k] = first + k
        for tree in range(roots.size):
            stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = roots[tree], 0, size, 0, n_b
            stack_sets[0] = every
            top = 1
            while top > 0:
                top -= 1
                node, x_start, x_stop = stack[top, 0], stack[top, 1], stack[top, 2]
                b_start, b_stop, sets = stack[top, 3], stack[top, 4], stack_sets[top]
                while left[node] >= 0:
                    c = feature[node]
                    marginalised = sets & with_column[c]
                    if marginalised != np.uint64(0) and marginalised != sets:
                        # Below what follows in the stack: ranges divided above are whole again when its turn comes.
                        stack[top, 0], stack[top, 1], stack[top, 2] = node, x_start, x_stop
                        stack[top, 3], stack[top, 4], stack_sets[top] = b_start, b_stop, marginalised
                        top += 1
                        sets &= ~marginalised
                        marginalised = np.uint64(0)
                    if marginalised != np.uint64(0):
                        middle = partition(of_b, b_start, b_stop, b, c, node, threshold, missing_left)
                        go_left, go_right = middle > b_start, middle < b_stop
                    else:
                        middle = partition(of_x, x_start, x_stop, x, c, node, threshold, missing_left)
                        go_left, go_right = middle > x_start, middle < x_stop
                    if go_left and go_right:
                        stack[top, 0], stack[top, 1], stack[top, 2] = right[node], x_start, x_stop
                        stack[top, 3], stack[top, 4], stack_sets[top] = b_start, b_stop, sets
                        if marginalised != np.uint64(0):
                            stack[top, 3] = middle
                            b_stop = middle
                        else:
                            stack[top, 1] = middle
                            x_stop = middle
                        top += 1
                    node = left[node] if go_left else right[node]
                leaf = 0.0
                for k in range(x_start, x_stop):
                    leaf += values[node, column[of_x[k]]]
                leaf *= b_stop - b_start
                for s in range(n_sets):
                    if (sets >> np.uint64(s)) & np.uint64(1) != np.uint64(0):
                        sums[s] += leaf
    return sums * (scale / (n_b * x.shape[0]))


@njit(cache=True, nogil=True)
def count_bits(mask: np.uint64) -> int:
    """Return the number of set bits."""
    bits = 0
    while mask != np.uint64(0):
        mask &= mask - np.uint64(1)
        bits += 1
    return bits


@njit(cache=True, nogil=True)
def add_halves(table: np.ndarray, start: int, stop: int, half: int, limit: int) -> None:
    """Add lower halves to upper halves, from blocks of 2 * half to blocks of `limit`, two levels at a time."""
    while half < limit:
        if 4 * half <= limit:
            for low in range(start, stop, 4 * half):
                for at in range(low, low + half):
                    first, second, third = table[at], table[at + half], table[at + 2 * half]
                    table[at + half] = first + second
                    table[at + 2 * half] = first + third
                    table[at + 3 * half] += first + second + third
            half *= 4
        else:
            for low in range(start, stop, 2 * half):
                for at in range(low, low + half):
                    table[at + half] += table[at]
            half *= 2


@njit(cache=True, nogil=True)
def subset_sums(table: np.ndarray) -> None:
    """Replace table[S] by the sum of table over the subsets of S, in place (fast zeta transform)."""
    size = table.size
    block = min(size, 4096)  # 32 KiB: every level of a block is done while it is in the first cache
    for start in range(0, size, block):
        add_halves(table, start, start + block, 1, block)
    add_halves(table, 0, size, block, size)


@njit(cache=True, nogil=True)
def expand(
    kept: np.ndarray,
    gone: np.ndarray,
    weights: np.ndarray,
    start: int,
    stop: int,
    forward: np.ndarray,
    mirrored: np.ndarray,
    sides: int,
) -> None:
    """
    Add triples as signed monomials: over the marginalised set (`forward`), or over its complement (`mirrored`).

    `sides` 0 uses `forward` alone, 1 `mirrored` alone, 2 whichever needs fewer terms for each triple.
    """
    for at in range(start, stop):
        if sides == 0 or (sides == 2 and count_bits(kept[at]) <= count_bits(gone[at])):
            signed, fixed, table = kept[at], gone[at], forward
        else:
            signed, fixed, table = gone[at], kept[at], mirrored
        chosen = signed
        while True:
            odd = count_bits(chosen) & 1
            table[fixed | chosen] += -weights[at] if odd else weights[at]
            if chosen == np.uint64(0):
                break
            chosen = (chosen - np.uint64(1)) & signed


@njit(cache=True, nogil=True)
def best_sides(kept: np.ndarray, gone: np.ndarray, start: int, stop: int, n_bits: int) -> int:
    """Return the way to expand that costs least: forward, mirrored, or both (one more transform)."""
    cost = np.zeros(3)
    for at in range(start, stop):
        one, two = 2.0 ** count_bits(kept[at]), 2.0 ** count_bits(gone[at])
        cost[0] += one
        cost[1] += two
        cost[2] += min(one, two)
    cost[2] += 0.25 * (n_bits + 2) * 2.0**n_bits
    return int(np.argmin(cost))


@njit(cache=True, nogil=True)
def add_complement(table: np.ndarray, mirrored: np.ndarray) -> None:
    """Add mirrored[N minus S] to table[S]."""
    for at in range(table.size):
        table[at] += mirrored[table.size - 1 - at]


@njit(cache=True, nogil=True)
def squeeze(mask: np.uint64, places: np.ndarray, n_places: int) -> np.uint64:
    """Gather the bits of `mask` at `places` into the low bits."""
    result = np.uint64(0)
    for k in range(n_places):
        result |= ((mask >> np.uint64(places[k])) & np.uint64(1)) << np.uint64(k)
    return result


@njit(cache=True, nogil=True)
def add_tables(
    offsets: np.ndarray,
    keys: np.ndarray,
    outputs: np.ndarray,
    weights: np.ndarray,
    n: int,
    n_b: int,
    link: int,
    base: np.ndarray,
    target: np.ndarray,
    regression: bool,
    total: np.ndarray,
) -> None:
    """
    Add the response of every row for all 2**n sets to `total` (the mean over the `n_b` groups of each row).

    A group is tabulated over the features its masks mention, then read off for every set.
    """
    n_outputs = base.size
    places = np.empty(n, dtype=np.int64)
    half = n // 2
    low_map = np.empty(1 << half, dtype=np.int64)
    high_map = np.empty(1 << (n - half), dtype=np.int64)
    margins = np.zeros(n_outputs)
    kept = np.empty(0, dtype=np.uint64)
    gone = np.empty(0, dtype=np.uint64)
    for group in range(offsets.size - 1):
        row = group // n_b
        start, stop = offsets[group], offsets[group + 1]
        size = stop - start
        if kept.size < size:
            kept = np.empty(size, dtype=np.uint64)
            gone = np.empty(size, dtype=np.uint64)
        union = np.uint64(0)
        for at in range(start, stop):
            union |= keys[at, 0] | keys[at, 1]
        m = 0
        for f in range(n):
            if (union >> np.uint64(f)) & np.uint64(1):
                places[m] = f
                m += 1
        tables = np.zeros((n_outputs, 1 << m))
        piece = np.empty(size)
        for k in range(n_outputs):
            used = 0
            for at in range(start, stop):
                if outputs[at] == k:
                    kept[used] = squeeze(keys[at, 0], places, m)
                    gone[used] = squeeze(keys[at, 1], places, m)
                    piece[used] = weights[at]
                    used += 1
            sides = best_sides(kept, gone, 0, used, m)
            mirrored = np.zeros(1 << m) if sides > 0 else np.zeros(1)
            expand(kept, gone, piece, 0, used, tables[k], mirrored, sides)
            if sides != 1:
                subset_sums(tables[k])
            if sides > 0:
                subset_sums(mirrored)
                add_complement(tables[k], mirrored)
        for at in range(1 << m):
            for k in range(n_outputs):
                margins[k] = tables[k, at]
            tables[0, at] = link_value(link, margins, base, target[row], regression) / n_b
        if m == n:
            for at in range(1 << n):
                total[at] += tables[0, at]
            continue
        for s in range(low_map.size):
            low_map[s] = squeeze(np.uint64(s), places, m)
        for s in range(high_map.size):
            high_map[s] = squeeze(np.uint64(s) << np.uint64(half), places, m)
        for high in range(high_map.size):
            for low in range(low_map.size):
                total[(high << half) | low] += tables[0, high_map[high] | low_map[low]]
