"""Parallel work by joblib: the backend is configuration (`conf/<env>/compute.yml`), never code, never the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")


def parallel_map(
    function: Callable[..., Result],
    items: Sequence[Item],
    *,
    n_jobs: int | None = None,
    progress: str | None = None,
    **keywords: Any,
) -> list[Result]:
    """
    Return ``[function(item, **keywords) for item in items]``, run over joblib.

    Parameters
    ----------
    function : callable
        Importable function (or a closure, under threads); called once per item.
    items : sequence
        What to work on; hand out coarse pieces, since each call costs a message under processes.
    n_jobs : int, optional
        As in joblib: ``None`` is one worker, or what an enclosing ``joblib.parallel_config`` says; -1 is all cores.
    progress : str, optional
        Label of a tqdm bar, drawn in a terminal only; ``None`` draws none.
    **keywords
        Passed to every call.

    Returns
    -------
    list
        Results in the order of `items`, whatever the backend and the number of workers.

    Examples
    --------
    >>> parallel_map(abs, [-1, 2])
    [1, 2]
    """
    from joblib import Parallel, delayed

    calls = (delayed(function)(item, **keywords) for item in items)
    results = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    return list(progress_bar(results, total=len(items), label=progress))


def progress_bar(iterable: Iterable[Item], *, total: int | None = None, label: str | None = None) -> Iterator[Item]:
    """
    Iterate under a tqdm bar when a label is given and standard error is a terminal.

    Examples
    --------
    >>> list(progress_bar([1, 2]))
    [1, 2]
    """
    if label is None:
        return iter(iterable)
    from tqdm.auto import tqdm

    return iter(tqdm(iterable, total=total, desc=label, disable=None, leave=False))


def row_blocks(n_rows: int, bytes_per_row: float, max_bytes: float) -> list[slice]:
    """
    Cut rows into consecutive slices whose working memory stays under a limit (one row at least).

    Parameters
    ----------
    n_rows : int
        Rows in all.
    bytes_per_row : float
        Working memory one row takes.
    max_bytes : float
        Memory one block may take.

    Examples
    --------
    >>> row_blocks(5, bytes_per_row=10, max_bytes=20)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, int(max_bytes // max(bytes_per_row, 1.0)))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def spawn_seeds(random_state: int | np.random.Generator | None, n: int) -> list[int]:
    """
    Draw `n` independent seeds, one per task, so that results do not depend on which worker ran what.

    Examples
    --------
    >>> spawn_seeds(0, 2) == spawn_seeds(0, 2)
    True
    """
    generator = np.random.default_rng(random_state)
    return [int(seed) for seed in generator.integers(0, 2**31 - 1, size=n)]
