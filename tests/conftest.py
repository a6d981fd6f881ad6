"""Shared by all tests: headless figures, public tables, one BLAS thread."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("DO_NOT_TRACK", "true")
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the public tables; a developer without it skips, CI does not."""
    folder = Path(os.environ.get("EXPLICATE_SHARED_DATA", PROJECT.parent / "shared" / "data"))
    if not folder.is_dir() and not os.environ.get("CI"):
        pytest.skip(f"no public tables in {folder}; set EXPLICATE_SHARED_DATA")
    return folder


@pytest.fixture
def chromium():
    """Headless Chromium; a developer without it skips, CI does not."""
    tool = pytest.importorskip("playwright.sync_api")
    path = Path("/usr/bin/chromium")
    if not path.exists() and not os.environ.get("CI"):
        pytest.skip(f"no {path}")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    with tool.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(path), args=["--no-sandbox", "--disable-gpu", *quiet])
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def _global_numpy_state_is_left_alone(request):
    """Every test proves that nothing it calls draws from or seeds NumPy's global generator."""
    if any(request.node.get_closest_marker(name) for name in ("peer", "global_random")):
        yield
        return
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    yield
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    assert before["state"]["pos"] == after["state"]["pos"]
    assert np.array_equal(before["state"]["key"], after["state"]["key"])
