"""Model and reliable rows -> the ranking of features that degrades the response the fastest."""

from explicate.pipelines.sofi.pipeline import create_pipeline

__all__ = ["create_pipeline"]
