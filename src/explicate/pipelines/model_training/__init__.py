"""Train rows -> a fitted Pipeline, its scores and how it errs."""

from explicate.pipelines.model_training.pipeline import create_pipeline

__all__ = ["create_pipeline"]
