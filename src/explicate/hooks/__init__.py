"""Hooks of a run: MLflow tracking, where parallel work goes, and what a person at the terminal reads."""

from explicate.hooks.compute import ComputeHook
from explicate.hooks.progress import ProgressHook
from explicate.hooks.tracking import TrackingHook

__all__ = ["ComputeHook", "ProgressHook", "TrackingHook"]
