"""Parameters of the stage `prototypes`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Prototypes(BaseModel):
    """How prototypes are selected and compared with rows."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    algorithm: Literal["gkm", "sma", "apete"] = Field("gkm", description="G-KM, SM-A or A-PETE")
    n_prototypes: int | None = Field(5, ge=1, description="Per class (gkm), in all (sma), at most (apete; null: any)")
    alpha: float = Field(0.05, ge=0, description="apete: relative change of the gain at which selection stops")
    weighted: bool = Field(False, description="sma: gains relative to class size (SM-WA)")
    distance: Literal["auto", "tree", "gower"] = Field("auto", description="auto: leaves of trees, else features")
    beta: float = Field(0.5, ge=0, description="Weight of importance in the informed selection; 0: raw alone")
    fi_role: Literal["diversity", "similarity"] = Field("diversity", description="Whether shared importance costs")
    per_class_minimum: int = Field(1, ge=0, description="Prototypes of every predicted class, at least")
    polish: bool = Field(False, description="FasterPAM after the greedy selection")
    mask: Literal["mean", "knee", "sqrt", "log"] = Field("mean", description="Rule of the alike part")
    n_bands: int = Field(3, ge=2, description="Regression: quantile bands of the prediction that act as classes")
    max_rows: int = Field(1000, ge=2, description="Training rows that may become prototypes")
    max_features: int = Field(20, ge=1, description="Features drawn at most")
    random_state: int = Field(42, ge=0, description="Seed of the draw of rows and of sampled attributions")
