"""
How good the selected features are: python benchmarks/mistic_quality.py [--seeds 10] [--only synthetic|wdbc].

Synthetic-100 has 20 signal columns (10 informative, 10 redundant) of 100; one split into training and test rows, inner
splits of several seeds. MISTIC is measured by the unified model the selector predicts with. The columns of the others
go to an RBF SVC of the same grid, tuned on the inner splits and fitted on all training rows; their rankings are cut at
the number of columns (5, 10, 15, 20) that scores best inside. Test rows choose nothing. One thread; CPU seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.feature_selection import RFECV, SequentialFeatureSelector, mutual_info_classif
from sklearn.inspection import permutation_importance
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from explicate.mistic.scoring import WeightedScore
from explicate.mistic.selection import MisticSelector
from explicate.mistic.splits import RepeatedHoldOut

GRID = {"C": [0.25, 1.0, 4.0], "gamma": [2.0**-9, 2.0**-7, 2.0**-5]}
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def synthetic() -> Split:
    X, y = make_classification(
        500, 100, n_informative=10, n_redundant=10, n_repeated=0, weights=[0.55, 0.45], class_sep=1, flip_y=0.03,
        shuffle=False, random_state=2026,
    )  # fmt: skip
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=42)
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), y_train, scaler.transform(test), y_test


def svm(**keywords: object) -> SVC:
    return SVC(class_weight="balanced", random_state=0, **keywords)


def tuned(X: np.ndarray, y: np.ndarray, columns: np.ndarray, seed: int) -> GridSearchCV:
    inner = StratifiedShuffleSplit(5, test_size=0.2, random_state=seed)
    return GridSearchCV(svm(), GRID, scoring="roc_auc", cv=inner).fit(X[:, columns], y)


def cut(X: np.ndarray, y: np.ndarray, importance: np.ndarray, seed: int) -> np.ndarray:
    order = np.argsort(-importance, kind="stable")
    return max((order[:k] for k in (5, 10, 15, 20)), key=lambda c: tuned(X, y, c, seed).best_score_)


def mistic(direction: str, weight: float, **keywords: Any) -> Callable[..., Any]:
    def choose(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        settings = {"max_features": 20} if direction == "forward" else {}
        selector = MisticSelector(
            svm(), GRID, direction=direction, cv=RepeatedHoldOut(5, 0.2, random_state=seed),
            scoring=WeightedScore(1.0), ranking_weight=weight, random_state=seed, **settings | keywords,
        ).fit(X, y)  # fmt: skip
        return np.flatnonzero(selector.support_), selector

    return choose


def published(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    """Run mistic-svm 0.1.1 in the same protocol, as its authors' notebooks call it, and take its unified model."""
    from mistic import combined_rank, cvSet, kernelWrapper, paramSet, score_svc, svmSet

    splits = cvSet(X=X, y=y)
    splits.classification(num_sets=5, validation_size=0.2, random_seed=seed)
    peer = svmSet(
        SVC(kernel="precomputed", class_weight="balanced"), splits, score_method=score_svc(weight=1.0).score,
        kernel=kernelWrapper(type="rbf"), separate_feature_sets=True, separate_parameters=True,
    )  # fmt: skip
    grid = [paramSet(model={"C": C}, kernel={"gamma": gamma}) for C in GRID["C"] for gamma in GRID["gamma"]]
    with contextlib.redirect_stdout(io.StringIO()):
        peer.greedy_forward_selection(
            parameter_grid=grid, addition_factor=0.1, feature_ranker=combined_rank(weight=0.9).compute,
            set_for_rank="sample", tune_models_each_step=False, max_features=20,
        )  # fmt: skip
        peer.fit_unified_model(grid)
    return np.asarray(peer.unified_prediction_features_), peer


def rfecv(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    inner = StratifiedShuffleSplit(5, test_size=0.2, random_state=seed)
    return np.flatnonzero(RFECV(svm(kernel="linear", C=0.25), cv=inner, scoring="roc_auc").fit(X, y).support_)


def sequential(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    inner = StratifiedShuffleSplit(3, test_size=0.2, random_state=seed)
    model = svm(C=4.0, gamma=2.0**-5)
    selector = SequentialFeatureSelector(model, n_features_to_select=10, cv=inner, scoring="roc_auc")
    return np.flatnonzero(selector.fit(X, y).get_support())


def permutation(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    rows, held = next(StratifiedShuffleSplit(1, test_size=0.2, random_state=seed).split(X, y))
    model = tuned(X[rows], y[rows], np.arange(X.shape[1]), seed)
    found = permutation_importance(model, X[held], y[held], scoring="roc_auc", n_repeats=5, random_state=seed)
    return cut(X, y, found.importances_mean, seed)


def mutual(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    return cut(X, y, mutual_info_classif(X, y, random_state=seed), seed)


METHODS = {
    "MISTIC forward, weight 0.9": mistic("forward", 0.9),
    "MISTIC forward, weight 0.5": mistic("forward", 0.5),
    "MISTIC forward, weight 0": mistic("forward", 0.0),
    "MISTIC forward, weight 0, kernel mass (as 0.1.1)": mistic("forward", 0.0, objective="kernel_mass"),
    "MISTIC backward, weight 0.9": mistic("backward", 0.9),
    "MISTIC backward, weight 0.5": mistic("backward", 0.5),
    "MISTIC backward, weight 0": mistic("backward", 0.0),
    'MISTIC backward, weight 0, at most 20, select="tuned"': mistic("backward", 0.0, max_features=20, select="tuned"),
    "mistic-svm 0.1.1 forward, weight 0.9": published,
    "RFECV, linear SVC": rfecv,
    "SequentialFeatureSelector, fixed RBF, 10 columns": sequential,
    "permutation importance, RBF": permutation,
    "mutual information": mutual,
    "all 100 columns": lambda X, y, seed: np.arange(X.shape[1]),
    "the 20 signal columns (oracle)": lambda X, y, seed: np.arange(20),
}
#: Methods too slow for every seed: how many they get.
FEWER = {"SequentialFeatureSelector, fixed RBF, 10 columns": 3}


def run_synthetic(seeds: int) -> None:
    X, y, X_test, y_test = synthetic()
    print(f"Synthetic-100, mean ± sd over inner seeds 0–{seeds - 1}\n")
    print("| method | columns | precision | test AUC | test F1 | seconds |\n|---|---|---|---|---|---|")
    for name, choose in METHODS.items():
        found, n_seeds = [], min(seeds, FEWER.get(name, seeds))
        for seed in range(n_seeds):
            start = time.process_time()
            chosen = choose(X, y, seed)
            spent = time.process_time() - start
            columns, model = chosen if isinstance(chosen, tuple) else (chosen, tuned(X, y, chosen, seed))
            rows = X_test if isinstance(chosen, tuple) else X_test[:, columns]
            auc = roc_auc_score(y_test, np.ravel(model.decision_function(rows)))
            f1 = f1_score(y_test, np.ravel(model.predict(rows)))
            found.append((len(columns), (columns < 20).mean(), auc, f1, spent))
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) if n_seeds > 1 else np.zeros(5)
        print(
            f"| {name}{f' ({n_seeds} seeds)' if n_seeds < seeds else ''} | {mean[0]:.1f} ± {spread[0]:.1f} | "
            f"{mean[1]:.2f} ± {spread[1]:.2f} | {mean[2]:.4f} ± {spread[2]:.4f} | {mean[3]:.4f} ± {spread[3]:.4f} | "
            f"{mean[4]:.1f} |",
            flush=True,
        )


def run_wdbc(seeds: int) -> None:
    """Protocol of the peer's notebooks: 70 grid points, five members, the weight of the best enrichment."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), (y == 0).astype(int)  # malignant is the positive class
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0, test_size=1 / 5)
    grid = {"C": [2.0**k for k in range(-2, 5)], "gamma": [2.0**k for k in range(-9, 1)]}
    print(f"\nwdbc, blind fifth, mean ± sd over inner seeds 0–{seeds - 1}; published: seed 0\n")
    print("| search | columns | blind F1 | blind AUC | published: columns, F1, AUC |\n|---|---|---|---|---|")
    for direction, published in (("forward", "5, .9425, .9974"), ("backward", "3, .9425, .9957")):
        found = []
        for seed in range(seeds):
            runs = [
                MisticSelector(
                    SVC(class_weight="balanced"), grid, direction=direction,
                    cv=RepeatedHoldOut(5, 0.2, random_state=seed), ranking_weight=weight, random_state=seed,
                ).fit(X, y)
                for weight in (0.5, 0.75, 0.9)
            ]  # fmt: skip
            chosen = max(runs, key=lambda one: one.enrichment_score())
            auc = roc_auc_score(y_test, chosen.decision_function(X_test))
            found.append((chosen.n_groups_, f1_score(y_test, chosen.predict(X_test)), auc))
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) if seeds > 1 else np.zeros(3)
        cells = [
            f"{mean[0]:.1f} ± {spread[0]:.1f}",
            f"{mean[1]:.4f} ± {spread[1]:.4f}",
            f"{mean[2]:.4f} ± {spread[2]:.4f}",
        ]
        print(f"| {direction} | {' | '.join(cells)} | {published} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", choices=["synthetic", "wdbc"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # curves without a knee say so; the table shows what was kept
    warnings.simplefilter("ignore", FutureWarning)  # raised in the published package
    with threadpool_limits(1):
        if arguments.only != "wdbc":
            run_synthetic(arguments.seeds)
        if arguments.only != "synthetic":
            run_wdbc(arguments.seeds)


if __name__ == "__main__":
    main()
