"""The built-in suite `modules`: what is in it, that torch passes, and that wrong arguments do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import conform
from conform.judging.verdict import FAILURES
from conform.suites import load

SHARES = 24
TESTS = [test.id for test in load(["modules"]).tests]
# What the suite asks and the kit cannot judge, with the reason.
UNJUDGED = {
    "nn_GaussianNLLLoss": "cannot be exported",
    "nn_Upsample_bicubic_aligned": "on either side of a threshold",
}


def ran(ids: list[str], **options: Any) -> conform.Run:
    options = {"dtypes": ["float32"], "layouts": "as-written", "backend": "cpu", **options}
    return conform.check(["modules"], ids=[f"{name}/*" for name in ids], **options)


def test_the_suite_has_modules_of_every_kind() -> None:
    classes = {test.op_name for test in load(["modules"]).tests}
    assert len(classes) >= 110
    assert sum(name.startswith("torch.nn.") for name in classes) >= 100


def test_torch_passes_on_a_share_of_the_modules(pytestconfig: pytest.Config) -> None:
    """In float32, where no half type shows how torch's kernels round on the way (docs/torch-cpu.md)."""
    own = TESTS[pytestconfig.getoption("--seed") % SHARES :: SHARES]
    statuses = {case["test"]: (case["status"], case["reason"]) for case in ran(own).record["cases"]}
    assert statuses.keys() == set(own)
    wrong = {test: told for test, told in statuses.items() if told[0] != "pass" and test not in UNJUDGED}
    assert wrong == {}


@pytest.mark.long
def test_torch_passes_on_all_but_what_is_known() -> None:
    run = conform.check(["modules"], "cpu", waivers="torch-cpu-modules", workers=2)
    assert [case["id"] for case in run.record["cases"] if case["status"] in FAILURES] == []
    unjudged = {case["test"]: case["reason"] for case in run.record["cases"] if case["status"] == "unjudged"}
    unknown = {test: why for test, why in unjudged.items() if test not in UNJUDGED and "vacuous" not in why}
    assert unknown == {}
    assert all(UNJUDGED[test] in why for test, why in unjudged.items() if test in UNJUDGED)


PLANTS = {
    "eps": ["nn_LayerNorm", "nn_RMSNorm", "nn_GroupNorm", "nn_BatchNorm1d", "nn_InstanceNorm1d"],
    "unbiased": ["nn_BatchNorm2d_of_the_batch"],
    "padding mode": ["nn_Conv1d_padded_reflect", "nn_Conv2d_padded_circular", "nn_Conv2d_padded_replicate"],
    "slope": ["nn_LeakyReLU", "nn_LeakyReLU_slope"],
    "align_corners": ["nn_Upsample_bilinear_aligned", "nn_Upsample_linear_true", "nn_Upsample_trilinear"],
    "count_include_pad": ["nn_AvgPool1d_true", "nn_AvgPool2d_null"],
    "ceil_mode": ["nn_MaxPool1d"],
    "approximate": ["nn_GELU", "nn_GELU_tanh"],
    "label_smoothing": ["nn_CrossEntropyLoss_mean"],
    "norm_first": ["nn_TransformerEncoderLayer_true"],
    "beta": ["nn_Softplus_sharp", "nn_SmoothL1Loss_beta"],
}
DAILY = ("eps", "padding mode")


@pytest.mark.parametrize(
    "plant", [name if name in DAILY else pytest.param(name, marks=pytest.mark.long) for name in PLANTS]
)
def test_a_wrong_argument_fails_every_test_that_has_it(plant: str) -> None:
    backend = f"{Path(__file__).parent / 'modules_planted.py'}::Wrong(plant={plant!r})"
    statuses = {case["test"]: case["status"] for case in ran(PLANTS[plant], backend=backend).record["cases"]}
    assert statuses == dict.fromkeys(PLANTS[plant], "fail")
