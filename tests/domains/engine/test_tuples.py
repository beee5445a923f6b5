"""Sequences of valid and invalid tuples: determinism, coverage, contradictions, and one broken constraint each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import numpy as np
import pytest

from conform.domains.engine.argument_generator import arguments
from conform.domains.engine.arguments import (
    Argument,
    boolean,
    dim,
    dims,
    dtype,
    index_tensor,
    integers,
    length,
    mask,
    optional,
    real,
    result,
    scalar,
    shape,
    tensor,
    tensors,
)
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.dtypes import ALL, FLOATS, REAL
from conform.domains.engine.meta_tuple import MetaTuple, invalid_tuples, results, valid_tuples, violations
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.variables import Contradiction
from conform.domains.engine.vocabulary import dim_of, distinct_dims_of, dtype_of, nonzero_if_integer, shape_of, shaped
from conform.numerics.draws import Stream

SOFTMAX = OpSpec(
    "aten::_softmax",
    [
        tensor("self", Dtype.In(FLOATS)),
        dim("dim", dim_of("self")),
        boolean("half_to_float", Value.In(lambda self: (False, True) if self.dtype == "float16" else (False,))),
    ],
    [result(Dtype.Eq(lambda self, half_to_float: "float32" if half_to_float else self.dtype), shape_of("self"))],
)
CAT = OpSpec(
    "aten::cat",
    [
        tensors(
            "tensors",
            Length.Ge(1),
            Rank.Ge(1),
            Rank.In(lambda previous: (previous[0].rank,) if previous else ANYTHING),
            Size.In(lambda previous, d: (previous[0].size(d),) if previous and d else ANYTHING),
        ),
        dim("dim", Value.Eq(0)),
    ],
)
PERMUTE = OpSpec(
    "aten::permute",
    [tensor("self"), dims("dims", Length.Eq(lambda self: self.rank), distinct_dims_of("self"))],
)
GATHER = OpSpec(
    "aten::gather",
    [
        tensor("self", Size.Ge(1)),
        dim("dim", Value.Eq(0)),
        index_tensor("index", Dtype.Eq("int64"), shape_of("self"), Value.Ge(0), Value.Lt(lambda self: self.size(0))),
    ],
)
GROUP_NORM = OpSpec(
    "aten::native_group_norm",
    [
        tensor("input", Dtype.In(FLOATS), Rank.Ge(2), Size.Ge(1)),
        optional(tensor("weight", dtype_of("input"), shaped(lambda C: (C,)))),
        optional(tensor("bias", dtype_of("input"), shaped(lambda C: (C,)))),
        length("N", Value.Eq(lambda input: input.size(0))),
        length("C", Value.Eq(lambda input: input.size(1))),
        length("HxW", Value.Eq(lambda input: input.numel // (input.size(0) * input.size(1)))),
        length("group", Value.Ge(1), Value.Le(lambda C: C), Value.St(lambda group, C: C % group == 0)),
        real("eps", Value.Ge(0), Value.Le(1), Value.Be((1e-5,))),
    ],
)
EVERY = [SOFTMAX, CAT, PERMUTE, GATHER, GROUP_NORM]


def first(tuples: object, count: int) -> list[MetaTuple]:
    return list(itertools.islice(tuples, count))


def with_op(op: str, *stated: Argument) -> OpSpec:
    return OpSpec(op, stated)


# --- Determinism ------------------------------------------------------------------------------------------------------


def test_the_first_tuples_of_a_spec() -> None:
    assert [str(one) for one in first(valid_tuples(SOFTMAX, 0), 4)] == [
        "aten::_softmax(self=bfloat16[1], dim=-1, half_to_float=False)",
        "aten::_softmax(self=float32[], dim=0, half_to_float=False)",
        "aten::_softmax(self=float16[2, 0, 1, 2], dim=1, half_to_float=True)",
        "aten::_softmax(self=float64[5, 0, 4], dim=2, half_to_float=False)",
    ]


@pytest.mark.parametrize("spec", EVERY, ids=lambda one: one.name)
def test_a_sequence_depends_on_its_seed_alone(spec: OpSpec) -> None:
    alone = [str(one) for one in first(valid_tuples(spec, 3), 12)]
    beside = zip(valid_tuples(spec, 3), valid_tuples(spec, 4), invalid_tuples(spec, 3), strict=False)
    assert [str(one) for one, _, _ in first(beside, 12)] == alone
    assert [str(one) for one in first(valid_tuples(spec, 4), 12)] != alone


# --- Valid tuples -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", EVERY, ids=lambda one: one.name)
def test_valid_tuples_break_nothing(spec: OpSpec) -> None:
    for one in first(valid_tuples(spec, 0), 60):
        assert violations(spec, one.arguments) == []


def test_everything_that_can_appear_does_so_early() -> None:
    tuples = first(valid_tuples(SOFTMAX, 0), 12)
    selves = [one.arguments["self"] for one in tuples]
    assert {one.dtype for one in selves[:4]} == set(FLOATS)
    assert {one.rank for one in selves[:5]} == {0, 1, 2, 3, 4}
    assert {0, 1} <= {size for one in selves for size in one.shape}
    ends = [(one.arguments["dim"].structure, max(one.arguments["self"].rank, 1)) for one in tuples]
    assert any(end == -rank for end, rank in ends)
    assert any(end == rank - 1 for end, rank in ends)
    assert {one.arguments["half_to_float"].structure for one in tuples if one.arguments["self"].dtype == "float16"} == {
        False, True,
    }  # fmt: skip


def test_keywords_are_covered_in_pairs() -> None:
    total = with_op(
        "aten::sum.dim_IntList",
        tensor("self"),
        optional(dims("dim", Length.Eq(0))),
        boolean("keepdim"),
        optional(dtype("dtype", Value.In(("float32", "float64")))),
    )
    tuples = first(valid_tuples(total, 0), 20)
    triples = [[one.arguments[name].view for name in ("dim", "keepdim", "dtype")] for one in tuples]
    assert {(dim, keepdim) for dim, keepdim, _ in triples} == set(itertools.product((None, ()), (False, True)))
    dtypes = (None, "float32", "float64")
    assert {(keepdim, dtype) for _, keepdim, dtype in triples} == set(itertools.product((False, True), dtypes))
    assert {(dim, dtype) for dim, _, dtype in triples} == set(itertools.product((None, ()), dtypes))


def test_optional_arguments_are_covered_in_pairs_and_preferences_are_taken() -> None:
    tuples = first(valid_tuples(GROUP_NORM, 0), 12)
    pairs = {(one.arguments["weight"].is_none, one.arguments["bias"].is_none) for one in tuples}
    assert pairs == {(False, False), (False, True), (True, False), (True, True)}
    epsilons = [one.arguments["eps"].structure for one in tuples]
    assert {0.0, 1.0, 1e-5} <= set(epsilons)
    assert all(isinstance(eps, float) for eps in epsilons)


def test_keywords_are_omitted_and_given_at_their_defaults() -> None:
    operands = tensor("self"), tensor("other", shape_of("self"))
    add = with_op("aten::add.Tensor", *operands, scalar("alpha", Dtype.Eq("int")))
    tuples = [one for one in first(valid_tuples(add, 0), 40) if one.arguments["alpha"].value == 1]
    assert {("alpha" in one.omitted) for one in tuples} == {False, True}
    for one in tuples:
        call = arguments(add, one, Stream(0, "", one.number, "data"))
        assert ("alpha" in call.kwargs) == ("alpha" not in one.omitted)


def test_a_dtype_can_be_asked_for() -> None:
    assert {one.arguments["self"].dtype for one in first(valid_tuples(SOFTMAX, 0, dtype="float16"), 9)} == {"float16"}
    with pytest.raises(Contradiction, match=r"argument self: Dtype in \{.*\}: no value satisfies dtype\(self\) in "
                       r"\{float16, bfloat16, float32, float64\} and self is to be int8"):  # fmt: skip
        next(valid_tuples(SOFTMAX, 0, dtype="int8"))
    assert SOFTMAX.dtypes == FLOATS


def test_results_are_derived() -> None:
    for one in first(valid_tuples(SOFTMAX, 0), 12):
        (output,) = results(SOFTMAX, one.arguments)
        operand, half_to_float = one.arguments["self"], one.arguments["half_to_float"].structure
        assert (output.dtype, output.shape) == ("float32" if half_to_float else operand.dtype, operand.shape)


@pytest.mark.parametrize(("stated", "message"), [
    ([tensor("self", Rank.Ge(3), Rank.Lt(3)), dim("dim"), boolean("half_to_float")],
     r"argument self: Rank in \[0, 4096\]: no value satisfies 3 <= rank(self) and rank(self) < 3"),
    ([tensor("self", Rank.Eq(2)), dim("dim", Value.Ge(lambda self: self.rank), Value.Ne(0), Value.Lt(1)),
      boolean("half_to_float")],
     "argument dim: Value in (-inf, inf): no value satisfies dim < 1 and rank(self) <= dim (= 2)"),
    ([tensor("self", Rank.Eq(2)), dim("dim", Value.Ge(1), Value.Le(4), Value.St(lambda dim, self: dim > 2 * self.rank)),
      boolean("half_to_float")],
     "no value satisfies 1 <= dim and dim <= 4 and dim such that dim > 2 * rank(self)"),
])  # fmt: skip
def test_a_contradiction_names_the_constraints_that_clash(stated: list[Argument], message: str) -> None:
    with pytest.raises(Contradiction) as caught:
        next(valid_tuples(with_op("aten::_softmax", *stated), 0))
    assert str(caught.value).endswith(message.replace("\\", ""))


# --- Invalid tuples ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", EVERY, ids=lambda one: one.name)
def test_invalid_tuples_break_exactly_the_constraint_they_carry(spec: OpSpec) -> None:
    tuples = invalid_tuples(spec, 0)
    found = first(tuples, 60)
    for one in found:
        assert violations(spec, one.arguments) == [one.broken]
        arguments(spec, one, Stream(0, spec.name, one.number, "data"))
    broken = {str(one.broken) for one in found} | {str(constraint) for constraint, _ in tuples.unreachable}
    assert broken == {str(one) for one in spec.constraints if one.suffix != "Be"}


def test_what_cannot_be_broken_alone_is_listed() -> None:
    tuples = invalid_tuples(GROUP_NORM, 0)
    first(tuples, 20)
    assert [(str(one), reason) for one, reason in tuples.unreachable] == [
        ("2 <= rank(input)", "a tensor of 1 dimensions has no dim 1"),
        ("group <= C", "there was no occasion to break it"),  # none larger divides C
    ]


def test_lenience_of_some_calls_alone() -> None:
    of_none, of_all = Rank.Eq(1).lenient("of nothing", lambda self: self.numel == 0), Size.Le(9).lenient("of many")
    spec = with_op("aten::exp", tensor("self", Dtype.Ne("bool"), of_none, of_all))
    tuples = first(invalid_tuples(spec, 0), 90)
    found = {(one.arguments["self"].numel == 0, str(one.broken), one.lenience) for one in tuples}
    assert found - {(True, "dtype(self) != bool", None)} == {  # which comes seldom
        (False, "dtype(self) != bool", None),
        (False, "rank(self) = 1", None),
        (True, "rank(self) = 1", "of nothing"),
        (False, "size(self, d) <= 9", "of many"),
    }
    assert {one.lenience for one in first(valid_tuples(spec, 0), 3)} == {None}


def test_a_sequence_without_a_constraint_to_break_ends() -> None:
    assert first(invalid_tuples(with_op("aten::exp", tensor("self")), 0), 3) == []


# --- Data -------------------------------------------------------------------------------------------------------------


def test_elements_lie_in_their_space_but_for_the_one_that_breaks_it() -> None:
    for one in first(valid_tuples(GATHER, 0), 20):
        call = arguments(GATHER, one, Stream(0, "", one.number, "data"))
        index = call.args[2]
        assert index.dtype == np.int64
        assert ((index >= 0) & (index < max(1, *call.args[0].shape[:1], 1))).all()
        assert call.literal == {1}
    outside = [one for one in first(invalid_tuples(GATHER, 0), 40) if one.arguments["index"].outside is not None]
    assert len({str(one.broken) for one in outside}) == 2
    for one in outside:
        call = arguments(GATHER, one, Stream(0, "", one.number, "data"))
        size = call.args[0].shape[0] if call.args[0].ndim else 1
        assert ((call.args[2] < 0) | (call.args[2] >= size)).sum() == 1


@pytest.mark.parametrize("name", ALL)
def test_data_is_in_the_storage_dtype(name: str) -> None:
    spec = with_op("aten::exp", tensor("self", Dtype.Eq(name)))
    for one in first(valid_tuples(spec, 0), 6):
        (array,) = arguments(spec, one, Stream(0, "", one.number, "data")).args
        assert (array.dtype.name, array.shape) == (name, one.arguments["self"].shape)


def test_an_integer_divisor_has_no_zero_and_a_float_one_may() -> None:
    spec = with_op(
        "aten::remainder.Tensor",
        tensor("self", Dtype.In(REAL)),
        tensor("other", Dtype.In(("int8", "float32")), shape_of("self"), nonzero_if_integer("self")),
    )
    assert spec.nonzero_integers == ("other",)
    for one in first(valid_tuples(spec, 0), 40):
        call = arguments(spec, one, Stream(0, "", one.number, "data"))
        assert call.literal == frozenset()
        if all(array.dtype.kind in "bui" for array in call.args):
            assert (call.args[1] != 0).all()


def test_gen_gives_arrays_and_whole_lists() -> None:
    spec = with_op(
        "aten::where.self",
        mask("condition", Dtype.Eq("bool"), Value.Gen(lambda stream, condition: np.ones(condition.shape))),
        tensor("self", shape_of("condition")),
        tensor("other", shape_of("condition")),
    )
    assert spec.index_arguments == ("condition",)
    for one in first(valid_tuples(spec, 0), 5):
        condition = arguments(spec, one, Stream(0, "", one.number, "data")).args[0]
        assert condition.dtype == np.bool_
        assert condition.all()
    flips = with_op(
        "aten::permute",
        tensor("self"),
        integers(
            "dims",
            Length.Eq(lambda self: self.rank),
            Value.Gen(lambda stream, self: _permutation(stream, self.rank)),
            Value.Ge(0),
        ),
    )
    for one in first(valid_tuples(flips, 0), 9):
        assert sorted(one.arguments["dims"].structure) == list(range(one.arguments["self"].rank))
    for one in first(invalid_tuples(flips, 0), 9):
        assert violations(flips, one.arguments) == [one.broken]


@pytest.mark.parametrize(("given", "message"), [
    (lambda stream: (0, 5), "argument dims: Value: Gen gives 5, against dims[i] < rank(self)"),
    (lambda stream: (1,), "argument dims: Value: Gen gives 1 values (1,), expected 2"),
])  # fmt: skip
def test_what_gen_gives_has_to_satisfy_the_other_constraints(given: Callable[..., object], message: str) -> None:
    dims = integers("dims", Length.Eq(2), Value.Lt(lambda self: self.rank), Value.Gen(given))
    with pytest.raises(Contradiction, match=re.escape(message)):
        next(valid_tuples(with_op("aten::permute", tensor("self", Rank.Eq(2)), dims), 0))


def _permutation(stream: Stream, rank: int) -> tuple[int, ...]:
    return tuple(stream.permutation(rank).tolist())


def test_lists_depend_on_what_comes_before() -> None:
    spec = with_op(
        "aten::native_layer_norm",
        tensor("input", Dtype.In(FLOATS), Rank.Ge(1)),
        shape("normalized_shape", Length.Ge(1), Length.Le(lambda input: input.rank),
              Value.Eq(lambda input, length, i: input.size(i - length))),
        optional(tensor("weight", dtype_of("input"), shaped(lambda normalized_shape: normalized_shape))),
        optional(tensor("bias", dtype_of("input"), shaped(lambda normalized_shape: normalized_shape))),
        real("eps", Value.Eq(0.5)),
    )  # fmt: skip
    for one in first(valid_tuples(spec, 0), 30):
        normalized = one.arguments["normalized_shape"].structure
        assert one.arguments["input"].shape[-len(normalized) :] == normalized
        assert one.arguments["weight"].is_none or one.arguments["weight"].shape == normalized
