"""Parameters of the stage `pcfi`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Pcfi(BaseModel):
    """How per-class importance is computed and shown."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    normalize: Literal["forest", "tree"] | None = Field("forest", description="Scale of each class row; null: none")
    path_filter: bool = Field(True, description="Count a split for a class only when a leaf below predicts it")
    max_features: int = Field(20, ge=1, description="Features drawn at most")
