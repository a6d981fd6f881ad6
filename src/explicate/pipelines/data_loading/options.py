"""Parameters of the stage `data_loading`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Label = bool | int | float | str


class DataLoading(BaseModel):
    """What to predict from which columns, and how to split the rows."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    target: int | str = Field(description="Column to predict")
    task: Literal["auto", "classification", "regression"] = Field("auto", description="Kind of target")
    drop: list[int | str] = Field([], description="Columns to ignore")
    categorical: list[int | str] = Field([], description="Numeric columns that are codes of categories")
    positive_class: Label | None = Field(None, description="Class of interest of a binary target")
    validation_size: float = Field(0.2, gt=0, lt=1, description="Share of rows for validation")
    test_size: float = Field(0.2, gt=0, lt=1, description="Share of rows for testing")
    sample_rows: int | None = Field(None, ge=10, description="Rows to draw before splitting; null keeps all")
    random_state: int = Field(0, ge=0, lt=2**32, description="Seed of the draw and the splits")
