"""What a person reads while a run goes on and at its end."""

from __future__ import annotations

import logging
from pathlib import Path

import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.pipeline import Node, Pipeline
from kedro_datasets.json import JSONDataset
from kedro_datasets.text import TextDataset

from explicate.hooks import ProgressHook
from explicate.hooks.summary import summarise, summary_lines

pytestmark = pytest.mark.filterwarnings("ignore:One or more dataset names contain:UserWarning")  # as stages name them


def nothing(given):
    return given


def test_summary_has_at_most_twelve_lines_and_keeps_scores_ranking_and_page():
    ranking = pd.DataFrame({"feature": list("gfedcba"), "rank": range(7, 0, -1)})
    stored = {f"stage{i}.summary_text": f"line {i}\nmore" for i in range(30)}
    stored |= {"m.scores_metrics": {"model.test.r2": 0.5, "model.test.recall.a": 1.0}}
    stored |= {"sofi.ranking_table": ranking, "reporting.page": Path("/elsewhere/report.html")}
    lines = list(summary_lines(stored))
    assert len(lines) == 12
    assert lines[0] == "test: r2 0.500"
    assert lines[1] == "sofi: first 5 features a, b, c, d, e"
    assert lines[2] == "stage0: line 0"
    assert lines[-1] == "reporting: /elsewhere/report.html"


def test_a_skipped_stage_says_why_and_nothing_else_is_made_up():
    stored = {
        "pcfi.summary_text": "skipped: a regressor has no classes",
        "pcfi.ranking_table": pd.DataFrame({"feature": [], "rank": []}),
        "pcfi.scores_metrics": {},
        "odd.scores_metrics": {"model.test.r2": None},
    }
    assert list(summary_lines(stored)) == ["pcfi: skipped: a regressor has no classes"]


def test_what_cannot_be_read_back_is_left_out(tmp_path):
    text = TextDataset(filepath=str(tmp_path / "a.txt"))
    text.save("fine")
    (tmp_path / "broken.json").write_text("{")
    datasets = {
        "a.summary_text": text,
        "b.scores_metrics": JSONDataset(filepath=str(tmp_path / "broken.json")),
        "c.summary_text": TextDataset(filepath=str(tmp_path / "absent.txt")),
        "d.summary_text": MemoryDataset(),
    }
    pipeline = Pipeline([Node(nothing, "given", name, name=name) for name in datasets])
    assert summarise(pipeline, DataCatalog(datasets)) == ["a: fine"]


def test_each_stage_is_named_with_its_time(caplog):
    inner = Pipeline([Node(nothing, "given", "half", name="first"), Node(nothing, "half", "whole", name="second")])
    pipeline = Pipeline(inner, namespace="sofi", inputs={"given"}) + Pipeline([Node(nothing, "given", "x", name="one")])
    hook = ProgressHook()
    hook.before_pipeline_run(pipeline)
    with caplog.at_level(logging.INFO, "explicate"):
        for node in pipeline.nodes:
            hook.before_node_run(node)
            hook.after_node_run(node)
        hook.after_pipeline_run(pipeline, DataCatalog())
    said = [record.getMessage().split()[0] for record in caplog.records]
    assert sorted(said) == ["one", "sofi", "whole"]
    assert said[-1] == "whole"
