"""Nodes of the stage `prototypes`: raw and importance-informed selections side by side."""

import logging
from typing import Any

import numpy as np
import pandas as pd

from explicate.pipelines.prototypes.options import Prototypes
from explicate.sampling import sample_stratified
from explicate.tables import Problem, features_and_target

logger = logging.getLogger(__name__)

#: Selections by name ("raw", "informed") and the attributions of the rows they were made from.
Selections = dict[str, Any]
OWN_COLUMNS = ("selection", "row", "predicted", "gain", "coverage", "contribution")


def select_prototypes(model: Any, train: pd.DataFrame, problem: Problem, options: Prototypes) -> Selections:
    """Select prototypes among training rows by distance alone, and with importance in the objective."""
    from sklearn.base import clone

    from explicate.prototypes import shap_attributions

    X, y = features_and_target(train, problem)
    labels = y if problem["task"] == "classification" else None
    X = X.iloc[sample_stratified(labels, len(X), options.max_rows, options.random_state)]
    attributions = shap_attributions(model, X, random_state=options.random_state)
    raw = _selector(model, options)
    selectors = {"raw": raw.fit(X)}
    if options.beta > 0:
        selectors["informed"] = clone(raw).set_params(beta=options.beta, attributions=attributions).fit(X)
    for name, selector in selectors.items():
        for note in selector.notes_[:3]:
            logger.info("%s: %s", name, note)
        if len(selector.notes_) > 3:
            logger.info("%s: %d notes more, in prototypes.summary_text", name, len(selector.notes_) - 3)
    return {"selectors": selectors, "attributions": attributions, "background": X}


def score_surrogates(
    selections: Selections, test: pd.DataFrame, problem: Problem, options: Prototypes
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, float], Any, str]:
    """Score 1-NN over the prototypes on test rows, and draw what matters to each prototype."""
    from explicate.prototypes import compare_prototypes, feature_diversity, normalize_importance, score_prototypes
    from explicate.prototypes.plotting import plot_prototypes

    X, y = features_and_target(test, problem)
    importance = normalize_importance(selections["attributions"])
    tables, scores, lines, drawn = [], [], [], {}
    metrics: dict[str, float] = {}
    for name, selector in selections["selectors"].items():
        result = score_prototypes(selector, X, y)
        own = importance[selector.prototype_indices_]
        numbers = result.metrics() | feature_diversity(own) | {"objective": selector.objective_}
        metrics |= {f"prototypes.{name}.{key}": value for key, value in numbers.items()}
        scores.append({"selection": name, **numbers})
        listed = result.to_frame().rename(columns={"label": "row", "class": "predicted"})
        listed.insert(0, "selection", name)
        values = selector.prototypes_.reset_index(drop=True)
        values.columns = [f"{column} (feature)" if column in OWN_COLUMNS else column for column in values.columns]
        tables.append(pd.concat([listed, values], axis=1))
        drawn[name] = (own, [f"{a} · {b}" for a, b in zip(listed["predicted"], listed["row"], strict=True)])
        lines.append(f"{name}: {result.summary()}")
        lines += selector.notes_
    both = list(selections["selectors"].values())
    if len(both) == 2:
        agreement = compare_prototypes(both[0], both[1], X)
        metrics |= {f"prototypes.agreement.{key}": value for key, value in agreement.items()}
    figure = plot_prototypes(drawn, problem["features"], max_features=options.max_features)
    return pd.concat(tables, ignore_index=True), pd.DataFrame(scores), metrics, figure, "\n".join(lines)


def explain_by_prototypes(
    selections: Selections, reliable: pd.DataFrame, problem: Problem, options: Prototypes
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, float], Any, str]:
    """Give each reliable row its nearest prototype of the predicted class, and what the two have in common."""
    from explicate.prototypes import alike_parts, shap_attributions
    from explicate.prototypes.plotting import plot_frequency

    X, _ = features_and_target(reliable, problem)
    tables, frequencies, lines = [], {}, []
    metrics: dict[str, float] = {}
    first = next(iter(selections["selectors"].values()))
    attributions = shap_attributions(first.model, X, selections["background"], random_state=options.random_state)
    for name, selector in selections["selectors"].items():
        nearest, distance = selector.nearest(X, same_class=True)
        chosen = selector.prototype_indices_[nearest]
        parts = alike_parts(
            attributions, selections["attributions"][chosen], options.mask, features=problem["features"]
        )
        tables.append(
            pd.DataFrame(
                {
                    "selection": name,
                    "row": X.index,
                    "predicted": selector.model_classes(X),
                    "prototype": selector.prototype_labels_[nearest],
                    "prototype_class": selector.prototype_classes_[nearest],
                    "distance": distance.astype(float),
                    "n_features": parts.mask.sum(axis=1),
                    "alike_part": [", ".join(map(str, parts.names(i))) for i in range(len(X))],
                    "explanation": [
                        parts.sentence(f"row {label}", i) for i, label in enumerate(selector.prototype_labels_[nearest])
                    ],
                }
            )
        )
        frequencies[name] = parts.frequency()
        metrics |= {f"prototypes.{name}.{key}": value for key, value in parts.metrics().items()}
        metrics[f"prototypes.{name}.reliable_distance"] = float(np.mean(distance))
        lines.append(f"{name}: {parts.summary()} Row {X.index[0]} is {tables[-1]['explanation'].iloc[0]}.")
    table = pd.DataFrame(frequencies).rename_axis("feature").reset_index()
    figure = plot_frequency(frequencies, max_features=options.max_features)
    return pd.concat(tables, ignore_index=True), table, metrics, figure, "\n".join(lines)


def _selector(model: Any, options: Prototypes) -> Any:
    from explicate.prototypes import APete, GreedyKMedoids, SubmodularAdaptive

    shared = options.model_dump(include={"distance", "fi_role", "per_class_minimum", "polish", "n_bands"})
    if options.algorithm == "apete":
        return APete(model, options.alpha, max_prototypes=options.n_prototypes, **shared)
    if options.n_prototypes is None:
        raise ValueError(
            f"n_prototypes is null, which algorithm='{options.algorithm}' cannot use; give a whole number."
        )
    if options.algorithm == "sma":
        return SubmodularAdaptive(model, options.n_prototypes, options.weighted, **shared)
    return GreedyKMedoids(model, options.n_prototypes, **shared)
