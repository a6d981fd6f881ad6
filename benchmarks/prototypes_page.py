"""
The numbers and figures of docs/prototypes.md: one instance and its prototypes, and what importance changes.

Run ``python benchmarks/prototypes_page.py --data DIR --results DIR --figures docs/images``, where results are what
``prototypes_paper.py --output`` wrote. Tables are printed as markdown.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from explicate.core.plotting import new_figure
from explicate.prototypes import GreedyKMedoids, alike_parts, normalize_importance, shap_attributions
from explicate.prototypes.plotting import plot_ablation, plot_frequency, plot_grid, plot_prototypes
from prototypes_paper import ALGORITHMS, ROLES, read, split


def select(name: str, folder: Path, n_test: int | None = None):
    """Select five prototypes per class under each objective (β = 1); return them with what they are compared by."""
    train, test, _ = split(*read(name, folder), 42)
    test = test[0].iloc[:n_test], test[1][:n_test]
    forest = RandomForestClassifier(100, random_state=42).fit(*train)
    attributions = shap_attributions(forest, train[0])
    selectors = {}
    for role in ROLES:
        raw = role == "raw"
        selector = GreedyKMedoids(forest, 5, beta=0.0 if raw else 1.0, attributions=attributions)
        selectors[role] = selector.set_params(fi_role="diversity" if raw else role).fit(train[0])
    return forest, test, selectors, attributions, shap_attributions(forest, test[0])


def worked(folder: Path) -> None:
    """Print the first apple that the forest gets right and that has a prototype of its own under each objective."""
    forest, (X, y), selectors, attributions, own = select("apple", folder, 60)
    nearest = {role: selector.nearest(X, same_class=True) for role, selector in selectors.items()}
    chosen = {role: selectors[role].prototype_indices_[at] for role, (at, _) in nearest.items()}
    different = np.array([len({chosen[role][i] for role in ROLES}) == len(ROLES) for i in range(len(X))])
    row = int(np.flatnonzero(different & (forest.predict(X) == y))[0])
    names = list(X.columns)
    print(
        f"\nTest row {row} of apple, predicted {'good' if forest.predict(X)[row] else 'bad'}, k = 5 per class, β = 1\n"
    )
    for role, selector in selectors.items():
        prototype = chosen[role][row]
        part = alike_parts(own[row], attributions[prototype], features=names)
        table = part.to_frame()
        table.loc[["instance", "prototype"]] = normalize_importance(table.loc[["instance", "prototype"]])
        lines = {
            "instance": X.iloc[row],
            "prototype": selector.prototypes_.iloc[nearest[role][0][row]],
            "importance to the instance": table.loc["instance"],
            "importance to the prototype": table.loc["prototype"],
            "weight": table.loc["weights"],
        }
        print(f"{role}: {part.sentence(f'apple {prototype}')} (distance {nearest[role][1][row]:.2f})\n")
        print(f"| | {' | '.join(names)} |")
        print("|---" * (len(names) + 1) + "|")
        for label, values in lines.items():
            print(f"| {label} | {' | '.join(f'{value:.2f}' for value in values)} |")
        print(f"| mask | {' | '.join('**1**' if held else '0' for held in part.mask[0])} |\n")


def draw_sets(data: Path, folder: Path) -> None:
    """Draw what matters to each prototype and what is highlighted how often, on diabetes."""
    _, (X, _), selectors, attributions, own = select("diabetes", data)
    sets, frequencies = {}, {}
    for role, selector in selectors.items():
        at = selector.prototype_indices_
        labels = [f"{c} · {row}" for c, row in zip(selector.prototype_classes_, at, strict=True)]
        sets[role] = (normalize_importance(attributions[at]), labels)
        parts = alike_parts(own, attributions[at[selector.nearest(X)[0]]], features=list(X.columns))
        frequencies[role] = parts.frequency()
    save(plot_prototypes(sets, list(X.columns)), folder / "prototypes_features.png")
    save(plot_frequency(frequencies), folder / "prototypes_frequency.png")


def draw_experiment(trials: pd.DataFrame, ablation: pd.DataFrame, folder: Path) -> None:
    """Draw accuracy over parameter × β, and alike parts over β, averaged over seeds."""
    names = list(trials["data"].unique())
    shape = len(names), len(ALGORITHMS)
    for role in ROLES[1:]:
        grid, panels = new_figure(5.2 * shape[1], 2.9 * shape[0], *shape, squeeze=False)
        over, others = new_figure(4.6 * shape[1], 2.6 * shape[0], *shape, squeeze=False)
        for i, name in enumerate(names):
            for j, (algorithm, (_, parameter, _)) in enumerate(ALGORITHMS.items()):
                title = f"{name}, {algorithm}"
                part = trials[(trials["data"] == name) & (trials["algorithm"] == algorithm)]
                plot_grid(part[part["role"].isin(["raw", role])], parameter, title=title, ax=panels[i, j])
                some = ablation[(ablation["data"] == name) & (ablation["algorithm"] == algorithm)]
                plot_ablation(some[some["role"] == role], title=title, ax=others[i, j])
        save(grid, folder / f"prototypes_grid_{role}.png")
        save(over, folder / f"prototypes_ablation_{role}.png")


def save(figure, path: Path) -> None:
    """Write a figure with few colours, a third of the bytes."""
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=90)
    Image.open(buffer).convert("RGB").quantize(64).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--results", type=Path, help="folder prototypes_paper.py --output wrote")
    parser.add_argument("--figures", type=Path, help="folder for the figures")
    arguments = parser.parse_args()
    worked(arguments.data)
    if not arguments.figures:
        return
    arguments.figures.mkdir(parents=True, exist_ok=True)
    draw_sets(arguments.data, arguments.figures)
    if arguments.results:
        tables = [pd.read_csv(arguments.results / f"{name}.csv") for name in ("trials", "ablation")]
        draw_experiment(*tables, arguments.figures)


if __name__ == "__main__":
    main()
