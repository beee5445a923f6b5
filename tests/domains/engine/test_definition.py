"""Specs at definition: errors with their places, and how constraints print."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from conform.domains.engine.arguments import Argument, boolean, dim, optional, scalar, string, tensor, tensors
from conform.domains.engine.constraints import Dtype, Length, Optional, Rank, Size, Value
from conform.domains.engine.dtypes import FLOATS
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import broadcastable_with, dim_of


@pytest.mark.parametrize(("define", "message"), [
    (lambda: tensor("self", Length.Eq(2)), "argument self: a Tensor has no Length; it has Dtype, Rank, Size, Value"),
    (lambda: tensor("self", Optional.Eq(False)), "a Tensor has no Optional"),
    (lambda: tensor("self", Dtype.Lt("int8")), "argument self: Dtype is a TensorDtype, which has no Lt"),
    (lambda: string("mode", Value.St(lambda mode: True)), "argument mode: Value is a String, which has no St"),
    (lambda: tensor("self", Dtype.In(("float32", "flaot64"))),
     r"argument self: dtype\(self\) in {float32, flaot64}: 'flaot64' is no TensorDtype; those are {bool, uint8, "),
    (lambda: scalar("alpha", Dtype.Ne("double")), "'double' is no ScalarDtype; those are {bool, int, float, complex}"),
    (lambda: dim("dim", Value.St(3)), "Value.St: expected a function with a parameter, found 3"),
])  # fmt: skip
def test_a_constraint_that_the_type_does_not_have(define: Callable[[], Argument], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        define()


@pytest.mark.parametrize(("name", "arguments", "message"), [
    ("aten::cumsum", [tensor("self"), dim("axis")],
     "spec of aten::cumsum: found the arguments self, axis, expected self, dim, dtype"),
    ("aten::exp", [dim("self")],
     "spec of aten::exp: argument self: found int or SymInt self, expected torch's Tensor self"),
    ("aten::exp", [optional(tensor("self"))], r"found Tensor\? self, expected torch's Tensor self"),
    ("aten::mul.Tensor", [tensor("self", Rank.Eq(lambda it: it.rank)), tensor("other")],
     "spec of aten::mul.Tensor: argument self: Rank.Eq depends on 'it', expected one of other"),
    ("aten::mul.Tensor", [tensor("self", Rank.Eq(lambda d: d)), tensor("other")], "Rank.Eq depends on 'd'"),
    ("aten::mul.Tensor", [tensor("self", Rank.Eq(lambda other: other.rank)),
                          tensor("other", Dtype.Eq(lambda self: self.dtype))],
     "spec of aten::mul.Tensor: arguments depend on each other in a cycle: self -> other -> self"),
    ("aten::exp", [tensor("self", Rank.Eq(1).lenient("why not", lambda it: it.numel == 0))],
     "spec of aten::exp: rank\\(self\\) = 1: lenient where 'it', expected one of self"),
])  # fmt: skip
def test_a_spec_that_does_not_fit(name: str, arguments: list[Argument], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OpSpec(name, arguments)


def _one_of_the_first(d: int) -> int:
    """1 where d = 0"""
    return int(d == 0)


@pytest.mark.parametrize(("argument", "printed"), [
    (dim("dim", dim_of("self")), ["-max(rank(self), 1) <= dim", "dim < max(rank(self), 1)"]),
    (tensor("self", Dtype.In(["int8", "bool"]), Size.Ge(1)), ["dtype(self) in {int8, bool}", "1 <= size(self, d)"]),
    (tensors("tensors", Length.Gt(0), Rank.Eq(lambda previous: previous[0].rank)),
     ["0 < length(tensors)", "rank(tensors[i]) = rank(previous[0])"]),
    (tensor("other", Size.Eq(lambda self, d: self.size(d)), Size.Ne(lambda self, d: -self.size(d))),
     ["size(other, d) = size(self, d)", "size(other, d) != -size(self, d)"]),  # two lambdas, of the same names
    (tensor("other", broadcastable_with("self")), ["size(other, d) in {1, size(self, d)}"]),
    (dim("groups", Value.St(lambda n, input: input.size(1) % n == 0)),
     ["groups such that size(input, 1) % groups == 0"]),
    (optional(tensor("bias"), Optional.Eq(False)), ["(bias is None) = False"]),
    (boolean("half", Value.In(lambda self: (False,) if self.dtype == "int8" else ANYTHING)),
     ["half in {False} if dtype(self) == int8"]),
    (boolean("half", Value.NotIn(lambda self: () if self.dtype in FLOATS else (True,))),
     ["half not in {True} if not dtype(self) in {float16, bfloat16, float32, float64}"]),
    (tensor("self", Dtype.NotIn(lambda other: ("bool", *FLOATS) if other.rank else ANYTHING)),
     ["dtype(self) not in {bool, float16, bfloat16, float32, float64} if rank(other)"]),
    (tensor("self", Rank.Le(lambda other: other.rank if other.numel else math.inf), Size.Ge(_one_of_the_first)),
     ["rank(self) <= rank(other) if numel(other)", "1 <= size(self, d) where d = 0"]),
    (tensor("self", Rank.Ge(lambda other: 3 if other.rank else 2)), ["(3 if rank(other) else 2) <= rank(self)"]),
])  # fmt: skip
def test_constraints_print_as_mathematics(argument: Argument, printed: list[str]) -> None:
    assert [str(constraint) for constraint in argument.constraints] == printed


def test_a_function_whose_default_only_its_surroundings_know() -> None:
    places = [Value.Ne(lambda dim, place=place: place, ("dim",)) for place in (0, 1)]
    assert [str(one) for one in places] == ["value != place", "value != place"]
