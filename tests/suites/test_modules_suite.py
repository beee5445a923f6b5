"""The built-in suite `modules`: what is in it, that torch passes, and that wrong arguments do not."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import conform
from conform.frontends.construction import class_at
from conform.judging.verdict import FAILURES
from conform.suites import load
from conform.suites.nodes import Const, Construct

SHARES = 32
TESTS = [test.id for test in load(["modules"]).tests]
# What the suite asks and the kit cannot judge, with the reason.
UNJUDGED = {
    "nn_CTCLoss": "cannot be exported",
    "nn_AdaptiveLogSoftmaxWithLoss": "cannot be exported",
    "nn_Embedding_of_a_norm": "writes to its parameter 'weight'",
    "nn_EmbeddingBag_of_a_norm": "writes to its parameter 'weight'",
    "nn_EmbeddingBag_of_offsets": "P111",  # offsets in memory that is one number repeated
    "nn_MaxPool3d_places": "of its choice",
    "nn_Upsample_bicubic_aligned": "on numbers that it has computed",
}


def ran(ids: list[str], **options: Any) -> conform.Run:
    dtypes = {test.id: "int64" if "Embedding" in test.id else "float32" for test in load(["modules"]).tests}
    options = {"dtypes": sorted({dtypes[name] for name in ids}), "layouts": "as-written", "backend": "cpu", **options}
    return conform.check(["modules"], ids=[f"{name}/*" for name in ids], **options)


def test_the_suite_has_modules_of_every_kind() -> None:
    classes = {test.op_name for test in load(["modules"]).tests}
    assert len(classes) >= 110
    assert sum(name.startswith("torch.nn.") for name in classes) >= 100


# Classes of torch.nn that no test constructs, and arguments that none gives another value than the default.
ABSENT = {
    "chance has a part in them": {"FractionalMaxPool2d", "FractionalMaxPool3d"},
    "containers, bases and old names": {
        "Container", "DataParallel", "Module", "ModuleDict", "ModuleList", "NLLLoss2d", "ParameterDict",
        "ParameterList", "RNNBase", "RNNCellBase",
    },
    "torch.export does not take them": {"CrossMapLRN2d"},
    "new in torch 2.13": {"LinearCrossEntropyLoss"},
}  # fmt: skip
DEPRECATED = {"size_average", "reduce", "min_value", "max_value"}
OF_WHERE_TENSORS_LIE = {"device", "dtype"}
UNREACHED = {
    "Transformer": {"custom_encoder", "custom_decoder"},  # whole modules
    "SyncBatchNorm": {"process_group"},
    **{f"ConvTranspose{rank}d": {"padding_mode"} for rank in (1, 2, 3)},  # which takes zeros alone
}


def test_every_argument_of_a_constructor_is_somewhere_at_another_value() -> None:
    given = _constructed()
    every = {name: one for name, one in vars(nn).items() if isinstance(one, type) and issubclass(one, nn.Module)}
    absent = {name for name, one in every.items() if one not in given and not name.startswith("Lazy")}
    assert absent == set().union(*ABSENT.values())
    missing = {one.__name__: names for one, values in given.items() if (names := _at_defaults(one, values))}
    assert missing == UNREACHED


def _constructed() -> dict[type, dict[str, list[Any]]]:
    """The values of the arguments of each class of torch.nn in the suite, by name."""
    found: dict[type, dict[str, list[Any]]] = {}

    def visit(spec: Any) -> None:
        one = class_at(spec.path)
        places = [parameter.name for parameter in _parameters(one) if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        named = {**dict(zip(places, spec.args, strict=False)), **spec.kwargs}
        for name, value in named.items():
            found.setdefault(one, {}).setdefault(name, []).append(value.value if isinstance(value, Const) else value)
        found.setdefault(one, {})
        for value in (*spec.args, *spec.kwargs.values()):
            if isinstance(value, Construct):
                visit(value)

    for test in load(["modules"]).tests:
        visit(test.op)
    return {one: values for one, values in found.items() if one.__module__.startswith("torch.nn.")}


def _parameters(one: type) -> list[inspect.Parameter]:
    """Those of the class; of RNN and its like, which take what they are given, those of their base beside its mode."""
    if not issubclass(one, nn.RNNBase):
        return list(inspect.signature(one).parameters.values())
    own = [inspect.Parameter("nonlinearity", inspect.Parameter.KEYWORD_ONLY, default="tanh")] if one is nn.RNN else []
    others = [name for name in ("proj_size",) if one is not nn.LSTM]
    base = inspect.signature(nn.RNNBase).parameters.values()
    return [*(each for each in base if each.name not in ("mode", *others)), *own]


def _at_defaults(one: type, values: dict[str, list[Any]]) -> set[str]:
    return {
        each.name for each in _parameters(one)
        if each.default is not each.empty and each.name not in DEPRECATED | OF_WHERE_TENSORS_LIE
        and not each.name.startswith("_")
        and all(repr(value) == repr(each.default) for value in values.get(each.name, []))
    }  # fmt: skip


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
