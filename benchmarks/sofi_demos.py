"""SOFI on the tables of the published demos 2 to 4, against sofi-tabular 1.0.0 at the demos' budget, in one run.

Budget: 10 background rows, 120 iterations, patience 40, one restart, a quarter held out, seed 42. Model (forest of 100
trees) and rows (the first 300 reliable ones) are ours: the demos do not state theirs, so scores are compared within a
line, not with the published figures.

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
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sofi_speed import HEADER, compare

SHARED = Path(os.environ.get("EXPLICATE_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
BUDGET = {"n_background": 10, "max_iterations": 120, "patience": 40, "n_restarts": 1}
DEMOS = {
    "mushroom": "demo 2, mushroom (21 nominal)",
    "telco": "demo 3, telco (18 mixed, regression)",
    "college": "demo 4, college (16, regression)",
}


def demo(name: str):
    if name == "mushroom":
        table = pd.read_csv(SHARED / "mushrooms.csv").drop(columns="veil_type").astype(object)
        target, model = "type", RandomForestClassifier
    elif name == "telco":
        table, target, model = pd.read_csv(SHARED / "telco.csv").drop(columns="TotalCharges"), "MonthlyCharges", None
    else:
        table = pd.read_csv(SHARED / "College.csv").select_dtypes("number")
        target, model = "Outstate", None
    X, y = table.drop(columns=target), table[target]
    nominal = [c for c in X.columns if not pd.api.types.is_numeric_dtype(X[c])]
    encoder = ColumnTransformer([("o", OneHotEncoder(handle_unknown="ignore"), nominal)], remainder="passthrough")
    last = (RandomForestClassifier if model else RandomForestRegressor)(100, random_state=42)
    return make_pipeline(encoder, last) if nominal else last, X, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=list(DEMOS), choices=list(DEMOS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(HEADER)
    for name in arguments.cases:
        print(compare(DEMOS[name], "auto", lambda name=name: demo(name), most_rows=300, **BUDGET), flush=True)


if __name__ == "__main__":
    main()
