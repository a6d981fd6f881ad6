"""Refit on the three features a method ranks first, and see what is left: accuracy and F1 of the rarest class.

For every seed: stratified split (70/30), forest of 100 trees on the training rows, ranking by each method from that
forest (held-out methods use a quarter of the training rows kept aside for all methods), refit on three features, score
on the test rows. A method per class contributes its first feature of every class, most supported class last, until
three are found. Run: python benchmarks/pcfi_top3.py --seeds 20
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
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from explicate.pcfi import held_out_importance, per_class_importance

SHARED = Path(os.environ.get("EXPLICATE_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared/data"))


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    if name == "dermatology":
        table = pd.read_csv(SHARED / "dermatology.data", header=None, na_values="?")
    elif name == "car":
        table = pd.read_csv(SHARED / "car.data", header=None)
    else:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return pd.DataFrame(X), y
    X = table.iloc[:, :-1]
    codes = X.apply(lambda column: column if pd.api.types.is_numeric_dtype(column) else pd.factorize(column)[0])
    return codes, table.iloc[:, -1].to_numpy()


def first_of_each_class(values: np.ndarray, support: np.ndarray, k: int = 3) -> list[int]:
    chosen: list[int] = []
    rankings = [np.argsort(-values[c], kind="stable") for c in np.argsort(support, kind="stable")]
    for depth in range(values.shape[1]):
        for ranking in rankings:
            if ranking[depth] not in chosen:
                chosen.append(int(ranking[depth]))
            if len(chosen) == k:
                return chosen
    return chosen


def top3(method: str, forest: RandomForestClassifier, X: pd.DataFrame, y: np.ndarray, seed: int) -> list[int]:
    support = np.array([(y == label).mean() for label in forest.classes_])
    if method == "PCFI":
        return first_of_each_class(per_class_importance(forest).values, support)
    if method == "PCFI held out":
        return first_of_each_class(held_out_importance(forest, X, y).values, support)
    if method == "global":
        return np.argsort(-forest.feature_importances_, kind="stable")[:3].tolist()
    if method == "SHAP per class":
        import shap

        values = np.abs(shap.TreeExplainer(forest).shap_values(X.head(100))).mean(axis=0)
        return first_of_each_class(values.T, support)
    per_class = []
    for label in forest.classes_:

        def recall_and_precision(model, rows, truth, label=label):
            return f1_score(truth == label, model.predict(rows) == label, zero_division=0)

        scored = permutation_importance(
            forest, X, y, scoring=recall_and_precision, n_repeats=3, random_state=seed
        ).importances_mean
        per_class.append(scored)
    return first_of_each_class(np.array(per_class), support)


METHODS = ["PCFI", "PCFI held out", "global", "SHAP per class", "permutation per class"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--data", nargs="*", default=["dermatology", "car", "wine", "iris", "digits"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    print(f"{arguments.seeds} seeds, mean ± sd\n")
    print("| data | method | accuracy | F1 of the rarest class | seconds a ranking |\n|---|---|---|---|---|")
    for name in arguments.data:
        X, y = load(name)
        rare = pd.Series(y).value_counts().idxmin()
        results: dict[str, list[tuple[float, float, float]]] = {method: [] for method in ["all features", *METHODS]}
        for seed in range(arguments.seeds):
            a, b, ya, yb = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
            grow, aside, yg, yh = train_test_split(a, ya, test_size=0.25, stratify=ya, random_state=seed)
            forest = RandomForestClassifier(100, random_state=seed).fit(grow, yg)
            for method in results:
                start = time.perf_counter()
                columns = list(range(X.shape[1])) if method == "all features" else top3(method, forest, aside, yh, seed)
                spent = time.perf_counter() - start
                refit = RandomForestClassifier(100, random_state=seed).fit(a.iloc[:, columns], ya)
                guess = refit.predict(b.iloc[:, columns])
                results[method].append(
                    ((guess == yb).mean(), f1_score(yb == rare, guess == rare, zero_division=0), spent)
                )
        for method, rows in results.items():
            mean, sd = np.mean(rows, axis=0), np.std(rows, axis=0)
            print(
                f"| {name} | {method} | {mean[0]:.3f} ± {sd[0]:.3f} | {mean[1]:.3f} ± {sd[1]:.3f} | {mean[2]:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
