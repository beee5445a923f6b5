"""Specs against torch on the CPU and against the interpreter: what is valid is taken, what is not is refused.

torch is asked what it accepts, and of which dtype and shape a result is, never for its values.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from conform.backends.interpreter import to_torch
from conform.backends.torch_device import overload
from conform.errors import InvalidArguments, Unjudged
from conform.inputs.arguments import Arguments
from conform.inputs.draws import Stream
from conform.inputs.engine.argument_generator import arguments
from conform.inputs.engine.meta_tuple import MetaTuple, invalid_tuples, results, valid_tuples, violations
from conform.inputs.specs.registry import COMPLEX, REAL, MinimalSpec, OpSpec, op_specs, specs
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.interp.registry import find, names

# --- Specs that state dtypes alone ------------------------------------------------------------------------------------

aten = torch.ops.aten
Tensor = torch.Tensor
Call = Callable[[Tensor], object]


# For each spec: calls on a tensor of ones, 2 x 2, that differ in the kernels they need.
CALLS: dict[str, list[Call]] = {
    "aten::sum": [aten.sum.default, lambda x: aten.sum.dim_IntList(x, [0])],
    "aten::amax": [lambda x: aten.amax(x, [0]), aten.amax.default],
    "aten::argmax": [lambda x: aten.argmax(x, 0), aten.argmax.default],
    "aten::cumsum": [lambda x: aten.cumsum(x, 0)],
    "aten::_softmax": [lambda x: aten._softmax(x, 0, False), lambda x: aten._softmax(x, 1, False)],
    "aten::native_layer_norm": [
        lambda x: aten.native_layer_norm(x, [2], x[0], x[1], 1e-5),
        lambda x: aten.native_layer_norm(x, [2], None, None, 1e-5),
    ],
}


def is_accepted(call: Call, dtype: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(torch.ones(2, 2, dtype=getattr(torch, dtype)))
    except RuntimeError:
        return False
    return True


MINIMAL = [one for one in specs() if isinstance(one, MinimalSpec)]


@pytest.mark.parametrize("spec", MINIMAL, ids=lambda one: one.name)
def test_torch_takes_exactly_the_stated_dtypes(spec: MinimalSpec) -> None:
    """Every call of an op with a stated dtype is taken, and for any other dtype at least one is not."""
    asked = REAL + (COMPLEX if set(spec.dtypes) & set(COMPLEX) else ())
    taken = [dtype for dtype in asked if all(is_accepted(call, dtype) for call in CALLS[spec.name])]
    assert taken == list(spec.dtypes)


def test_no_call_is_left_over() -> None:
    assert set(CALLS) == {spec.name for spec in MINIMAL}


# --- Specs that state whole domains -----------------------------------------------------------------------------------

TUPLES = 24  # of each spec, valid and invalid
# Non-lenient invalid tuples, which torch takes nevertheless: by op, what the constraint says, and why.
TORCH_TAKES: dict[tuple[str, str], str] = {
    ("aten::_native_batch_norm_legit.no_stats", "training = True"): "the process dies: it reads statistics not given",
}
# The same for the interpreter, which raises Unjudged or gives a result.
KIT_TAKES: dict[tuple[str, str], str] = {}
NO_COMPLEX32 = "no format complex32"  # promotion fails before the op can refuse its operands
# Constraints that no tuple breaks, with the reason.
UNREACHABLE: dict[tuple[str, str], str] = {
    ("aten::gather", "size(index, d) in {0} for some d where size(self, dim) = 0"): "no element of it is then in range",
    ("aten::index_put", "rank(indices[i]) in {1, ...} of an index into an empty dim"):
        "a 0-d index has an element, which is then out of range",
    ("aten::index_put", "(indices[i] is None) in {True} where the dim is empty and the indices before it are not"):
        "an index of other sizes would fit, which is not drawn",
}  # fmt: skip

every_spec = pytest.mark.parametrize("spec", op_specs(), ids=lambda one: one.name)


def calls(spec: OpSpec, tuples: Iterable[MetaTuple]) -> Iterator[tuple[MetaTuple, Arguments]]:
    for one in itertools.islice(tuples, TUPLES):
        yield one, arguments(spec, one, Stream(0, spec.name, one.number, "data"))


def run(spec: OpSpec, call: Arguments) -> list[torch.Tensor]:
    """torch's outputs. RuntimeError and its relatives where torch refuses."""
    dtypes = {one.name for one in spec.schema.arguments if one.type.startswith("ScalarType")}

    def sent(name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return to_torch(value)
        if isinstance(value, list):
            return [sent(name, element) for element in value]
        return getattr(torch, value) if name in dtypes and value else value

    names = [one.name for one in spec.schema.arguments]
    args = [sent(name, value) for name, value in zip(names, call.args, strict=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = overload(spec.name)(*args, **{name: sent(name, value) for name, value in call.kwargs.items()})
    return list(found) if isinstance(found, tuple | list) else [found]


def is_taken(spec: OpSpec, call: Arguments) -> bool:
    try:
        run(spec, call)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return False
    return True


@every_spec
def test_valid_tuples_are_taken_and_give_the_stated_results(spec: OpSpec) -> None:
    for one, call in calls(spec, valid_tuples(spec, 0)):
        assert violations(spec, one.arguments) == [], one
        stated = [(each.dtype, each.shape) for each in results(spec, one.arguments)]
        outputs = [(str(each.dtype).removeprefix("torch."), tuple(each.shape)) for each in run(spec, call)]
        goldens = evaluate(spec.name, call.args, call.kwargs).goldens
        assert outputs == stated, one
        assert all(each in readings(golden) for each, golden in zip(stated, goldens, strict=True)), one


def readings(golden: Golden) -> set[tuple[str, tuple[int, ...]]]:
    """The dtypes, each with the shape, that an output may have: more than one by P36 and P62."""
    return {(each.format.name, each.value.shape) for each in (golden, *golden.alternatives)}


@every_spec
def test_invalid_tuples_break_one_constraint_and_are_refused(spec: OpSpec) -> None:
    tuples = invalid_tuples(spec, 0)
    for one, call in calls(spec, tuples):
        assert violations(spec, one.arguments) == [one.broken], one
        if one.lenience:
            continue
        known = (spec.name, str(one.broken))
        assert known in TORCH_TAKES or not is_taken(spec, call), one
        assert known in KIT_TAKES or is_refused_by_the_kit(spec, call), one
    unexplained = [(spec.name, str(one)) for one, _ in tuples.unreachable]
    assert [known for known in unexplained if known not in UNREACHABLE] == [], tuples.unreachable


def is_refused_by_the_kit(spec: OpSpec, call: Arguments) -> bool:
    try:
        evaluate(spec.name, call.args, call.kwargs)
    except InvalidArguments:
        return True
    except Unjudged as error:
        return NO_COMPLEX32 in str(error)
    return False


def test_every_overload_of_a_finished_family_has_a_spec() -> None:
    families = (
        "elementwise", "comparison", "casts", "functions", "shape", "indexing", "sorting", "creation", "windows",
        "contraction",
    )  # fmt: skip
    expected = {name for name in names() if find(name).family in families}
    assert expected <= {one.name for one in op_specs()}
