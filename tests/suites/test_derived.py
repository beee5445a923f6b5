"""Tests derived from the argument specs by targets: what they are called, what they are, and that they stay so."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from conform.domains.engine.arguments import boolean, dim, optional, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_tuple import results
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.vocabulary import dim_of, shape_of, typically
from conform.domains.specs import spec_of, specs
from conform.interp.evaluate import evaluate
from conform.interp.semantics import traits_of
from conform.suites import Test, load
from conform.suites.cases import Selection, draws
from conform.suites.derived import tests
from conform.suites.derived.long import of_lengths
from conform.suites.derived.tests import derived_of, derived_tests
from conform.suites.generated.yaml_text import lines_of
from conform.suites.select import select
from tests.every_spec import every_spec

FLOAT32 = Dtype.Eq("float32")


def derived(spec: OpSpec) -> dict[str, Test]:
    return {test.id.partition("/")[2]: test for test in derived_of(spec, 0)}


def call(test: Test) -> list[str]:
    """Its arguments in the test language."""
    return [line.strip().removeprefix("- ") for line in lines_of(test) if "{" in line]


def classes(op: str, test_id: str, **axes: str) -> dict[str, list[str]]:
    """By test of the core suite the classes of values that it is run with."""
    groups = select(load(["core"], ops=[op]), Selection(ops=[op], ids=[test_id], **axes))
    found: dict[str, list[str]] = {}
    for case in (case for group in groups for case in group if case.layout == "contiguous"):
        found.setdefault(case.draw.test.id.partition("/")[2], []).append(case.values)
    return found


# --- Targets of one spec ----------------------------------------------------------------------------------------------


def test_the_plain_call_in_a_dtype() -> None:
    found = derived(spec_of("aten::sum.dim_IntList"))
    assert call(found["dtype_int8"]) == ["{type: tensor, shape: [37, 5], dtype: int8}", "{type: int_list, elems: [1]}"]
    axes = {name: (test.usual_values, test.usual_layouts) for name, test in found.items()}
    assert axes["dtype_int64"] == axes["dtype_float16"] == ("all", "all")
    assert (axes["dtype_int8"], axes["rank_4"]) == (("all", "as-written"), ("typical", "all"))


def test_pointwise_ops_meet_special_values_beside_typical_ones_in_their_usual_dtype_alone() -> None:
    found = classes("aten::hypot", "hypot/dtype_*")
    assert found["dtype_float32"] == ["typical", "special", "special.0", "special.1"]
    assert found["dtype_float64"] == ["typical", "special"]
    assert classes("aten::hypot", "hypot/dtype_float64/*", values="all")["dtype_float64"] == found["dtype_float32"]


def test_what_is_written_is_run_in_other_layouts_in_usual_dtypes_alone() -> None:
    groups = select(load(["core"], ops=["aten::hypot"]), Selection(ids=["hypot_float_pairs/*/typical/*"]))
    assert {case.dtype for group in groups for case in group if case.layout != "contiguous"} == {"float32"}
    assert {case.dtype for group in groups for case in group} == {"float16", "bfloat16", "float32", "float64"}


def test_what_lists_add_to_an_op_of_one_tensor() -> None:
    found = derived(spec_of("aten::_foreach_mul.List"))
    others = [name for name in found if not name.startswith(("dtype_", "refuses_"))]
    assert others == [
        "tensors_1", "tensors_40", "one_without_elements", "none_with_elements", "long_among_short", "ranks",
        "broadcast", "broadcast_back", "broadcast_one", "every_dtype", "promotes", "promotes_back",
    ]  # fmt: skip
    arrays = next(iter(draws(found["one_without_elements"], Selection()))).arguments()
    assert [[one.shape for one in each] for each in arrays.args] == [[(5, 7), (0, 3), (4, 2)]] * 2
    axes = {name: (test.usual_values, test.usual_layouts) for name, test in found.items()}
    assert (axes["dtype_float32"], axes["dtype_int8"]) == (("both", "all"), ("both", "as-written"))
    assert (axes["tensors_40"], axes["ranks"]) == (("typical", "as-written"), ("typical", "all"))


def test_numbers_of_lists_are_of_every_kind_and_each_value_is_asked_once() -> None:
    found = derived(spec_of("aten::_foreach_div.Scalar"))
    assert {"scalar_int", "scalar_float", "scalar_complex", "scalar=-3", "scalar=0.3"} <= found.keys()
    assert {"scalars_int", "scalars_float"} <= derived(spec_of("aten::_foreach_div.ScalarList")).keys()


def test_of_several_lists_one_call_alone_has_each_tensor_on_the_axes() -> None:
    found = derived(spec_of("aten::_fused_sgd"))
    axes = {name: (test.usual_values, test.usual_layouts) for name, test in found.items()}
    assert axes.pop("dtype_float32") == ("all", "all")
    assert axes["dtype_float16"] == ("both", "as-written")
    assert {layouts for _, layouts in axes.values()} == {"as-written"}
    assert not {"all", "in turn"} & {values for values, _ in axes.values()}


def test_keywords_are_run_with_special_values_and_with_the_other_classes_in_turn() -> None:
    plain = classes("aten::var.correction", "var.correction/dtype_float32/*")["dtype_float32"]
    assert plain == ["typical", "special", "special.0", "conditioned", "structured", "shifted"]
    of_keywords = classes("aten::var.correction", "var.correction/dim=*")
    assert all(found[:2] == ["typical", "special"] and len(found) == 3 for found in of_keywords.values())
    assert {found[2] for found in of_keywords.values()} == set(plain[2:])


def test_ranks_and_sizes_of_the_first_tensor_which_the_others_follow() -> None:
    found = derived(spec_of("aten::mul.Tensor"))
    assert call(found["rank_3"]) == ["{type: tensor, shape: [3, 5, 7], dtype: float32}"] * 2
    assert call(found["size_1031"]) == ["{type: tensor, shape: [1031], dtype: float32}"] * 2
    assert call(found["shape_0x7"]) == ["{type: tensor, shape: [0, 7], dtype: float32}"] * 2
    product = derived(spec_of("aten::mm"))
    assert call(product["size_33"]) == [
        "{type: tensor, shape: [3, 33], dtype: float32}", "{type: tensor, shape: [33, 3], dtype: float32}",
    ]  # fmt: skip
    assert call(product["mat2_size_33"])[1] == "{type: tensor, shape: [7, 33], dtype: float32}"


@pytest.mark.parametrize(
    ("op", "number", "shape"),
    [
        ("aten::mm", 0, [3, 4096]), ("aten::mm", 1, [4096, 3]), ("aten::addmm", 1, [5, 4096]),
        ("aten::convolution", 0, [2, 4096, 1]), ("aten::convolution", 1, [2, 4096, 1]),
        ("aten::bmm", 0, [2, 3, 4096]), ("aten::bmm", 1, [2, 4096, 3]), ("aten::addbmm", 1, [2, 5, 4096]),
        ("aten::baddbmm", 1, [2, 5, 4096]), ("aten::dot", 0, [4096]), ("aten::vdot", 1, [4096]),
        ("aten::conv2d", 1, [2, 4096, 1, 1]), ("aten::conv_transpose1d", 1, [4096, 3, 1]),
        ("aten::_weight_int8pack_mm", 0, [1, 4096]),
    ],
)  # fmt: skip
def test_a_long_call_of_an_op_that_accumulates(op: str, number: int, shape: list[int]) -> None:
    long = derived(spec_of(op))["long_float32"]
    assert call(long)[number] == f"{{type: tensor, shape: {shape}, dtype: float32}}"
    assert long.usual_values == "sums"


@pytest.mark.parametrize(
    ("op", "number"),
    [("batch_norm", 5), ("instance_norm", 5), ("native_batch_norm", 5), ("_native_batch_norm_legit", 5),
     ("_native_batch_norm_legit.no_stats", 3), ("_native_batch_norm_legit_functional", 5)],
)  # fmt: skip
def test_a_long_call_of_statistics_has_long_channels_and_takes_theirs(op: str, number: int) -> None:
    arguments = call(derived(spec_of(f"aten::{op}"))["long_float32"])
    assert arguments[0] == "{type: tensor, shape: [2, 3, 4096], dtype: float32}"
    assert arguments[number] == "{type: const, value: true}"


OF_PRODUCTS = [spec for spec in specs() if traits_of(spec.name).products]


@pytest.mark.parametrize("spec", OF_PRODUCTS, ids=lambda spec: spec.name)
def test_a_long_call_of_products_contracts_a_long_dim(spec: OpSpec) -> None:
    """Seen in the shapes alone: a size of both factors is as long, and none of the results' is."""
    found = list(of_lengths(spec))
    assert bool(found) == (spec.name != "aten::addr")  # whose products are not added up
    for one in found:
        factors = [one.tuple_.arguments[name].shape for name in traits_of(spec.name).products.factors]
        assert all(max(shape) >= 4096 for shape in factors)
        assert max((1, *results(spec, one.tuple_.arguments)[0].shape)) < 4096


def test_long_calls_that_give_nothing_or_sum_nothing_up_are_none() -> None:
    """An adaptive pool of windows of one place: as many results as elements, in another shape."""
    for spec in (spec_of("aten::adaptive_avg_pool2d"), spec_of("aten::addr")):
        assert list(of_lengths(spec)) == []


def test_an_op_that_adds_nothing_up_has_no_long_call() -> None:
    assert not [name for name in derived(spec_of("aten::amax")) if name.startswith("long")]


def test_long_calls_run_on_what_shows_long_sums() -> None:
    ids = ["mm/long_float32/*", "var.correction/long_float32/*"]
    groups = select(load(["core"], ids=ids), Selection(ids=ids))
    assert [case.values for group in groups for case in group] == [
        "typical", "conditioned", "structured", "shifted", "typical", "conditioned", "exact", "one_hot",
    ]  # fmt: skip


def test_a_target_that_the_spec_cannot_meet_is_absent() -> None:
    square = OpSpec("aten::log", [tensor("self", FLOAT32, Rank.Eq(2), Size.In((1, 33)))])
    assert [name for name in derived(square) if name.startswith(("rank", "size", "shape", "square"))] == [
        "size_1", "size_33",
    ]  # fmt: skip


def test_each_operand_broadcasts_in_turn() -> None:
    found = [name for name in derived(spec_of("aten::where.self")) if name.endswith("_to_4x4")]
    shapes = ("4x1", "1x4", "1x1", "4", "1", "0d")
    operands = ("condition", "self", "other")
    assert found == [f"broadcast_{name}_{shape}_to_4x4" for name in operands for shape in shapes]


def test_operands_of_one_shape_do_not_broadcast() -> None:
    alike = tensor("other", FLOAT32, shape_of("self"))
    same = OpSpec("aten::maximum", [tensor("self", FLOAT32), alike], [result(FLOAT32, shape_of("self"))])
    assert not [name for name in derived(same) if name.startswith("broadcast")]


def test_types_are_promoted_in_pairs() -> None:
    found = derived(spec_of("aten::add.Tensor"))
    assert call(found["promotes_int32_other_float32_0d"]) == [
        "{type: tensor, shape: [5, 7], dtype: int32}", "{type: scalar_tensor, dtype: float32}", *call(
            found["promotes_int32_other_float32_0d"])[2:],
    ]  # fmt: skip
    number = derived(spec_of("aten::mul.Scalar"))["promotes_uint8_other_float"]
    assert call(number) == [
        "{type: tensor, shape: [5, 7], dtype: uint8, init: randint, low: 0, high: 255}", "{type: const, value: 2.5}",
    ]  # fmt: skip


def test_keywords_are_had_at_every_value_and_in_pairs() -> None:
    spec = OpSpec(
        "aten::argmax",
        [tensor("self", FLOAT32, Rank.Eq(1)), optional(dim("dim", dim_of("self"))), boolean("keepdim")],
    )
    dims, keeps = ("", "dim=0", "dim=-1"), ("", "keepdim=true")
    pairs = {",".join(filter(None, (one, other))) for one in dims for other in keeps} - {""}
    assert {name for name in derived(spec) if "=" in name} == pairs


def test_elements_are_drawn_where_they_are_worth_drawing() -> None:
    spec = OpSpec("aten::acosh", [tensor("self", Dtype.In(("float32", "int8")), typically(1, 40))])
    found = derived(spec)
    assert call(found["size_31"]) == ["{type: tensor, shape: [31], dtype: float32, init: uniform, low: 1, high: 40}"]
    assert call(found["dtype_int8"]) == ["{type: tensor, shape: [37, 5], dtype: int8, init: randint, low: 1, high: 40}"]


def test_each_constraint_is_broken_alone_but_for_the_lenient_ones() -> None:
    spec = OpSpec(
        "aten::softplus",
        [
            tensor("self", FLOAT32, Rank.Ge(1).lenient("some do")),
            scalar("beta", Dtype.Eq("float"), Value.Gt(0)),
            scalar("threshold", Dtype.Eq("int"), Value.Ge(0), Value.Ge(lambda beta: beta.value), Value.Ne(7)),
        ],
    )
    broken = {name: test.domain.broken for name, test in derived(spec).items() if name.startswith("refuses")}
    assert broken == {
        "refuses_self_dtype_eq": "dtype(self) = float32",
        "refuses_beta_dtype_eq": "dtype(beta) = float",
        "refuses_beta_value_gt": "0 < beta",
        "refuses_threshold_dtype_eq": "dtype(threshold) = int",
        "refuses_threshold_value_ge_2": "beta <= threshold",  # "0 <= threshold" cannot be broken without it
        "refuses_threshold_value_ne": "threshold != 7",
    }


def test_rows_hold_one_value() -> None:
    """Zeros and equal numbers in every float dtype, the others in float32 and in one more in turn."""
    tests = derived(spec_of("aten::_softmax"))
    rows = ", ".join(["[-.inf, -.inf, -.inf, -.inf, -.inf]"] * 3)
    assert call(tests["rows_minus_inf"])[0] == f"{{type: const_tensor, shape: [3, 5], dtype: float32, value: [{rows}]}}"
    assert [name.removeprefix("rows_") for name in tests if name.startswith("rows_")] == [
        "minus_inf", "minus_inf_float16", "inf", "inf_bfloat16", "nan", "nan_float64",
        "equal", "equal_float16", "equal_bfloat16", "equal_float64",
        "zero", "zero_float16", "zero_bfloat16", "zero_float64", "minus_zero", "minus_zero_float64",
    ]  # fmt: skip


def test_rows_beside_what_goes_with_their_dtype() -> None:
    """A dtype as an argument, boundaries, and targets are of the float dtype that the rows have."""
    tests = derived(spec_of("aten::_softmax_backward_data"))
    assert call(tests["rows_zero_bfloat16"])[-1] == '{type: const, value: "bfloat16"}'
    (sorted_, boundaries) = call(derived(spec_of("aten::bucketize.Tensor"))["rows_zero_float64"])[:2]
    assert ("dtype: float64" in sorted_, "dtype: float64" in boundaries) == (True, True)


def test_a_row_of_one_value_has_the_variance_0() -> None:
    tests = derived(spec_of("aten::var.dim"))
    for dtype in ("", "_float16", "_bfloat16", "_float64"):
        test = tests[f"rows_equal{dtype}"]
        (draw,) = draws(test, Selection())
        arguments = draw.arguments()
        (golden,) = evaluate(test.op, arguments.args, arguments.kwargs).goldens
        assert np.array_equal(golden.value, np.zeros(3, golden.value.dtype))


# --- Every spec -------------------------------------------------------------------------------------------------------


@every_spec
def test_a_derived_test_reads_back_as_it_is_printed(spec: OpSpec, tmp_path: Path) -> None:
    found = list(derived(spec).values())[::5]
    path = tmp_path / "derived.yaml"
    path.write_text("\n".join(["tests:", *(line for test in found for line in lines_of(test))]), encoding="utf-8")
    assert [(one.id, one.op, repr(one.inputs), repr(one.kwargs)) for one in load([path]).tests] == [
        (one.id, one.op, repr(one.inputs), repr(one.kwargs)) for one in found
    ]


def test_the_seed_and_other_ops_change_no_test() -> None:
    alone = list(derived_tests(0, ops=["aten::gelu"]))
    among = [test for test in derived_tests(7, ops=["aten::g*"]) if test.op == "aten::gelu"]
    assert [(one.id, one.inputs, one.kwargs) for one in alone] == [(one.id, one.inputs, one.kwargs) for one in among]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_forks_leave_to_their_parent_what_a_whole_group_is_told(number: int) -> None:
    def heard(*_: object) -> None:
        raise AssertionError("a fork hears of it, too")

    def struck(spec: OpSpec) -> OpSpec:
        os.kill(os.getpid(), number)
        return spec

    before = signal.signal(number, heard)
    try:
        assert list(tests._in_forks(struck, [1, 2, 3], 2)) == [1, 2, 3]
    finally:
        signal.signal(number, before)


def test_a_filter_makes_only_what_it_may_select() -> None:
    made = load(["core"], ids=["add.Tensor/rank_3/*"]).tests
    assert {test.op for test in made if "/" in test.id} == {"aten::add.Tensor"}
    cases = select(load(["core"], ids=["add.Tensor/rank_3/*"]), Selection(ids=["add.Tensor/rank_3/*"]))
    assert [case.id for group in cases for case in group] == ["add.Tensor/rank_3/float32/typical/contiguous"]


@pytest.mark.parametrize("filters", [{"ops": ["aten::negg"]}, {"ids": ["exp_float/float32/typical/contiguous"]}])
def test_a_filter_that_selects_none_is_told_the_ops_by_one_test_each(
    filters: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is made of each op, not all: the case of a written test would wait for them."""
    made, test_of = [], tests._test
    monkeypatch.setattr(tests, "_test", lambda *given: made.append(test_of(*given)) or made[-1])
    found = [test.op for test in derived_tests(0, **filters)]
    assert found == [test.op for test in made] == [one.name for one in specs()]


def test_a_filter_that_selects_a_written_test_derives_none() -> None:
    of_written = load(["core"], ids=["exp_float/float32/typical/contiguous"]).tests
    assert "exp_float" in [test.id for test in of_written]
    assert [test.id for test in of_written if "/" in test.id] == []
    assert "exp/dtype_float32" in [test.id for test in load(["core"], ops=["aten::exp"]).tests]


KINDS = (
    "dtype", "given", "long", "rank", "size", "line", "many", "shape", "square", "broadcast", "promotes", "rows",
    "refuses",
)  # fmt: skip


@pytest.mark.long
def test_no_target_is_lost_unseen() -> None:
    """How many tests there are of each kind, and of how many ops: a change of either is to be meant."""
    tests, ops = Counter(), Counter()
    for spec in specs():
        kinds = Counter(map(kind_of, derived(spec)))
        tests += kinds
        ops += Counter(kinds.keys())
    assert {kind: (tests[kind], ops[kind]) for kind in sorted(tests)} == {
        "broadcast": (4735, 154),
        "dtype": (7623, 962),
        "given": (66, 46),
        "keyword": (23296, 830),
        "line": (1474, 738),
        "long": (453, 173),
        "many": (480, 457),
        "promotes": (1178, 161),
        "rank": (3102, 763),
        "refuses": (3033, 769),
        "rows": (6968, 457),
        "shape": (1155, 584),
        "size": (6733, 839),
        "square": (753, 753),
    }


def kind_of(name: str) -> str:
    first = re.split("[_=]", name)[0]
    return first if first in KINDS and "=" not in name else "keyword" if "=" in name or name[:3] == "of_" else "size"
