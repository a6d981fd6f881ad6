"""SOFI against sofi-tabular 1.0.0 at its defaults (200 iterations), on the same input in one run.

Run: python benchmarks/sofi_speed.py [--cases exact long regression linear ...]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import sofi
from explicate.sofi import SOFIExplainer, select_reliable_instances

SHARED = Path(os.environ.get("EXPLICATE_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared/data"))


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


def encoded(numeric, nominal):
    return ColumnTransformer([("o", OneHotEncoder(handle_unknown="ignore"), nominal)], remainder="passthrough")


def demo(name: str):
    if name == "mushroom":
        table = pd.read_csv(SHARED / "mushrooms.csv").drop(columns="veil_type").astype(object)
        target, model = "type", RandomForestClassifier
    elif name == "telco":
        table, target, model = pd.read_csv(SHARED / "telco.csv").drop(columns="TotalCharges"), "MonthlyCharges", None
    else:
        table = pd.read_csv(SHARED / "College.csv").select_dtypes("number")
        target, model = "Outstate", None
    X, y = table.drop(columns=target), table[target]
    nominal = [c for c in X.columns if not pd.api.types.is_numeric_dtype(X[c])]
    last = (RandomForestClassifier if model else RandomForestRegressor)(100, random_state=42)
    return make_pipeline(encoded([], nominal), last) if nominal else last, X, y


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
    "demo 2, mushroom (21 nominal)": ("demo", lambda: demo("mushroom")),
    "demo 3, telco (18 mixed, regression)": ("demo", lambda: demo("telco")),
    "demo 4, college (16, regression)": ("demo", lambda: demo("college")),
}


def sigmoid_of_margin(model):
    """Stand in for the probabilities that SVC no longer gives: a callable, queried alike by both."""

    def proba(X):
        margin = model.decision_function(X)
        p = 1 / (1 + np.exp(-margin))
        return np.column_stack([1 - p, p])

    return proba


def run(name: str) -> str:
    how, build = CASES[name]
    model, X, y = build()
    model, train, rows = rows_of(model, X, y)
    keywords = {"random_state": 42, "verbose": False}
    if how == "demo":
        keywords |= {"n_background": 10, "max_iterations": 120, "patience": 40, "n_restarts": 1}
        rows = rows.head(300)
    if "SVC" in name:
        keywords["proba_fn"] = sigmoid_of_margin(model)
        keywords["task"] = "classification"
    counters = []
    for attribute in ("predict_proba", "predict"):
        if hasattr(model, attribute) and "SVC" not in name and "forest" not in name and how != "demo":
            counters.append(Counted(getattr(model, attribute)))
            setattr(model, attribute, counters[-1])
    if "SVC" in name:
        counters = [Counted(keywords["proba_fn"])]
        keywords["proba_fn"] = counters[0]
    search = "hill_climbing" if how == "hill_climbing" else "auto"
    SOFIExplainer(model, train, search=search, **keywords).explain(rows.head(3))  # compile kernels
    for counter in counters:
        counter.rows = 0
    start = time.perf_counter()
    ours = SOFIExplainer(model, train, search=search, **keywords).explain(rows)
    mine = time.perf_counter() - start
    asked = sum(counter.rows for counter in counters)
    for counter in counters:
        counter.rows = 0
    start = time.perf_counter()
    theirs = sofi.SOFIExplainer(model, train, **keywords).explain(rows)
    other = time.perf_counter() - start
    their_rows = sum(counter.rows for counter in counters)
    span = theirs.anchor_high - theirs.anchor_low
    same = "same ranking" if list(ours.order) == list(theirs.order) else f"{ours.search}"
    share = f"{asked / their_rows:.2f}" if their_rows else "none"
    proof = "yes" if ours.is_optimal else "no"
    return (
        f"| {name} | {mine:.2f} | {other:.2f} | {other / mine:.0f}× | {ours.ds_raw / span:.4f} | "
        f"{theirs.ds_raw / span:.4f} | {proof} | {same} | {share} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=[""], help="parts of case names")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| case | ours, s | sofi-tabular, s | faster | ds_raw / span | theirs | proved | ranking | model rows, share |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in CASES:
        if any(part in name for part in arguments.cases):
            print(run(name), flush=True)


if __name__ == "__main__":
    main()
