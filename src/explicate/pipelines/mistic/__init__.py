"""Train rows -> an SVM on the features it needs, and what moves its decisions on reliable rows."""

from explicate.pipelines.mistic.pipeline import create_pipeline

__all__ = ["create_pipeline"]
