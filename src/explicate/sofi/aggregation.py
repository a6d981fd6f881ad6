"""Several explanations together: mean ranks, and warnings that hold for some of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd

from explicate.sofi.explanation import SOFIExplanation


def aggregate_explanations(explanations: Sequence[SOFIExplanation]) -> pd.DataFrame:
    """
    Summarise local explanations.

    Parameters
    ----------
    explanations : sequence of SOFIExplanation
        Of the same features.

    Returns
    -------
    DataFrame
        ``feature``, ``mean_rank``, ``std_rank`` (population), ``top3_frequency``; best mean rank first.

    Raises
    ------
    ValueError
        When there is none, or features differ.
    """
    if not explanations:
        raise ValueError("explanations is empty; explain at least one instance with mode='local'.")
    names = explanations[0].feature_names
    if any(one.feature_names != names for one in explanations):
        raise ValueError("explanations are of different features; aggregate those of one explainer.")
    ranks = np.array([np.argsort(one.order) + 1 for one in explanations])
    table = pd.DataFrame(
        {
            "feature": list(names),
            "mean_rank": ranks.mean(axis=0),
            "std_rank": ranks.std(axis=0),
            "top3_frequency": (ranks <= 3).mean(axis=0),
        }
    )
    return table.sort_values("mean_rank", kind="stable", ignore_index=True)


def warn_of_scale(explanations: Sequence[SOFIExplanation]) -> None:
    """Warn, once a call, of responses that never fall or that climb above the unperturbed one."""
    of = "" if len(explanations) == 1 else f" for {{}} of {len(explanations)} instances"
    flat = [one for one in explanations if one.anchor_high <= one.anchor_low]
    if flat:
        warnings.warn(
            f"the response never falls when features are marginalised{of.format(len(flat))}, so the degradation score "
            "says nothing there: explain instances the model handles well, or raise n_background.",
            UserWarning,
            stacklevel=3,
        )
    climbing = [one for one in explanations if one not in flat and one.anchor_high > (one.raw_baseline or 0.0)]
    if climbing:
        worst = max(climbing, key=lambda one: one.anchor_high - (one.raw_baseline or 0.0))
        warnings.warn(
            f"marginalising features raised the response above the unperturbed one{of.format(len(climbing))} (at most "
            f"from {worst.raw_baseline:.4g} to {worst.anchor_high:.4g}), and the reported scale was widened to it: "
            "marginalised rows look more typical to the model; use marginalization='background' with a larger "
            "n_background.",
            UserWarning,
            stacklevel=3,
        )
