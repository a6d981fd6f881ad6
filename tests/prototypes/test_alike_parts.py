from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explicate.prototypes import alike_parts, normalize_importance
from explicate.prototypes.alike_parts import mask_weights

FEATURES = ["Size", "Weight", "Sweetness", "Crunchiness", "Juiciness", "Ripeness", "Acidity"]
INSTANCE = [-2.77, -1.08, -1.72, 1.38, 0.19, 3.65, 0.31]
PROTOTYPE = [-0.97, -0.20, -3.07, 0.00, -0.52, 3.16, -0.52]


def test_eq_1_to_3_on_the_scores_of_table_1():
    part = alike_parts(INSTANCE, PROTOTYPE, features=FEATURES)
    a, b = np.square(INSTANCE), np.square(PROTOTYPE)
    assert np.allclose(part.weights[0], a / a.sum() * b / b.sum())
    # The weights the paper prints (.18 for Size, so marked) do not follow from its scores: Size is below the mean.
    assert part.names() == ["Ripeness", "Sweetness"]
    table = part.to_frame()
    assert table.index.tolist() == ["instance", "prototype", "weights", "mask"]
    assert table.loc["mask"].tolist() == [0, 0, 1, 0, 0, 1, 0]
    assert part.sentence("apple 7") == "like apple 7 in Ripeness and Sweetness"


def test_eq_1_squares_instead_of_taking_absolute_values():
    assert np.allclose(normalize_importance([[3.0, -4.0]]), [[9 / 25, 16 / 25]])
    assert np.allclose(normalize_importance([[1e-200, 0.0]]), [[1.0, 0.0]])
    assert normalize_importance([[0.0, 0.0]]).tolist() == [[0.0, 0.0]]
    with pytest.raises(ValueError, match="not finite"):
        normalize_importance([[np.nan, 1.0]])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("mean", [1, 1, 0, 0, 0, 0, 0, 0, 0]),
        ("knee", [1, 1, 0, 0, 0, 0, 0, 0, 0]),
        ("sqrt", [1, 1, 1, 0, 0, 0, 0, 0, 0]),
        ("log", [1, 1, 1, 1, 0, 0, 0, 0, 0]),
    ],
)
def test_masks_by_hand(rule, expected):
    weights = np.array([[0.5, 0.4, 0.03, 0.02, 0.01, 0.01, 0.005, 0.005, 0.0]])
    assert mask_weights(weights, rule).astype(int).tolist() == [expected]


@pytest.mark.parametrize("rule", ["mean", "knee", "sqrt", "log"])
def test_weights_of_zero_are_never_part(rule):
    part = alike_parts([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], rule)
    assert not part.mask.any()
    assert part.sentence("row 3") == "like row 3 in no feature that matters to both"
    assert np.isnan(part.metrics()["alike_importance"])


def test_weights_above_their_chord_have_no_knee_whatever_rounding_says():
    for seed in range(50):
        weights = np.sort(np.random.default_rng(seed).uniform(0.28, 0.3, size=(1, 4)), axis=1)[:, ::-1] * [
            1,
            1,
            1,
            0.01,
        ]
        assert mask_weights(weights, "knee").astype(int).tolist() == [[1, 0, 0, 0]]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(["mean", "knee", "sqrt", "log"]))
def test_parts_are_symmetric_scale_free_and_move_with_columns(seed, d, rule):
    generator = np.random.default_rng(seed)
    a, b = generator.normal(size=(3, d)), generator.normal(size=(3, d))
    part = alike_parts(a, b, rule)
    assert np.array_equal(part.mask, alike_parts(b, a, rule).mask)
    assert np.array_equal(part.mask, alike_parts(-4 * a, 8 * b, rule).mask)
    order = generator.permutation(d)
    assert np.array_equal(part.mask[:, order], alike_parts(a[:, order], b[:, order], rule).mask)
    for row in range(3):  # a part holds the heaviest features
        if part.mask[row].any() and not part.mask[row].all():
            assert part.weights[row][part.mask[row]].min() >= part.weights[row][~part.mask[row]].max()


def test_many_rows_metrics_and_frequency():
    part = alike_parts(pd.DataFrame([[1.0, 0.0], [1.0, 0.0]], columns=["p", "q"]), [[1.0, 0.0], [0.0, 1.0]])
    assert part.frequency().to_dict() == {"p": 0.5, "q": 0.0}
    assert part.metrics() == {"alike_length": 0.5, "alike_importance": 1.0}
    assert "most often p" in part.summary()


def test_frames_are_matched_by_name_and_series_are_rows():
    a, b = pd.DataFrame([[3.0, 1.0]], columns=["p", "q"]), pd.DataFrame([[0.0, 2.0]], columns=["q", "p"])
    assert alike_parts(a, b).names() == ["p"]
    assert alike_parts(a.iloc[0], b.iloc[0]).names() == ["p"]
    with pytest.raises(ValueError, match="prototype"):
        alike_parts(a, b.rename(columns={"p": "r"}))


def test_errors_say_what_to_give():
    with pytest.raises(ValueError, match="instance has 0 rows"):
        alike_parts(np.empty((0, 2)), np.empty((0, 2)))
    with pytest.raises(ValueError, match="one prototype per instance"):
        alike_parts([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="features has 1 names"):
        alike_parts([1.0, 2.0], [1.0, 2.0], features=["a"])
    with pytest.raises(ValueError, match="mask='median'"):
        alike_parts([1.0], [1.0], "median")
