"""Test rows -> those the model handles well, which explanations rest on."""

from explicate.pipelines.reliable_instances.pipeline import create_pipeline

__all__ = ["create_pipeline"]
