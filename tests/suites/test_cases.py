"""From tests to cases: axes, ids and filters."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from conform.errors import UsageError
from conform.inputs.layouts import Placed, logical
from conform.suites import Suite, cases, load
from conform.suites.cases import Case, Selection
from conform.suites.select import select

ADD = """{id: add, op: aten::add,
   in: [{type: tensor, shape: [2, 3], kind: float}, {type: tensor, shape: [3], kind: float}]}"""
EXP = "{id: exp, op: aten::exp, in: [{type: tensor, shape: [4], dtype: float16}]}"
COUNT = "{id: count, op: aten::arange, in: [{type: const, value: 3}]}"
TYPED = "{id: typed, op: aten::arange, in: [{type: const, value: 3}], kwargs: {dtype: {type: const, value: bfloat16}}}"


@pytest.fixture
def suite(tmp_path: Path) -> Callable[..., Suite]:
    """A user's suite of these tests."""

    def written(*tests: str) -> Suite:
        path = tmp_path / "mine.yaml"
        path.write_text("tests:\n" + "".join(f"- {test}\n" for test in tests), encoding="utf-8")
        return load([path])

    return written


def ids(suite: Suite, **selection: object) -> list[str]:
    return [case.id for group in select(suite, Selection(**selection)) for case in group]


def only(suite: Suite, **selection: object) -> Case:
    ((case,),) = select(suite, Selection(**selection))
    return case


# --- Axes -------------------------------------------------------------------------------------------------------------


def test_a_users_file_runs_as_written(suite: Callable[..., Suite]) -> None:
    assert ids(suite(ADD, EXP)) == ["add/float32/typical/contiguous", "exp/float16/typical/contiguous"]


def test_a_built_in_suite_runs_every_dtype_class_and_layout() -> None:
    found = ids(load(["smoke"]), ops=["aten::exp"])
    dtypes = ("float16", "bfloat16", "float32", "float64")
    axes = ("typical/contiguous", "special/contiguous", "special.0/contiguous", "typical/transposed.0",
            "typical/strided.0", "typical/offset.0", "typical/expanded.0")  # fmt: skip
    assert sorted(found) == sorted(f"smoke_exp/{dtype}/{axis}" for dtype in dtypes for axis in axes)


def test_value_classes_are_contiguous_and_layouts_typical(suite: Callable[..., Suite]) -> None:
    assert ids(suite(ADD), values="all") == [
        f"add/float32/{values}/contiguous" for values in ("typical", "special", "special.0", "special.1")
    ]
    assert ids(suite(ADD), values="special")[0] == "add/float32/special/contiguous"
    laid_out = ids(suite(ADD), layouts="all")
    assert laid_out[0] == "add/float32/typical/contiguous"
    assert {name.split("/")[2] for name in laid_out} == {"typical"}
    assert "add/float32/typical/transposed.0" in laid_out
    assert "add/float32/typical/strided.1" in laid_out
    assert "add/float32/typical/transposed.1" not in laid_out  # one dimension has one order


def test_special_values_alone_take_the_other_layouts_too(suite: Callable[..., Suite]) -> None:
    laid_out = ids(suite(ADD), values="special", layouts="all")
    assert "add/float32/special/transposed.0" in laid_out
    assert not any("typical" in name for name in laid_out)


def test_samples_are_numbered_after_the_first(suite: Callable[..., Suite]) -> None:
    name = "exp/float16/typical/contiguous"
    assert ids(suite(EXP), samples=3) == [name, f"{name}/1", f"{name}/2"]


def test_a_dtype_opens_the_axis_of_a_kind_and_filters_what_is_written(suite: Callable[..., Suite]) -> None:
    assert ids(suite(ADD), dtypes=["bfloat16", "float64"]) == [
        "add/bfloat16/typical/contiguous", "add/float64/typical/contiguous",
    ]  # fmt: skip
    assert ids(suite(ADD, EXP), dtypes=["float16"]) == [
        "add/float16/typical/contiguous", "exp/float16/typical/contiguous",
    ]  # fmt: skip


def test_without_a_tensor_the_dtype_is_the_arguments_or_the_outputs(suite: Callable[..., Suite]) -> None:
    tests = suite(COUNT, TYPED)
    assert ids(tests) == ["count/int64/typical/contiguous", "typed/bfloat16/typical/contiguous"]
    assert only(tests, dtypes=["bfloat16"]).dtype == "bfloat16"
    refused = "{id: refused, op: aten::arange, in: [{type: const, value: -3}]}"
    halves = "{id: halves, op: aten::arange, in: [{type: const, value: -0.5}]}"
    assert ids(suite(refused, halves)) == ["refused/int64/typical/contiguous", "halves/float32/typical/contiguous"]


def test_a_case_names_the_overload_that_its_arguments_select(suite: Callable[..., Suite]) -> None:
    assert only(suite(ADD)).op == "aten::add.Tensor"
    assert only(suite(COUNT)).op == "aten::arange"


# --- Inputs -----------------------------------------------------------------------------------------------------------


def inputs(suite: Suite, **selection: object) -> dict[str, list]:
    """The arguments of every case by its id, as the backend gets them."""
    groups = select(suite, Selection(**selection))
    return {case.id: case.arguments(case.draw.arguments()).args for group in groups for case in group}


def test_a_layout_other_than_expanded_keeps_the_values(suite: Callable[..., Suite]) -> None:
    found = inputs(suite(ADD), layouts="all")
    typical = found["add/float32/typical/contiguous"]
    assert [array.dtype for array in typical] == [np.float32, np.float32]
    assert [array.shape for array in typical] == [(2, 3), (3,)]
    transposed = found["add/float32/typical/transposed.0"]
    assert isinstance(transposed[0], Placed)
    np.testing.assert_array_equal(transposed[0].view(), typical[0])
    np.testing.assert_array_equal(transposed[1], typical[1])


def test_a_case_is_the_same_whatever_else_is_selected(suite: Callable[..., Suite]) -> None:
    name = "add/float32/special/contiguous"
    alone = inputs(suite(ADD), values="special", ids=[name])[name]
    among = inputs(suite(EXP, ADD), values="all", samples=2)[name]
    for one, other in zip(alone, among, strict=True):
        np.testing.assert_array_equal(one, other)


def test_cases_are_found_without_drawing_a_tensor(
    suite: Callable[..., Suite], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = ids(suite(ADD, COUNT), values="all", layouts="all")
    monkeypatch.setattr(import_module("conform.suites.sample"), "draw_array", None)
    assert ids(suite(ADD, COUNT), values="all", layouts="all") == drawn


def test_seeds_and_samples_draw_anew(suite: Callable[..., Suite]) -> None:
    name = "exp/float16/typical/contiguous"
    draws = [inputs(suite(EXP), seed=seed, samples=2) for seed in (0, 1)]
    arrays = [draw[case][0].tolist() for draw in draws for case in (name, f"{name}/1")]
    assert len({str(array) for array in arrays}) == 4


def test_special_values_are_special() -> None:
    case = only(load(["smoke"]), ids=["smoke_exp/float32/special/contiguous"])
    (x,) = logical(case.arguments(case.draw.arguments())).args
    assert np.isnan(x).any()
    assert np.isinf(x).any()
    assert (x == 0).any()


# --- Filters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("glob", ["aten::add", "aten::add.Tensor", "aten::a??", "aten::add.*"])
def test_an_op_is_selected_with_or_without_its_overload(suite: Callable[..., Suite], glob: str) -> None:
    assert ids(suite(ADD, EXP), ops=[glob]) == ["add/float32/typical/contiguous"]


def test_an_id_is_selected_as_it_is_or_by_a_glob(suite: Callable[..., Suite]) -> None:
    both = suite(ADD, EXP)
    assert ids(both, ids=["exp/float16/typical/contiguous"]) == ["exp/float16/typical/contiguous"]
    assert ids(both, ids=["*/float*/typical/*"]) == ids(both)
    assert ids(both, ids=["add/*", "exp/*"]) == ids(both)


def test_an_id_finds_a_case_of_an_axis_that_does_not_run_by_itself(suite: Callable[..., Suite]) -> None:
    assert ids(suite(ADD), values="all", ids=["*/special.1/*"]) == ["add/float32/special.1/contiguous"]


@pytest.mark.parametrize(
    "selection", [{"ids": ["add/float32/typical/contiguous"]}, {"ids": ["add/*"]}, {"ops": ["aten::add.Tensor"]}]
)
def test_no_case_is_made_of_a_test_that_the_filters_leave_out(
    suite: Callable[..., Suite], monkeypatch: pytest.MonkeyPatch, selection: dict
) -> None:
    made, cases_of = [], cases.cases_of
    selecting = import_module("conform.suites.select")
    monkeypatch.setattr(selecting, "cases_of", lambda draw, given: made.append(draw.test.id) or cases_of(draw, given))
    assert ids(suite(ADD, EXP, COUNT), **selection) == ["add/float32/typical/contiguous"]
    assert made == ["add"]


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"ops": ["aten::ad"]}, "--op 'aten::ad' matches no case of the suite; did you mean 'aten::add'?"),
        ({"ops": ["aten::add", "aten::mm"]}, "--op 'aten::mm' matches no case of the suite"),
        ({"dtypes": ["int8"]}, "--dtype 'int8' matches no case of the suite"),
        ({"dtypes": ["floaty"]}, "--dtype: unknown dtype 'floaty'; did you mean 'float"),
        ({"dtypes": ["half"]}, "--dtype: unknown dtype 'half'; did you mean 'float16'?"),
        ({"ids": ["exq/*"]}, "--id 'exq/*' matches no case of the suite"),
        ({"ops": ["aten::exp"], "ids": ["add/*"]},
         "--op aten::exp --id 'add/*' together select no case; each alone matches some"),
        ({"ops": ["aten::exp"], "dtypes": ["float64"]},
         "--op aten::exp --dtype float64 together select no case; aten::exp has float16"),
        ({"ids": ["*special*"], "dtypes": ["float64"]}, "--id '*special*' matches no case of the suite"),
    ],
)
def test_a_filter_that_matches_nothing_is_an_error(suite: Callable[..., Suite], selection: dict, message: str) -> None:
    with pytest.raises(UsageError) as error:
        ids(suite(ADD, EXP), **selection)
    assert str(error.value).startswith(message)


def test_a_filter_may_be_one_str(suite: Callable[..., Suite]) -> None:
    assert ids(suite(ADD, EXP), ops="aten::exp", dtypes="float16") == ["exp/float16/typical/contiguous"]


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"values": "bogus"}, "values: unknown choice 'bogus'; expected one of typical, special, all"),
        ({"values": "specials"}, "values: unknown choice 'specials'; did you mean 'special'?"),
        ({"layouts": "bogus"}, "layouts: unknown choice 'bogus'; expected one of as-written, all"),
        ({"seed": "x"}, "seed: expected an integer, got 'x'"),
        ({"seed": 1.5}, "seed: expected an integer, got 1.5"),
        ({"seed": True}, "seed: expected an integer, got True"),
        ({"samples": 0}, "samples: expected an integer >= 1, got 0"),
        ({"ops": [3]}, "ops: expected a str or a list of them, got [3]"),
        ({"ids": None}, "ids: expected a str or a list of them, got None"),
    ],
)
def test_a_selection_that_means_nothing_is_an_error(selection: dict, message: str) -> None:
    with pytest.raises(UsageError) as error:
        Selection(**selection)
    assert str(error.value) == message


def test_special_values_of_tests_that_have_none_are_an_error(suite: Callable[..., Suite]) -> None:
    with pytest.raises(UsageError, match=r"mine\.yaml: no test has special values"):
        ids(suite(COUNT), values="special")


def test_arguments_of_no_overload_are_an_error_at_the_tests_place(suite: Callable[..., Suite]) -> None:
    with pytest.raises(UsageError, match=r"mine.yaml:2:.*wrong.*aten::exp"):
        ids(suite("{id: wrong, op: aten::exp, in: [{type: const, value: text}]}"))
