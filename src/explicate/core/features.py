"""Logical features and the columns that carry them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import shorten_list


def _unchanged(X: Any) -> Any:
    return X


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """
    Mapping from logical features to the columns of a table, with the transform that follows a perturbation.

    Parameters
    ----------
    groups : mapping
        Feature name -> list of its column names; every column of the table in one group.
    transform : callable, optional
        Turns a perturbed table into what the estimator takes; by default the table itself.
    columns : sequence, optional
        Column names in table order; by default as the groups list them.

    Attributes
    ----------
    names : tuple
        Features, in order (`feature_names` is the same as a list).
    members : tuple of tuple of int
        Positions of the columns each feature occupies.

    Notes
    -----
    sofi-tabular's space also takes the column names of the transform's output; here the transform names them itself.

    Examples
    --------
    >>> space = FeatureSpace.from_groups({"kind": ["kind_a", "kind_b"]}, ["size", "kind_a", "kind_b"])
    >>> space.names, space.members
    (('kind', 'size'), ((1, 2), (0,)))
    >>> space.columns_of("kind")
    ['kind_a', 'kind_b']
    """

    groups: Mapping[Any, Sequence[Any]]
    transform: Callable[[Any], Any] = _unchanged
    columns: Sequence[Any] = ()
    names: tuple[Any, ...] = field(init=False)
    members: tuple[tuple[int, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        """Place every column."""
        groups = {name: [group] if isinstance(group, str) else list(group) for name, group in self.groups.items()}
        listed = [column for group in groups.values() for column in group]
        columns = tuple(self.columns) or tuple(listed)
        place = {name: position for position, name in enumerate(columns)}
        taken: dict[Any, Any] = {}
        for name, group in groups.items():
            if not group:
                raise ValueError(f"feature_groups[{name!r}] is empty; name its columns or leave it out.")
            unknown = [column for column in group if column not in place]
            if unknown:
                raise ValueError(f"feature_groups[{name!r}] names {shorten_list(unknown)}, no column of X_train.")
            for column in group:
                if column in taken:
                    raise ValueError(
                        f"feature_groups puts column {column!r} in {taken[column]!r} and {name!r}; choose one."
                    )
                taken[column] = name
        absent = [column for column in columns if column not in taken]
        if absent:
            raise ValueError(f"groups leaves out the column(s) {shorten_list(absent)}; use FeatureSpace.from_groups.")
        put = {
            "groups": groups,
            "columns": columns,
            "names": tuple(groups),
            "members": tuple(tuple(place[column] for column in group) for group in groups.values()),
        }
        for attribute, value in put.items():
            object.__setattr__(self, attribute, value)

    @classmethod
    def from_groups(
        cls,
        groups: Mapping[Any, Sequence[Any]] | None,
        columns: Sequence[Any],
        transform: Callable[[Any], Any] = _unchanged,
    ) -> FeatureSpace:
        """
        Build a space from declared groups; columns left out become features of their own.

        Parameters
        ----------
        groups : mapping, optional
            Feature name -> column names; ``None`` makes every column a feature.
        columns : sequence
            Column names of the table.
        transform : callable, optional
            As in the constructor.

        Raises
        ------
        ValueError
            For an empty group, an unknown column, a column in two groups, or a name used twice.
        """
        declared = {name: [group] if isinstance(group, str) else list(group) for name, group in (groups or {}).items()}
        grouped = {column for group in declared.values() for column in group}
        for column in columns:
            if column not in grouped:
                if column in declared:
                    raise ValueError(
                        f"feature_groups has a feature {column!r} without the column of that name; rename the feature."
                    )
                declared[column] = [column]
        return cls(declared, transform, tuple(columns))

    @property
    def feature_names(self) -> list[Any]:
        """Logical features, in order."""
        return list(self.names)

    def columns_of(self, feature: Any) -> list[Any]:
        """Return the columns of a feature, given by name or by position."""
        name = feature if feature in self.groups else self.names[feature]
        return list(self.groups[name])

    @property
    def n_features(self) -> int:
        """Number of logical features."""
        return len(self.names)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per feature: ``feature``, ``n_columns`` and ``columns`` (a list)."""
        listed = [list(group) for group in self.groups.values()]
        return pd.DataFrame(
            {"feature": list(self.names), "n_columns": [len(group) for group in listed], "columns": listed}
        )

    def describe(self) -> pd.DataFrame:
        """Return what `to_frame` does, under the name sofi-tabular gives it."""
        return self.to_frame()

    def feature_of_column(self) -> np.ndarray:
        """Return the feature each column belongs to, shape (n_columns,), dtype intp."""
        owner = np.empty(sum(map(len, self.members)), dtype=np.intp)
        for feature, group in enumerate(self.members):
            owner[list(group)] = feature
        return owner

    def positions(self, ranking: Sequence[Any]) -> list[int]:
        """
        Turn a ranking by names (or by positions) into positions.

        Parameters
        ----------
        ranking : sequence
            Every feature once.

        Raises
        ------
        ValueError
            When a feature is missing, repeated or unknown.
        """
        listed = list(ranking)
        place: dict[Any, int] = {name: position for position, name in enumerate(self.names)}
        if listed and not any(item in place for item in listed):
            # Names win where both could be meant, so positions are read only when nothing is a name.
            place = {position: position for position in range(self.n_features)}
        unknown = [item for item in listed if item not in place]
        if unknown:
            raise ValueError(
                f"the ranking names {shorten_list(unknown)}, no feature; features are "
                f"{shorten_list(self.names, most=12)} (or positions 0 to {self.n_features - 1}, throughout)."
            )
        order = [place[item] for item in listed]
        if sorted(order) != list(range(self.n_features)):
            absent = [self.names[i] for i in range(self.n_features) if i not in order]
            raise ValueError(
                f"the ranking must hold each of the {self.n_features} features once; it has {len(order)} entries"
                + (f" and lacks {shorten_list(absent)}." if absent else ".")
            )
        return order
