"""Parameters of the stage `mistic`."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Mistic(BaseModel):
    """How features are selected by support vector machines, and how the selected one is explained."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    grid: dict[str, list[Any]] = Field(
        {"C": [0.25, 1.0, 4.0], "gamma": ["scale"]}, description="Keyword of the SVM -> values to try"
    )
    keywords: dict[str, Any] = Field({}, description="Arguments of the SVM (SVC, or SVR for a numeric target)")
    direction: Literal["backward", "forward"] = Field("forward", description="Add features, or remove them")
    select: Literal["knee", "best", "tuned"] | int = Field(
        "knee", description="Features kept: at the knee, the best, the best after tuning anew, a number"
    )
    max_features: int | None = Field(None, ge=1, description="forward: features at most; null: all")
    step: float = Field(0.1, ge=0, description="Share of the candidates that move at once; 1 and above: their number")
    n_splits: int = Field(3, ge=2, description="Folds; fewer where a class is rarer")
    tune: Literal["once", "each_step"] = Field("once", description="How often parameters are tuned")
    ranking_weight: float = Field(0.5, ge=0, le=1, description="Share of decisions, against the dual objective")
    group_normalization: Literal["none", "sqrt", "per_feature"] = Field(
        "none", description="What the effect of a one-hot block is divided by: nothing, root or number of columns"
    )
    ranking_rows: Literal["synthetic", "train", "validation"] = Field("synthetic", description="Rows of the decisions")
    max_rows: int = Field(500, ge=10, description="Training rows used, drawn in proportion to their class")
    explained_rows: int = Field(30, ge=2, description="Reliable rows explained at most")
    figure_features: int = Field(20, ge=1, description="Features drawn at most")
    random_state: int = Field(42, ge=0, lt=2**32, description="Seed")
