"""One function makes names MLflow accepts; one flattens parameters."""

from __future__ import annotations

from explicate.hooks.names import flatten, mlflow_name


def test_names_mlflow_refuses_do_not_collide():
    names = ["a(b)", "a[b]", "a_b_", "../a", "/a", "a//b", "", ".", "x" * 300, "x" * 301, "prix (€)"]
    cleaned = [mlflow_name(name) for name in names]
    assert len(set(cleaned)) == len(names)
    assert mlflow_name("sofi.ds") == "sofi.ds"
    from mlflow.utils.validation import _validate_metric_name

    for name in cleaned:
        _validate_metric_name(name)


def test_nested_parameters_become_dotted():
    assert flatten({"a": {"b": 1, "c": {"d": [1]}}, "e": {}}) == {"a.b": 1, "a.c.d": [1], "e": {}}
