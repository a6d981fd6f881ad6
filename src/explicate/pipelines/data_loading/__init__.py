"""Raw table -> checked table -> train, validation and test rows."""

from explicate.pipelines.data_loading.pipeline import create_pipeline

__all__ = ["create_pipeline"]
