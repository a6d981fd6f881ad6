"""Names MLflow accepts, for names it does not."""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Mapping
from typing import Any

_REFUSED = re.compile(r"[^\w.\- /:]")
_LONGEST = 200


def mlflow_name(name: object) -> str:
    """
    Return a key MLflow accepts as a metric, parameter or tag.

    Parameters
    ----------
    name : object
        Any name; its text is used.

    Returns
    -------
    str
        The same text where MLflow accepts it; otherwise refused characters become ``_`` and a checksum of the
        original follows, so that different names stay different.

    Examples
    --------
    >>> mlflow_name("pcfi.petal length"), mlflow_name("pcfi.petal length (cm)")
    ('pcfi.petal length', 'pcfi.petal length _cm_-94a586aa')
    """
    text = str(name)
    clean = _REFUSED.sub("_", text)[:_LONGEST]
    normal = posixpath.normpath(clean)
    if normal != clean or clean in ("", ".") or clean.startswith(("/", "..")):
        clean = "_" + clean.replace("/", "_").strip(".")
    return clean if clean == text else f"{clean}-{zlib.crc32(text.encode()):08x}"


def flatten(values: Any, prefix: str = "") -> dict[str, Any]:
    """
    Flatten nested parameters to dotted keys.

    Parameters
    ----------
    values : mapping or pydantic model
        Parameters as Kedro holds them.
    prefix : str, default ""
        Key of `values` itself.

    Examples
    --------
    >>> flatten({"model": {"depth": 3, "grid": {}}})
    {'model.depth': 3, 'model.grid': {}}
    """
    if hasattr(values, "model_dump"):
        values = values.model_dump()
    if not isinstance(values, Mapping) or not values:
        return {prefix: values} if prefix else {}
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= flatten(value, f"{prefix}.{key}" if prefix else str(key))
    return flat
