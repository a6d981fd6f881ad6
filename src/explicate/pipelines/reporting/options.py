"""Parameters of the stage `reporting`."""

from pydantic import BaseModel, ConfigDict, Field


class Reporting(BaseModel):
    """How much the page shows."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    table: str = Field("", description="Name of the table on the page")
    max_rows: int = Field(30, ge=1, description="Rows of a table shown at most")
    max_features: int = Field(15, ge=1, description="Bars drawn at most")
    local_shown: int = Field(3, ge=0, description="Rows explained one by one on the page")
