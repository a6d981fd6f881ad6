"""A fitted model as an MLflow model: signature, example, requirements, and a file that loads safely where it can."""

from __future__ import annotations

from typing import Any

import pandas as pd

from explicate.hooks.provenance import installed

#: Where an estimator's module comes from, by names of packages that provide it.
_PROVIDERS = {
    "sklearn": ("scikit-learn",),
    "lightgbm": ("lightgbm",),
    "xgboost": ("xgboost", "xgboost-cpu"),
    "explicate": ("explicate",),
}
_EXAMPLE_ROWS = 5


def log_model(run_id: str, name: str, model: Any, rows: pd.DataFrame | None) -> str:
    """
    Log a model to a run; MLflow's skops format where that loads it, cloudpickle elsewhere.

    Parameters
    ----------
    run_id : str
    name : str
        Of the logged model.
    model : estimator
        Fitted, with the scikit-learn interface.
    rows : DataFrame, optional
        Rows the model can predict: the signature is read off all of them, the first five become the input example.

    Returns
    -------
    str
        Address of the logged model.
    """
    import mlflow.sklearn
    from mlflow.models import Model, infer_signature

    signature = example = None
    if rows is not None and len(rows):
        signature = infer_signature(rows, model.predict(rows.head(_EXAMPLE_ROWS)))
        # MLflow stores an example as JSON, whose column names are text; a model of numbered columns has no such rows.
        example = rows.head(_EXAMPLE_ROWS) if all(isinstance(column, str) for column in rows) else None
    info = Model.log(
        artifact_path=None,
        flavor=mlflow.sklearn,
        run_id=run_id,
        name=name,
        sk_model=model,
        signature=signature,
        input_example=example,
        pip_requirements=requirements_of(model),  # inferring them takes seconds a model
        **_format_of(model),
    )
    return info.model_uri


def requirements_of(model: Any) -> list[str]:
    """
    Return the pinned packages a model needs to be loaded.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> [line.partition("==")[0] for line in requirements_of(DecisionTreeClassifier())]
    ['scikit-learn', 'numpy', 'pandas', 'skops']
    """
    modules = {type(part).__module__.partition(".")[0] for part in _parts(model)}
    providers = [name for module in sorted(modules) for name in _PROVIDERS.get(module, (module,))]
    wanted = dict.fromkeys(["scikit-learn", "numpy", "pandas", "skops", *providers])
    return [f"{name}=={version}" for name, version in installed(wanted).items()]


def _parts(model: Any) -> list[Any]:
    """Return a model and the estimators its parameters hold."""
    parameters = model.get_params(deep=True).values() if hasattr(model, "get_params") else []
    return [model, *(value for value in parameters if hasattr(value, "get_params"))]


def _format_of(model: Any) -> dict[str, Any]:
    """Choose skops when what it writes can be read back: unlike a pickle, loading that runs no code."""
    import skops.io

    try:
        written = skops.io.dumps(model)
        trusted = skops.io.get_untrusted_types(data=written)
        skops.io.loads(written, trusted=trusted)
    except Exception:  # whatever skops cannot do ends here, and each library fails in its own way
        return {"serialization_format": "cloudpickle"}
    return {"serialization_format": "skops", "skops_trusted_types": trusted}
