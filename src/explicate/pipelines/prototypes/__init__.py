"""Model -> prototypes, their surrogate's scores, and the alike parts of reliable rows."""

from explicate.pipelines.prototypes.pipeline import create_pipeline

__all__ = ["create_pipeline"]
