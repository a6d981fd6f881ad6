"""Parameters of the stage `sofi`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Sofi(BaseModel):
    """How features vanish, how rankings are searched, and which instances are explained one by one."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    marginalization: Literal["background", "constant"] = Field("background", description="What features vanish into")
    n_background: int = Field(25, ge=1, description="Training rows averaged over")
    search: Literal["auto", "exact", "hill_climbing"] = Field("auto", description="auto is exact where affordable")
    max_exact_seconds: float = Field(30.0, ge=0, description="Predicted seconds an exact search may take")
    max_iterations: int = Field(200, ge=0, description="Swaps proposed when the search is not exact")
    patience: int | None = Field(None, ge=1, description="Swaps without gain before a restart; null: the budget")
    n_restarts: int = Field(0, ge=0, description="Restarts from a random ranking")
    local_rows: int = Field(30, ge=1, description="Reliable rows explained one by one")
    local_search: Literal["auto", "exact", "hill_climbing"] = Field("auto", description="Search for single rows")
    local_shown: int = Field(4, ge=1, description="Rows drawn: surest, least sure, typical of each class")
    stability_draws: int = Field(10, ge=0, description="Re-drawn samples of the global explanation; 0: none")
    random_state: int = Field(42, ge=0, lt=2**32, description="Seed")
