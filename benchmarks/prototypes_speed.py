"""
Distances and selection against the published formulation, and how cost grows with rows.

The published formulation compares the leaves of all pairs of rows of a class, one row against all at a time in NumPy,
and scans every candidate for every prototype.
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
from explicate.prototypes import GreedyKMedoids
from prototypes_paper import read, split


def published(forest, predicted, X, k):
    """Select k prototypes per class: all pairs of a class compared, then a full scan per prototype."""
    leaves = forest.apply(X)
    chosen = []
    for label in np.unique(predicted):
        rows = np.flatnonzero(predicted == label)
        own = leaves[rows]
        within = np.empty((len(rows), len(rows)))
        for i in range(len(rows)):
            within[i] = 1.0 - (own[i] == own).sum(axis=1) / leaves.shape[1]
        current = np.ones(len(rows))
        for _ in range(k):
            gains = np.maximum(current - within, 0).sum(axis=1)
            best = int(np.argmax(np.round(gains, 9)))
            chosen.append(int(rows[best]))
            current = np.minimum(current, within[:, best])
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
    predicted = forest.predict(X)
    forest.predict = lambda rows: predicted  # neither side pays for the model's own prediction
    slow, theirs = fastest(lambda: published(forest, predicted, X, 15))
    fast, ours = fastest(lambda: GreedyKMedoids(forest, 15).fit(X))
    same = theirs == ours.prototype_indices_.tolist()
    print(f"| {name} | {len(X)} | {slow:.2f} | {fast:.3f} | {slow / fast:.0f} | {same} |", flush=True)


def fastest(function):
    return min((seconds(function) for _ in range(3)), key=lambda pair: pair[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--large", type=int, default=50_000, help="rows of the largest run")
    arguments = parser.parse_args()
    print("\nForests of 100 trees, k = 15 per class; the model's own prediction excluded\n")
    print(
        "| table | rows | published formulation (s) | here (s) | ratio | same prototypes |\n|---|---|---|---|---|---|"
    )
    compare("apple", arguments.data, 1.0)
    compare("wine", arguments.data, 0.5)
    if not arguments.large:
        return
    n = arguments.large
    X, y = make_classification(
        n, 20, n_informative=12, n_classes=10, n_clusters_per_class=2, class_sep=1.5, random_state=0
    )
    X = X.astype(np.float32)
    start = time.perf_counter()
    forest = RandomForestClassifier(100, random_state=0, max_depth=14).fit(X[:10_000], y[:10_000])
    print(f"\nforest of 100 trees, 10 classes, fitted on 10 000 rows in {time.perf_counter() - start:.0f} s\n")
    print("| rows | k per class | seconds | peak memory of the process (GB) |\n|---|---|---|---|")
    for rows in (n // 8, n // 4, n // 2, n):
        spent, selector = seconds(lambda rows=rows: GreedyKMedoids(forest, 20).fit(X[:rows]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"| {rows} | {len(selector.prototype_indices_) / 10:g} | {spent:.1f} | {peak:.2f} |", flush=True)


if __name__ == "__main__":
    main()
