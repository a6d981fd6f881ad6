"""Kedro's settings of this project: which hooks run and how configuration is merged."""

from explicate.hooks import ComputeHook, ProgressHook, TrackingHook

HOOKS = (TrackingHook(), ComputeHook(), ProgressHook())

CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    # An experiment is a diff: its nested keys are merged into those of conf/base, not put in their place.
    "merge_strategy": {"parameters": "soft", "globals": "soft", "mlflow": "soft", "compute": "soft"},
    "config_patterns": {"mlflow": ["mlflow*", "mlflow*/**"], "compute": ["compute*", "compute*/**"]},
}
