"""Rankings of every stage -> their scores under one protocol, and how far they agree."""

from explicate.pipelines.comparison.pipeline import create_pipeline

__all__ = ["create_pipeline"]
