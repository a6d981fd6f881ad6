"""What every reader of trees ends with: per-tree arrays joined into one ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np

from explicate.core.trees import TreeEnsemble


def assemble(parts: list[dict[str, np.ndarray]], **fields: Any) -> TreeEnsemble:
    """Join per-tree arrays, shifting the children's ids to the joined numbering."""
    sizes = np.array([len(part["feature"]) for part in parts], dtype=np.int64)
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    joined: dict[str, Any] = {}
    for name, dtype in (("threshold", np.float64), ("weight", np.float64), ("gain", np.float64), ("value", np.float64)):
        joined[name] = np.ascontiguousarray(np.concatenate([part[name] for part in parts]), dtype=dtype)
    joined["missing_left"] = np.concatenate([part["missing_left"] for part in parts]).astype(bool)
    joined["feature"] = np.concatenate([part["feature"] for part in parts]).astype(np.int32)
    for side in ("left", "right"):
        shifted = [
            np.where(part["feature"] < 0, -1, part[side] + root) for part, root in zip(parts, roots, strict=True)
        ]
        joined[side] = np.concatenate(shifted).astype(np.int32)
    return TreeEnsemble(roots=roots, **joined, **fields)


def in_column(
    part: dict[str, np.ndarray],
    leaf_values: np.ndarray,
    column: int,
    n_outputs: int,
    model: Any = None,
    scale: float = 1.0,
) -> np.ndarray:
    """Place a boosted tree's leaf values in the output it feeds; zero at internal nodes."""
    rate = scale * (model.learning_rate if model is not None else 1.0)
    value = np.zeros((len(leaf_values), n_outputs))
    value[:, column] = np.where(part["feature"] < 0, rate * leaf_values, 0.0)
    return value
