"""Which instances to show when nobody named any: the surest, the least sure, and a typical one of each class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def choose_instances(model: Any, X: pd.DataFrame, *, classification: bool, most: int = 4) -> dict[str, int]:
    """
    Choose instances worth a local explanation.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : DataFrame of shape (n_rows, n_columns)
        Candidates.
    classification : bool
        Whether confidence (the largest class probability) or the estimate orders them.
    most : int, default 4
        Instances at most.

    Returns
    -------
    dict
        Reason -> position in `X`, no position twice.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = pd.DataFrame({"x": [3.0, 1.0, 2.0]})
    >>> choose_instances(LinearRegression().fit(X, [3, 1, 2]), X, classification=False)
    {'highest estimate': 0, 'lowest estimate': 1, 'median estimate': 2}
    """
    if not classification:
        order = np.argsort(np.asarray(model.predict(X)), kind="stable")
        wanted = {"highest estimate": order[-1], "lowest estimate": order[0], "median estimate": order[len(order) // 2]}
    else:
        proba = model.predict_proba(X)
        sure = proba.max(axis=1)
        wanted = {"most confident": np.argmax(sure), "least confident": np.argmin(sure)}
        for column in range(proba.shape[1]):
            members = np.flatnonzero(np.argmax(proba, axis=1) == column)
            if len(members):
                typical = members[np.argsort(sure[members], kind="stable")[len(members) // 2]]
                wanted[f"typical {model.classes_[column]}"] = typical
    chosen: dict[str, int] = {}
    for reason, position in wanted.items():
        if int(position) not in chosen.values() and len(chosen) < most:
            chosen[reason] = int(position)
    return chosen
