"""
Distances and selection against the published formulations, and how cost grows with rows.

Both released codes compare the leaves of all pairs of rows of a class and scan every candidate for every prototype.
The one of "This part looks alike this" (alike-parts) compares leaves in one three-dimensional broadcast; the older one
of A-PETE (protree) one row against all at a time, which is stricter an opponent.
Both sides are timed with the leaf of every row given (distances and selection alone) and with finding it included.
Run ``python benchmarks/prototypes_speed.py --data DIR``; ``--large 0`` skips the 50 000 rows.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from explicate.prototypes import GreedyKMedoids, TreeDistance
from prototypes_paper import read, split


def broadcast(leaves):
    """Return distances as the code of the paper does."""
    return 1.0 - (leaves[:, None] == leaves).sum(axis=2) / leaves.shape[1]


def row_by_row(leaves):
    """Return distances as the code of A-PETE does."""
    within = np.empty((len(leaves), len(leaves)))
    for i in range(len(leaves)):
        within[i] = (leaves[i] == leaves).sum(axis=1)
    return 1.0 - within / leaves.shape[1]


def published(distances, leaves, predicted, k):
    """Select k prototypes per class: all pairs of a class compared, then a full scan per prototype."""
    chosen = []
    for label in np.unique(predicted):
        rows = np.flatnonzero(predicted == label)
        within = distances(leaves[rows])
        taken = np.zeros(len(rows), dtype=bool)
        current = np.full(len(rows), np.inf)
        for _ in range(k):
            cost = np.minimum(within[~taken], current).sum(axis=1)
            best = np.flatnonzero(~taken)[np.argmin(np.round(cost, 9))]  # rounded: ties go to the first
            chosen.append(int(rows[best]))
            taken[best] = True
            current = np.minimum(current, within[best])
    return chosen


def seconds(function):
    """Processor time of one thread: other work on the machine does not count."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def compare(name: str, folder: Path, share: float) -> None:
    """Print one line: both formulations on the training rows of one of the paper's tables."""
    train, _, _ = split(read(name, folder)[0], share, 42)
    X = train[0].to_numpy()
    forest = RandomForestClassifier(100, random_state=42).fit(X, train[1])
    GreedyKMedoids(forest, 1).fit(X[:50])  # compile
    predicted, leaves = forest.predict(X), forest.apply(X)
    forest.predict = lambda rows: predicted  # neither side pays for the model's own prediction
    given = TreeDistance(forest)
    codes = given.encode(X)
    given.encode = lambda rows: codes
    finding = fastest(lambda: forest.apply(X), 5)[0]
    slow, theirs = fastest(lambda: published(broadcast, leaves, predicted, 15), 3)
    strict, others = fastest(lambda: published(row_by_row, leaves, predicted, 15), 3)
    for case, distance, extra in (("given", given, 0.0), ("found", "tree", finding)):
        fast, ours = fastest(lambda distance=distance: GreedyKMedoids(forest, 15, distance=distance).fit(X), 9)
        same = theirs == others == ours.prototype_indices_.tolist()
        a, b = slow + extra, strict + extra
        print(
            f"| {name} | {len(X)} | {case} | {fast:.3f} | {a:.2f} | {a / fast:.0f} | {b:.2f} | {b / fast:.0f} "
            f"| {same} |",
            flush=True,
        )


def fastest(function, times):
    return min((seconds(function) for _ in range(times)), key=lambda pair: pair[0])


def grow(n: int) -> None:
    """Print what selection costs as rows double, up to `n`."""
    X, y = make_classification(
        n, 20, n_informative=12, n_classes=10, n_clusters_per_class=2, class_sep=1.5, random_state=0
    )
    X = X.astype(np.float32)
    start = time.perf_counter()
    forest = RandomForestClassifier(100, random_state=0, max_depth=14).fit(X[:10_000], y[:10_000])
    print(f"\nforest of 100 trees, 10 classes, fitted on 10 000 rows in {time.perf_counter() - start:.0f} s\n")
    print("| rows | prototypes | seconds | times the half | peak memory of the process (GB) |\n|---|---|---|---|---|")
    GreedyKMedoids(forest, 1).fit(X[:100])  # compile
    before = float("nan")
    for rows in (n // 16, n // 8, n // 4, n // 2, n):
        spent, selector = seconds(lambda rows=rows: GreedyKMedoids(forest, 20).fit(X[:rows]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        ratio = "" if np.isnan(before) else f"{spent / before:.1f}"
        before = spent
        print(f"| {rows} | {len(selector.prototype_indices_)} | {spent:.2f} | {ratio} | {peak:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--large", type=int, default=50_000, help="rows of the largest run")
    arguments = parser.parse_args()
    if arguments.large:
        grow(arguments.large)
    print("\nForests of 100 trees, k = 15 per class; the model's own prediction excluded; processor time\n")
    print("| table | rows | leaves | here (s) | alike-parts (s) | ratio | protree (s) | ratio | same prototypes |")
    print("|---|---|---|---|---|---|---|---|---|")
    compare("apple", arguments.data, 1.0)
    compare("wine", arguments.data, 0.5)


if __name__ == "__main__":
    main()
