"""
Compiled responses: time, triples and memory, against querying the model for the same sets in the same run.

Run ``python benchmarks/sofi_mixtures.py`` (about a minute), or ``--large`` for 10 000 instances as well. With
``--explain 10000`` it runs one whole explanation (25 background rows, 100 trees, 30 features) instead, and prints its
processor time and the peak memory of the process, model and data included.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_classification
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from explicate.sofi import SOFIExplainer
from explicate.sofi.mixtures import compile_response


def seconds(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def query_seconds(model, x, b, sets, regression):
    """Time of one set by querying the model on every instance with every background row."""
    ask = model.predict if regression else model.predict_proba

    def run():
        for one in sets:
            rows = np.repeat(x[:, None], len(b), axis=1)
            rows[:, :, one] = b[None][:, :, one]
            ask(rows.reshape(-1, x.shape[1]))

    return seconds(run)[0] / len(sets)


def measure(name, model, x, b, *, table, n_sets=200, local=0):
    n = x.shape[1]
    regression = not hasattr(model, "predict_proba")
    features = [[k] for k in range(n)]
    generator = np.random.default_rng(0)
    sets = generator.random((n_sets, n)) < generator.random((n_sets, 1))
    compile_seconds, compiled = seconds(lambda: compile_response(model, x, b, features, regression=regression))
    enumerate_seconds, _ = seconds(lambda: compiled(sets[:8]))
    set_seconds = seconds(lambda: compiled(sets))[0] / n_sets
    asked = query_seconds(model, x, b, sets[:5], regression)
    table_seconds = f"{seconds(compiled.table)[0]:.3f}" if table else "–"
    local_seconds = "–"
    if local:
        chosen = range(min(local, compiled.n_rows))
        room = np.empty(2**n)
        spent = seconds(lambda: [compiled.only(row).table(room) for row in chosen])[0]
        local_seconds = f"{1e3 * spent / len(chosen):.1f}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"| {name} | {len(x)} × {len(b)} × {n} | {compiled.n_triples:,} | {compile_seconds:.2f} "
        f"| {enumerate_seconds:.2f} | {1e6 * set_seconds:,.0f} | {1e6 * asked:,.0f} | {asked / set_seconds:,.0f}× "
        f"| {table_seconds} | {local_seconds} | {peak:.2f} |",
        flush=True,
    )


def cases():
    for name, load, n, cut in (("wine", load_wine, 13, 42), ("breast cancer", load_breast_cancer, 20, 136)):
        X, y = load(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order][:, :n], y[order]
        train, test = slice(cut, None), slice(cut)
        forest = RandomForestClassifier(100, random_state=0).fit(X[train], y[train])
        yield f"{name}, forest of 100", forest, X[test], X[train][:25], {"table": True, "local": 50}
    boosted = GradientBoostingClassifier(random_state=0).fit(X[train][:, :13], y[train])
    yield "breast cancer, 100 boosted trees", boosted, X[test][:, :13], X[train][:25, :13], {"table": True, "local": 20}
    hist = HistGradientBoostingClassifier(random_state=0).fit(X[train], y[train])
    yield "breast cancer, histogram boosting", hist, X[test], X[train][:25], {"table": False, "n_sets": 50}
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(100, random_state=0).fit(X[111:], y[111:])
    yield "diabetes, forest regression", forest, X[:111], X[111:136], {"table": True, "local": 50}
    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(100, random_state=0).fit(X[400:], y[400:])
    yield "digits, forest of 100", forest, X[:136], X[400:425], {"table": False}
    X, y = make_classification(20000, 20, n_informative=12, n_redundant=2, random_state=0)
    forest = RandomForestClassifier(100, random_state=0, n_jobs=-1).fit(X[90:], y[90:])
    forest.n_jobs = None
    yield "20 000 training rows, depth 25", forest, X[:90], X[90:115], {"table": True, "local": 20}


def large_forest():
    X, y = make_classification(20000, 30, n_informative=12, n_redundant=5, random_state=0)
    forest = RandomForestClassifier(100, random_state=0, n_jobs=-1).fit(X[10000:], y[10000:])
    forest.n_jobs = None
    return forest, X


def explain_whole(n_rows):
    """One global explanation at the defaults, search="auto"."""
    forest, X = large_forest()
    start = time.process_time()
    explanation = SOFIExplainer(forest, X[10000:], random_state=0, verbose=False).explain(X[:n_rows])
    spent, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print("| instances | search | sets | CPU s | peak GB |\n|---|---|---|---|---|")
    print(f"| {n_rows:,} | {explanation.search} | {explanation.n_sets:,} | {spent:.0f} | {peak:.2f} |")


def large():
    forest, X = large_forest()
    yield "10 000 instances, 30 features", forest, X[:10000], X[10000:10025], {"table": False, "n_sets": 3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="10 000 instances × 25 × 100 trees × 30 features as well")
    parser.add_argument("--explain", type=int, metavar="ROWS", help="one whole explanation of this many instances")
    options = parser.parse_args()
    if options.explain:
        explain_whole(options.explain)
        return
    X, y = load_wine(return_X_y=True)  # compile the kernels, or load them from the cache, before the clock starts
    for model in (
        RandomForestClassifier(2, random_state=0),
        RandomForestRegressor(2, random_state=0),
        GradientBoostingClassifier(n_estimators=2, random_state=0),
    ):
        regression = isinstance(model, RandomForestRegressor)
        warm = compile_response(model.fit(X, y), X[:3], X[:2], [[k] for k in range(13)], regression=regression)
        warm.table()
        warm(np.zeros((1, 13), dtype=bool))
    print(
        "| case | instances × background × features | merged triples | compile s | first 8 sets s | µs per set "
        "| µs per set, queried | ratio | all subsets s | local table ms | peak GB |\n" + "|---" * 11 + "|"
    )
    for name, model, x, b, options_of_case in cases():
        measure(name, model, x, b, **options_of_case)
    if options.large:
        for name, model, x, b, options_of_case in large():
            measure(name, model, x, b, **options_of_case)


if __name__ == "__main__":
    main()
