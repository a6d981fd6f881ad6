"""Parallel work goes where compute.yml says, for the length of a run."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from kedro.config import MissingConfigException

from explicate.hooks import ComputeHook


def hook_of(config):
    hook = ComputeHook()
    hook.after_context_created(SimpleNamespace(config_loader={"compute": config}))
    return hook


def backend():
    found, n_jobs = get_active_backend()
    return type(found).__name__, n_jobs


@pytest.mark.parametrize("leave", ["after_pipeline_run", "on_pipeline_error"])
def test_the_setting_holds_for_the_run_and_no_longer(leave):
    before = backend()
    hook = hook_of({"backend": "threading", "n_jobs": 2, "dask": None})
    hook.before_pipeline_run()
    assert backend() == ("ThreadingBackend", 2)
    assert effective_n_jobs(None) == 2
    getattr(hook, leave)()
    assert backend() == before


def test_nothing_set_changes_nothing():
    before = backend()
    hook = hook_of({"backend": None, "n_jobs": None})
    hook.before_pipeline_run()
    assert backend() == before
    hook.after_pipeline_run()


def test_a_project_without_the_file_works():
    class Loader:
        def __getitem__(self, key):
            raise MissingConfigException("no compute.yml")

    hook = ComputeHook()
    hook.after_context_created(SimpleNamespace(config_loader=Loader()))
    hook.before_pipeline_run()
    hook.after_pipeline_run()


def test_a_run_that_ctrl_c_ended_does_not_leave_its_setting_to_the_next():
    before = backend()
    hook = hook_of({"backend": "threading", "n_jobs": 2})
    hook.before_pipeline_run()
    hook.before_pipeline_run()
    hook.after_pipeline_run()
    assert backend() == before


def test_blas_threads_are_limited_for_the_run():
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    assert before
    hook = hook_of({"blas_threads": 1})
    hook.before_pipeline_run()
    assert set(threads()) == {1}
    hook.after_pipeline_run()
    assert threads() == before


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"jobs": 2}, "'jobs' is no setting; use backend, n_jobs"),
        ({"backend": "ray"}, "backend='ray' is not known; use loky"),
        ({"dask": {"n_workers": 2}}, "dask settings need backend: dask"),
    ],
)
def test_a_wrong_setting_is_named(config, message):
    with pytest.raises(ValueError, match=message):
        hook_of(config)


def test_a_missing_dask_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"needs the package distributed; pip install -e \"\.\[dask\]\""):
        hook_of({"backend": "dask"}).before_pipeline_run()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed")  # dask's own
def test_dask_gives_the_same_numbers():
    pytest.importorskip("distributed")
    calls = [delayed(np.sqrt)(number) for number in range(5)]
    expected = Parallel()(calls)
    hook = hook_of({"backend": "dask"})
    hook.before_pipeline_run()
    try:
        assert backend()[0] == "DaskDistributedBackend"
        assert Parallel()(calls) == expected
    finally:
        hook.after_pipeline_run()
