"""Parameters of the stage `model_training`."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Search(BaseModel):
    """A cross-validated grid search over keywords of the estimator."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    grid: dict[str, list[Any]] = Field({}, description="Keyword -> values to try; empty means no search")
    cv: int = Field(5, ge=2, description="Folds")
    scoring: str | None = Field(None, description="scikit-learn score name; null is the estimator's own")


class ModelTraining(BaseModel):
    """Which estimator to train, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    estimator: str = Field("auto", description="Import path of the estimator; auto is a random forest")
    keywords: dict[str, Any] = Field({}, description="Arguments of its constructor")
    scale: bool = Field(False, description="Whether numeric columns are standardised")
    search: Search = Field(Search(), description="Optional search over a grid")
    random_state: int = Field(0, ge=0, lt=2**32, description="Seed of the estimator")
