"""A table made by any importable function, so that no data file is committed."""

from __future__ import annotations

import importlib
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset, DatasetError


class LoaderDataset(AbstractDataset[None, pd.DataFrame]):
    """
    Load a table by calling a function.

    Parameters
    ----------
    loader : str
        Dotted path of a function that returns a DataFrame or a scikit-learn Bunch with a ``frame``.
    load_args : dict, optional
        Keywords of the call.
    name_classes : bool, default False
        Whether a Bunch's integer target is replaced by its ``target_names``.
    metadata : dict, optional
        Kept for plugins and hooks.

    Examples
    --------
    >>> LoaderDataset(loader="sklearn.datasets.load_wine", load_args={"as_frame": True}).load().shape
    (178, 14)
    """

    def __init__(
        self,
        *,
        loader: str,
        load_args: dict[str, Any] | None = None,
        name_classes: bool = False,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._loader = loader
        self._load_args = load_args or {}
        self._name_classes = name_classes
        self.metadata = metadata

    def load(self) -> pd.DataFrame:
        """Call the loader and return its table."""
        module, _, name = self._loader.rpartition(".")
        try:
            function = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise DatasetError(
                f"loader={self._loader!r} cannot be imported ({error}); give a dotted path of an installed function."
            ) from error
        if not callable(function):
            raise DatasetError(f"loader={self._loader!r} is a {type(function).__name__}; give a function.")
        try:
            loaded = function(**self._load_args)
        except TypeError as error:
            raise DatasetError(f"loader={self._loader!r} refuses load_args={self._load_args!r}: {error}") from error
        frame = getattr(loaded, "frame", loaded)
        if not isinstance(frame, pd.DataFrame):
            raise DatasetError(
                f"loader={self._loader!r} returned a {type(loaded).__name__} without a table; give a function that "
                "returns a DataFrame, or load_args: {as_frame: true} for scikit-learn's."
            )
        if not self._name_classes:
            return frame
        return self._with_class_names(frame, loaded)

    def _with_class_names(self, frame: pd.DataFrame, loaded: Any) -> pd.DataFrame:
        """Replace class numbers by the names a Bunch lists for them."""
        names, target = getattr(loaded, "target_names", None), getattr(loaded, "target", None)
        if names is None or isinstance(names, str) or not isinstance(target, pd.Series):
            raise DatasetError(f"name_classes=True but loader={self._loader!r} names no classes; remove name_classes.")
        if not pd.api.types.is_integer_dtype(target) or not target.isin(range(len(names))).all():
            raise DatasetError(
                f"name_classes=True but the target {target.name!r} of loader={self._loader!r} is not a column of the "
                f"numbers 0 to {len(names) - 1} of its {len(names)} class names; remove name_classes."
            )
        return frame.assign(**{str(target.name): [str(names[number]) for number in target]})

    def save(self, data: None) -> None:
        """Refuse: the table belongs to the loader."""
        raise DatasetError(f"the table of loader={self._loader!r} is read-only; save to another dataset.")

    def _describe(self) -> dict[str, Any]:
        return {"loader": self._loader, "load_args": self._load_args}

    def _exists(self) -> bool:
        return True
