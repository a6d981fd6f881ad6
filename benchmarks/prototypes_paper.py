"""
The experiments of "This part looks alike this", run again: raw, diversity and similarity × G-KM, SM-A, A-PETE.

Protocol: rows shuffled (and sampled) by one seed, first 60 % train, next 20 % test, last 20 % validation; a random
forest of 100 trees; k, m or α and β chosen on validation accuracy, reported on test rows. Seed 42 is the paper's.

Run ``python benchmarks/prototypes_paper.py --data DIR --seeds 10 --output DIR``; `prototypes_page.py` draws from that.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from explicate.prototypes import (
    APete,
    GreedyKMedoids,
    SubmodularAdaptive,
    TreeDistance,
    alike_parts,
    score_prototypes,
    shap_attributions,
    tune,
)

BETAS = [0.25, 0.5, 1.0, 2.0, 4.0]
ALGORITHMS = {
    "G-KM": (GreedyKMedoids, "n_prototypes", [1, 2, 3, 4, 5, 7, 10, 15, 20]),
    "SM-A": (SubmodularAdaptive, "n_prototypes", [2, 3, 4, 6, 8, 10, 14, 20, 30, 40]),
    "A-PETE": (APete, "alpha", [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
}
ROLES = ("raw", "diversity", "similarity")
PARTS = ("results", "trials", "ablation")
#: Table 3 of the paper: (Raw, FI).
PAPER = {
    ("apple", "G-KM"): (0.785, 0.861), ("apple", "SM-A"): (0.461, 0.571), ("apple", "A-PETE"): (0.487, 0.520),
    ("breast", "G-KM"): (0.939, 0.965), ("breast", "SM-A"): (0.344, 0.623), ("breast", "A-PETE"): (0.488, 0.798),
    ("diabetes", "G-KM"): (0.739, 0.766), ("diabetes", "SM-A"): (0.492, 0.734), ("diabetes", "A-PETE"): (0.427, 0.623),
    ("wine", "G-KM"): (0.541, 0.602), ("wine", "SM-A"): (0.448, 0.624), ("wine", "A-PETE"): (0.438, 0.605),
}  # fmt: skip
#: The published raw algorithms, row index corrected, best over a grid on seed 42: validation and test accuracy, test
#: fidelity.
CORRECTED = {
    ("apple", "G-KM"): (0.864, 0.849, 0.940), ("apple", "SM-A"): (0.865, 0.848, 0.941),
    ("apple", "A-PETE"): (0.856, 0.839, 0.930), ("breast", "G-KM"): (0.947, 0.956, 0.991),
    ("breast", "SM-A"): (0.939, 0.947, 1.0), ("breast", "A-PETE"): (0.939, 0.947, 1.0),
    ("diabetes", "G-KM"): (0.747, 0.747, 0.942), ("diabetes", "SM-A"): (0.740, 0.734, 0.942),
    ("diabetes", "A-PETE"): (0.747, 0.734, 0.942), ("wine", "G-KM"): (0.617, 0.631, 0.719),
    ("wine", "SM-A"): (0.617, 0.631, 0.719), ("wine", "A-PETE"): (0.595, 0.636, 0.695),
}  # fmt: skip


def read(name: str, folder: Path) -> tuple[pd.DataFrame, float]:
    """Return the table with its label as the last column, and the share of rows the paper samples."""
    if name == "breast":
        table = load_breast_cancer(as_frame=True).frame
        return table.rename(columns={"target": "label"}), 1.0
    if name == "apple":
        table = pd.read_csv(folder / "apple-quality.csv").iloc[:4000]
        table = table.drop(columns=table.columns[0]).rename(columns={"Quality": "label"})
        return table.assign(label=(table["label"] == "good").astype(int)), 1.0
    if name == "diabetes":
        return pd.read_csv(folder / "diabetes.csv").rename(columns={"Outcome": "label"}), 1.0
    table = pd.read_csv(folder / "wine_quality.csv").rename(columns={"quality": "label"})
    return table.assign(label=(table["label"] >= 7).astype(int)), 0.1


def split(table: pd.DataFrame, share: float, seed: int) -> list[tuple[pd.DataFrame, np.ndarray]]:
    """Return train, test and validation as (X, y)."""
    rows = table.sample(frac=share, random_state=seed).reset_index(drop=True)
    cuts = [int(0.6 * len(rows)), int(0.8 * len(rows))]
    parts = rows.iloc[: cuts[0]], rows.iloc[cuts[0] : cuts[1]], rows.iloc[cuts[1] :]
    return [(part.drop(columns="label").astype(float), part["label"].to_numpy()) for part in parts]


def once(function):
    """Answer each table once: hundreds of settings ask for the same predictions and leaves."""
    known = {}

    def answer(rows):
        if id(rows) not in known:
            known[id(rows)] = rows, function(rows)  # the rows too, so that no other table takes their id
        return known[id(rows)][1]

    return answer


def run(name: str, folder: Path, seed: int) -> tuple[list[dict], list[pd.DataFrame], list[pd.DataFrame]]:
    train, test, validation = split(*read(name, folder), seed)
    forest = RandomForestClassifier(100, random_state=seed).fit(*train)
    attributions = shap_attributions(forest, train[0])
    test_attributions = shap_attributions(forest, test[0])
    distance = TreeDistance(forest)
    forest.predict, distance.encode = once(forest.predict), once(distance.encode)
    rows, trials, ablation = [], [], []
    for algorithm, (kind, parameter, values) in ALGORITHMS.items():
        for role in ROLES:
            base = kind(
                forest, distance=distance, attributions=attributions, fi_role="diversity" if role == "raw" else role
            )
            grid = {"beta": [0.0] if role == "raw" else BETAS, parameter: values}
            if algorithm == "A-PETE":
                base.set_params(max_prototypes=60)
            tuning = tune(base, grid, train[0], validation, test)
            best = tuning.best
            parts = alike_parts(test_attributions, attributions[best.prototype_indices_[best.nearest(test[0])[0]]])
            rows.append(
                {
                    "data": name, "seed": seed, "algorithm": algorithm, "role": role,
                    **tuning.metrics(), **parts.metrics(), "beta": best.beta, parameter: getattr(best, parameter),
                    **tied_to_first_class(best, forest, validation, test),
                }
            )  # fmt: skip
            trials.append(tuning.trials.assign(data=name, seed=seed, algorithm=algorithm, role=role))
            if role != "raw":
                for beta in [0.0, *BETAS]:
                    one = kind(**best.get_params(deep=False)).set_params(beta=beta).fit(train[0])
                    chosen = one.prototype_indices_[one.nearest(test[0])[0]]
                    part = alike_parts(test_attributions, attributions[chosen])
                    numbers = score_prototypes(one, *test).metrics()
                    ablation.append(
                        pd.DataFrame([{"data": name, "seed": seed, "algorithm": algorithm, "role": role, "beta": beta,
                                       "accuracy": numbers["accuracy"], **part.metrics()}])
                    )  # fmt: skip
    return rows, trials, ablation


def summarise(table: pd.DataFrame) -> None:
    """Print one line per table and algorithm: raw, and what importance changes on the same seeds."""
    print(
        "\n| data | algorithm | raw accuracy (fidelity) | Δ diversity | Δ similarity | Δ fidelity, diversity | "
        "Δ fidelity, similarity | paper Raw / FI |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (name, algorithm), part in table.groupby(["data", "algorithm"], sort=False):
        by_role = {role: rows.set_index("seed") for role, rows in part.groupby("role")}
        raw = by_role["raw"]
        cells = [f"{short(raw['test_accuracy'].mean())} ({short(raw['test_fidelity'].mean())})"]
        for score in ("test_accuracy", "test_fidelity"):
            for role in ROLES[1:]:
                gap = by_role[role][score] - raw[score]
                cells.append(
                    f"{short(gap.mean(), '+')} ± {short(gap.std(ddof=1))}" if len(gap) > 1 else short(gap.mean(), "+")
                )
        paper = " / ".join(short(value) for value in PAPER[name, algorithm])
        print(f"| {name} | {algorithm} | {' | '.join(cells)} | {paper} |")


def short(value: float, sign: str = "") -> str:
    """Return three decimals without the leading zero."""
    return f"{value:{sign}.3f}".replace("0.", ".", 1).replace("-", "−")


def tied_to_first_class(selector, forest, validation, test) -> dict[str, float]:
    """Score 1-NN as the released code does, where a row as far from two classes belongs to the first of them."""
    scores = {}
    for part, (X, y) in (("validation", validation), ("test", test)):
        distances = selector.transform(X)
        nearest = [distances[:, selector.prototype_classes_ == c].min(axis=1) for c in selector.classes_]
        guess = selector.classes_[np.argmin(nearest, axis=0)]
        scores[f"tied_{part}_accuracy"] = float((guess == y).mean())
        scores[f"tied_{part}_fidelity"] = float((guess == forest.predict(X)).mean())
        scores[f"tied_{part}_rows"] = float((nearest[0] == nearest[1]).mean())
    return scores


def report(table: pd.DataFrame) -> None:
    print("\n| data | algorithm | objective | test accuracy | fidelity | prototypes | paper (Table 3) |")
    print("|---|---|---|---|---|---|---|")
    for (name, algorithm, role), part in table.groupby(["data", "algorithm", "role"], sort=False):
        accuracy, fidelity = part["test_accuracy"], part["test_fidelity"]
        paper = PAPER[name, algorithm][0 if role == "raw" else 1] if role != "similarity" else np.nan
        print(
            f"| {name} | {algorithm} | {role} | {accuracy.mean():.3f} ± {spread(accuracy)} | {fidelity.mean():.3f} ± "
            f"{spread(fidelity)} | {part['test_n_prototypes'].mean():.1f} | {'–' if np.isnan(paper) else paper} |"
        )
    print("\n| data | algorithm | objective | accuracy − raw | fidelity − raw | better, equal, worse (accuracy) |")
    print("|---|---|---|---|---|---|")
    for (name, algorithm), part in table.groupby(["data", "algorithm"], sort=False):
        wide = part.set_index("seed")
        raw = wide[wide["role"] == "raw"]
        for role in ROLES[1:]:
            other = wide[wide["role"] == role]
            gap = other["test_accuracy"] - raw["test_accuracy"]
            faith = other["test_fidelity"] - raw["test_fidelity"]
            print(
                f"| {name} | {algorithm} | {role} | {gap.mean():+.3f} ± {spread(gap)} | {faith.mean():+.3f} ± "
                f"{spread(faith)} | {(gap > 0).sum()}, {(gap == 0).sum()}, {(gap < 0).sum()} |"
            )
    parity = table[(table["seed"] == 42) & (table["role"] == "raw")]
    if len(parity):
        print(
            "\nSeed 42, raw, against the published algorithms with the row index corrected (validation/test/fidelity):"
        )
        print("\n| data | algorithm | here | ties to the first class | corrected code | tied test rows |")
        print("|---|---|---|---|---|---|")
    for _, row in parity.iterrows():
        here, tied = (
            "/".join(f"{row[prefix + c]:.3f}" for c in ("validation_accuracy", "test_accuracy", "test_fidelity"))
            for prefix in ("", "tied_")
        )
        there = "/".join(f"{value:.3f}" for value in CORRECTED[row["data"], row["algorithm"]])
        share = f"{100 * row['tied_test_rows']:.0f} %"
        print(f"| {row['data']} | {row['algorithm']} | {here} | {tied} | {there} | {share} |")
    if len(parity):
        print(
            "\nA row as near to a prototype of one class as to one of another goes to the prototype selected first\n"
            "here, to the first class in the released code. With its rule the numbers are those of the corrected\n"
            "code. On diabetes the grids differ: its G-KM is k = 15 here, which ties with k = 10 on validation, and\n"
            "its SM-A is m = 30, which m = 14 beats."
        )


def spread(values: pd.Series) -> str:
    return f"{values.std(ddof=1):.3f}" if len(values) > 1 else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--sets", nargs="+", default=["apple", "breast", "diabetes", "wine"])
    parser.add_argument("--seeds", type=int, default=10, help="seeds 42, 43, …")
    parser.add_argument("--output", type=Path, help="folder for the rows behind tables and figures")
    parser.add_argument("--read", type=Path, nargs="+", help="report from earlier --output folders instead")
    arguments = parser.parse_args()
    if arguments.read:
        results = pd.concat([pd.read_csv(one / "results.csv") for one in arguments.read], ignore_index=True)
        results = results[results["seed"] < 42 + arguments.seeds]
    else:
        results = collect(arguments.sets, arguments.data, range(42, 42 + arguments.seeds), arguments.output)
    summarise(results)
    report(results)


def collect(sets: list[str], data: Path, seeds: range, output: Path | None) -> pd.DataFrame:
    """Run every table under every seed, writing what there is after each; return the results."""
    found: list[list] = [[], [], []]
    for seed in seeds:
        for name in sets:
            start = time.perf_counter()
            rows, trials, ablation = run(name, data, seed)
            for store, new in zip(found, ([pd.DataFrame(rows)], trials, ablation), strict=True):
                store += new
            print(f"{name}, seed {seed}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
            if output:
                output.mkdir(parents=True, exist_ok=True)
                for part, tables in zip(PARTS, found, strict=True):
                    pd.concat(tables).to_csv(output / f"{part}.csv", index=False)
    return pd.concat(found[0], ignore_index=True)


if __name__ == "__main__":
    main()
