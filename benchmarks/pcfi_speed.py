"""PCFI against scikit-learn's feature_importances_ on the same forest, in one run: python benchmarks/pcfi_speed.py."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from explicate.pcfi import per_class_importance


def best(function: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    print("| forest | PCFI, s | feature_importances_, s | ratio | peak memory of PCFI, MB |\n|---|---|---|---|---|")
    X, y = load_digits(return_X_y=True)
    generator = np.random.default_rng(0)
    wide, labels = generator.normal(size=(4000, 1000)), generator.integers(0, 50, 4000)
    for name, rows, target, n_trees in (
        ("digits, 100 trees", X, y, 100),
        ("digits, 1 000 trees", X, y, 1000),
        ("1 000 features, 50 classes, 1 000 trees of depth 8", wide, labels, 1000),
    ):
        depth = 8 if rows is wide else None
        forest = RandomForestClassifier(n_trees, max_depth=depth, random_state=0, n_jobs=-1).fit(rows, target)
        forest.set_params(n_jobs=1)
        per_class_importance(forest)
        ours, theirs = best(lambda f=forest: per_class_importance(f)), best(lambda f=forest: f.feature_importances_)
        tracemalloc.start()
        per_class_importance(forest)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"| {name} | {ours:.4f} | {theirs:.4f} | {ours / theirs:.1f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
