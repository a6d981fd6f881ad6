"""SOFI against sofi-tabular 1.0.0 at its defaults (200 iterations), on the same input in one run.

Times are seconds of processor time of one process, so that other work on the machine does not count; set
OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, since threads of a model would add up.

Run: python benchmarks/sofi_speed.py [--cases exact long regression linear ...]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import sofi
from explicate.sofi import SOFIExplainer, select_reliable_instances


def bundled(name: str, columns: int | None = None) -> tuple[pd.DataFrame, pd.Series]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
    return X.iloc[:, :columns], y


def rows_of(model, X, y):
    a, b, ya, yb = train_test_split(X, y, test_size=0.25, random_state=42)
    model.fit(a, ya)
    return model, a, select_reliable_instances(model, b, yb)


class Counted:
    """Count the rows a model answers."""

    def __init__(self, function):
        self.function, self.rows = function, 0

    def __call__(self, X):
        """Answer and count."""
        self.rows += len(X)
        return self.function(X)


def forest(**keywords):
    return RandomForestClassifier(100, random_state=42, **keywords)


CASES = {
    "forest, wine (13 features), exact": ("auto", lambda: (forest(), *bundled("wine"))),
    "forest, breast cancer (20), exact": ("auto", lambda: (forest(), *bundled("breast_cancer", 20))),
    "forest, breast cancer (30), same search": ("hill_climbing", lambda: (forest(), *bundled("breast_cancer"))),
    "forest regression, diabetes (10), exact": (
        "auto",
        lambda: (RandomForestRegressor(100, random_state=42), *bundled("diabetes")),
    ),
    "logistic regression, breast cancer (30), same search": (
        "hill_climbing",
        lambda: (make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)), *bundled("breast_cancer")),
    ),
    "SVC, breast cancer (30), same search": (
        "hill_climbing",
        lambda: (make_pipeline(StandardScaler(), SVC(random_state=0)), *bundled("breast_cancer")),
    ),
    "MLP, breast cancer (30), same search": (
        "hill_climbing",
        lambda: (
            make_pipeline(StandardScaler(), MLPClassifier(random_state=0, max_iter=500)),
            *bundled("breast_cancer"),
        ),
    ),
}


def sigmoid_of_margin(model):
    """Stand in for the probabilities that SVC no longer gives: a callable, queried alike by both."""

    def proba(X):
        margin = model.decision_function(X)
        p = 1 / (1 + np.exp(-margin))
        return np.column_stack([1 - p, p])

    return proba


def compare(name: str, how: str, model, train, rows, **budget) -> str:
    """Run both on the same fitted model, training data and rows; return a line of the table."""
    keywords = {"random_state": 42, "verbose": False, **budget}
    if "SVC" in name:
        keywords["proba_fn"] = sigmoid_of_margin(model)
        keywords["task"] = "classification"
    counters = []
    for attribute in ("predict_proba", "predict"):
        if hasattr(model, attribute) and "SVC" not in name and "forest" not in name and "demo" not in name:
            counters.append(Counted(getattr(model, attribute)))
            setattr(model, attribute, counters[-1])
    if "SVC" in name:
        counters = [Counted(keywords["proba_fn"])]
        keywords["proba_fn"] = counters[0]
    search = "hill_climbing" if how == "hill_climbing" else "auto"
    SOFIExplainer(model, train, search=search, **keywords).explain(rows.head(3))  # compile kernels
    for counter in counters:
        counter.rows = 0
    start = time.process_time()
    ours = SOFIExplainer(model, train, search=search, **keywords).explain(rows)
    mine = time.process_time() - start
    asked = sum(counter.rows for counter in counters)
    for counter in counters:
        counter.rows = 0
    start = time.process_time()
    theirs = sofi.SOFIExplainer(model, train, **keywords).explain(rows)
    other = time.process_time() - start
    their_rows = sum(counter.rows for counter in counters)
    span = theirs.anchor_high - theirs.anchor_low
    same = "same ranking" if list(ours.order) == list(theirs.order) else f"{ours.search}"
    share = f"{asked / their_rows:.2f}" if their_rows else "none"
    proof = "yes" if ours.is_optimal else "no"
    return (
        f"| {name} | {mine:.2f} | {other:.2f} | {other / mine:.1f}× | {ours.ds_raw / span:.4f} | "
        f"{theirs.ds_raw / span:.4f} | {proof} | {same} | {share} |"
    )


COLUMNS = [
    "case",
    "ours, CPU s",
    "sofi-tabular, CPU s",
    "faster",
    "ds_raw / span",
    "theirs",
    "proved",
    "ranking",
    "model rows, share",
]
HEADER = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=[""], help="parts of case names")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(HEADER)
    for name, (how, build) in CASES.items():
        if any(part in name for part in arguments.cases):
            print(compare(name, how, *rows_of(*build())), flush=True)


if __name__ == "__main__":
    main()
