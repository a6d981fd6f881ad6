"""Parameters of the stage `comparison`."""

from pydantic import BaseModel, ConfigDict, Field


class Comparison(BaseModel):
    """How rankings are scored and compared."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    n_random: int = Field(20, ge=0, description="Random rankings in the floor")
    n_repeats: int = Field(5, ge=1, description="Shuffles per feature of the permutation importance")
    top_k: int = Field(5, ge=1, description="Features in the top-k Jaccard index")
    persistence: float = Field(0.9, gt=0, lt=1, description="Weight kept per depth in the rank-biased overlap")
    max_features: int = Field(20, ge=1, description="Features drawn at most")
    random_state: int = Field(42, ge=0, lt=2**32, description="Seed")
