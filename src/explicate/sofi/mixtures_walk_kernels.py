"""Compiled walks of trees: the response of given sets without triples, where these do not fit or pay."""

from __future__ import annotations

import numpy as np
from numba import njit

from explicate.sofi.mixtures_kernels import LINEAR, link_value


@njit(cache=True, nogil=True)
def goes_left(value: float, node: int, threshold: np.ndarray, missing_left: np.ndarray) -> bool:
    """Return whether `value` takes the left branch of `node`."""
    if value != value:
        return missing_left[node]
    return value <= threshold[node]


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
