"""Tables and texts of finished stages -> one self-contained page."""

from explicate.pipelines.reporting.pipeline import create_pipeline

__all__ = ["create_pipeline"]
