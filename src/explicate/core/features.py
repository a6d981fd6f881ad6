"""Logical features and the columns that carry them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import shorten_list


@dataclass(frozen=True)
class FeatureSpace:
    """
    Mapping from logical features to the columns of a table.

    Attributes
    ----------
    names : tuple
        Features, in order.
    members : tuple of tuple of int
        Positions of the columns each feature occupies.
    columns : tuple
        Column names of the table.

    Examples
    --------
    >>> space = FeatureSpace.from_groups({"kind": ["kind_a", "kind_b"]}, ["size", "kind_a", "kind_b"])
    >>> space.names, space.members
    (('kind', 'size'), ((1, 2), (0,)))
    """

    names: tuple[Any, ...]
    members: tuple[tuple[int, ...], ...]
    columns: tuple[Any, ...]

    @classmethod
    def from_groups(cls, groups: Mapping[Any, Sequence[Any]] | None, columns: Sequence[Any]) -> FeatureSpace:
        """
        Build a space from declared groups; columns left out become features of their own.

        Parameters
        ----------
        groups : mapping, optional
            Feature name -> column names; ``None`` makes every column a feature.
        columns : sequence
            Column names of the table.

        Raises
        ------
        ValueError
            For an empty group, an unknown column, a column in two groups, or a name used twice.
        """
        place = {name: position for position, name in enumerate(columns)}
        taken: dict[int, Any] = {}
        members: dict[Any, tuple[int, ...]] = {}
        for name, group in (groups or {}).items():
            listed = [group] if isinstance(group, str) else list(group)
            if not listed:
                raise ValueError(f"feature_groups[{name!r}] is empty; name its columns or leave it out.")
            unknown = [column for column in listed if column not in place]
            if unknown:
                raise ValueError(f"feature_groups[{name!r}] names {shorten_list(unknown)}, no column of X_train.")
            for column in listed:
                if place[column] in taken:
                    raise ValueError(
                        f"feature_groups puts column {column!r} in {taken[place[column]]!r} and {name!r}; choose one."
                    )
                taken[place[column]] = name
            members[name] = tuple(place[column] for column in listed)
        for column, position in place.items():
            if position not in taken:
                if column in members:
                    raise ValueError(
                        f"feature_groups has a feature {column!r} without the column of that name; rename the feature."
                    )
                members[column] = (position,)
        return cls(tuple(members), tuple(members.values()), tuple(columns))

    @property
    def n_features(self) -> int:
        """Number of logical features."""
        return len(self.names)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per feature: ``feature``, ``n_columns`` and ``columns`` (a list)."""
        listed = [[self.columns[position] for position in group] for group in self.members]
        return pd.DataFrame(
            {"feature": list(self.names), "n_columns": [len(group) for group in listed], "columns": listed}
        )

    def feature_of_column(self) -> np.ndarray:
        """Return the feature each column belongs to, shape (n_columns,), dtype intp."""
        owner = np.empty(len(self.columns), dtype=np.intp)
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
