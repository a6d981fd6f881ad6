"""Model -> per-class importance, in training and on test rows."""

from explicate.pipelines.pcfi.pipeline import create_pipeline

__all__ = ["create_pipeline"]
