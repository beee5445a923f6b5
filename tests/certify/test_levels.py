"""Levels are held or not: by cases written by hand."""

from __future__ import annotations

import pytest

from conform.certify.levels import Asked, levels, standing
from conform.suites.filters import matches_op

WHOLE = Asked("opencl", calls=1000, is_whole=True)


def case(**changed: object) -> dict:
    plain = {
        "id": "one", "op": "aten::exp", "status": "pass", "check": "accuracy", "rule": None,
        "contract": {"kind": "ulp"}, "tables": {"cr": "pass", "opencl": "pass"},
    }  # fmt: skip
    return plain | changed


def held(*cases: dict, asked: Asked = WHOLE) -> set[str]:
    return {one["name"] for one in standing(cases, asked) if one["held"]}


EVERY = [
    case(), case(contract={"kind": "exact"}), case(check="special"),
    case(check="determinism", tables={}, contract=None), case(op="aten::native_layer_norm_backward"),
]  # fmt: skip


def test_what_passes_altogether_holds_every_level() -> None:
    assert held(*EVERY) == {"exact", "ieee", "accurate", "correctly rounded", "deterministic", "training"}


@pytest.mark.parametrize(
    ("changed", "lost"),
    [
        (case(status="fail"), {"accurate", "correctly rounded"}),
        (case(status="waived", contract={"kind": "exact"}), {"accurate", "correctly rounded", "exact"}),
        (case(check="special", status="crash", tables={"cr": "fail"}), {"accurate", "correctly rounded", "ieee"}),
        (case(tables={"cr": "fail"}), {"correctly rounded"}),
        (case(tables={"cr": None}), set()),
        (case(check="determinism", status="fail", tables={}, contract=None), {"accurate", "deterministic"}),
        (case(op="aten::native_dropout", status="timeout", tables={}), {"accurate", "training"}),
        (case(status="unsupported", tables={}, contract=None), {"accurate"}),
        (case(status="unsupported", rule="not claimed", tables={}, contract=None), set()),
        (case(status="unspecified", check="special"), set()),
    ],
)
def test_one_case_that_does_not_loses_the_levels_that_it_is_of(changed: dict, lost: set[str]) -> None:
    assert {level.name for level in levels()} - held(*EVERY, changed) == lost


def test_none_is_held_by_nothing_by_a_part_or_by_too_few_calls() -> None:
    assert held() == set()
    assert held(*EVERY, asked=Asked("opencl", calls=1000, is_whole=False)) == set()
    assert "deterministic" not in held(*EVERY, asked=Asked("opencl", calls=999, is_whole=True))
    assert "accurate" not in held(*EVERY, asked=Asked("stablehlo", calls=1000, is_whole=True))
    reasons = {one["name"]: one["why_not"] for one in standing([], WHOLE)}
    assert reasons["exact"] == "no case of it was judged"


def test_training_is_of_gradients_norms_and_dropout() -> None:
    (training,) = (level for level in levels() if level.name == "training")
    named = [op for op in ("aten::native_batch_norm", "aten::native_dropout", "aten::convolution_backward", "aten::exp",
                           "aten::embedding_dense_backward", "aten::layer_norm")
             if any(matches_op(op, glob) for glob in training.op)]  # fmt: skip
    assert named == ["aten::native_batch_norm", "aten::native_dropout", "aten::convolution_backward",
                     "aten::embedding_dense_backward"]  # fmt: skip
