"""Compiled tables of all subsets: triples as signed monomials, summed over subsets."""

from __future__ import annotations

import numpy as np
from numba import njit

from explicate.sofi.mixtures_kernels import link_value


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
