"""Parameters of the stage `reliable_instances`."""

from pydantic import BaseModel, ConfigDict, Field


class ReliableInstances(BaseModel):
    """Which test rows count as handled well, and how many of them to explain."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    quantile: float = Field(0.5, ge=0, le=1, description="Regression: share of rows kept, smallest error first")
    tolerance: float | None = Field(
        None, ge=0, description="Regression: largest absolute error kept; overrides quantile"
    )
    max_rows: int | None = Field(None, ge=1, description="Rows kept at most, drawn in proportion to their class")
    random_state: int = Field(0, ge=0, lt=2**32, description="Seed of that draw")
