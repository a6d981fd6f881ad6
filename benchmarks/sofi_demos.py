"""SOFI on the tables of the published demos 2 to 4, against sofi-tabular 1.0.0 at the demos' budget, in one run.

Budget: 10 background rows, 120 iterations, patience 40, one restart, a quarter held out, seed 42. The demos' model and
rows are not stated in words; the set-up below (forest of 200 trees; 300 held-out rows at most, of which the reliable
ones, regression with quantile .7; telco encoded with drop="first") gives sofi-tabular the scores noted of its own
demos to the last digit for mushroom (.5642) and college (.6405), to .0001 for telco (.7303). For mushroom that need not
be the demo's own set-up: the proved optimum here is .5685, while .5706 is noted for another.

Run: python benchmarks/sofi_demos.py [--cases mushroom telco college]
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from explicate.sofi import select_reliable_instances
from sofi_speed import HEADER, compare

SHARED = Path(os.environ.get("EXPLICATE_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
BUDGET = {"n_background": 10, "max_iterations": 120, "patience": 40, "n_restarts": 1}
DEMOS = {
    "mushroom": "demo 2, mushroom (21 nominal)",
    "telco": "demo 3, telco (18 mixed, regression)",
    "college": "demo 4, college (16, regression)",
}


def demo(name: str):
    """Return the fitted model, its training data and the rows to explain."""
    if name == "mushroom":
        table, target = pd.read_csv(SHARED / "mushrooms.csv").drop(columns="veil_type").astype(object), "type"
    elif name == "telco":
        table, target = pd.read_csv(SHARED / "telco.csv").drop(columns="TotalCharges"), "MonthlyCharges"
    else:
        table, target = pd.read_csv(SHARED / "College.csv").select_dtypes("number"), "Outstate"
    X, y = table.drop(columns=target), table[target]
    nominal = [c for c in X.columns if not pd.api.types.is_numeric_dtype(X[c])]
    one_hot = OneHotEncoder(handle_unknown="ignore", drop="first" if name == "telco" else None)
    numbers = [c for c in X.columns if c not in nominal]
    encoder = ColumnTransformer([("numbers", "passthrough", numbers), ("nominal", one_hot, nominal)])
    last = (RandomForestClassifier if name == "mushroom" else RandomForestRegressor)(200, random_state=42)
    train, held_out, y_train, y_held_out = train_test_split(X, y, test_size=0.25, random_state=42)
    model = (make_pipeline(encoder, last) if nominal else last).fit(train, y_train)
    held_out = held_out.sample(min(300, len(held_out)), random_state=42) if nominal else held_out
    return model, train, select_reliable_instances(model, held_out, y_held_out.loc[held_out.index], quantile=0.7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=list(DEMOS), choices=list(DEMOS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(HEADER)
    for name in arguments.cases:
        print(compare(DEMOS[name], "auto", *demo(name), **BUDGET), flush=True)


if __name__ == "__main__":
    main()
