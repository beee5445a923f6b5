"""What torch takes an operator apart into means what the operator does, and torch is told of no more than it must."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import conform
from conform.backends.one_op import OneOp
from conform.call.bound import bound_call
from conform.errors import ConformError, InvalidArguments, NoGolden, Unjudged
from conform.frontends import decompositions
from conform.frontends.construction import module_of
from conform.frontends.modules import ModuleCall
from conform.frontends.torch_export import arrays_of, program_of
from conform.inputs.layouts import logical
from conform.interp.evaluate import evaluate_call, is_array
from conform.interp.golden import Golden
from conform.interp.program import rules
from conform.interp.program.aten import aten
from conform.interp.program.evaluation import evaluate
from conform.interp.program.number import Number
from conform.suites import load
from conform.suites.cases import Selection, draws

SHARES = 48
FEW = 3000  # elements of a call
CALLS = 4  # an operator


def graph(module: nn.Module, args: Any, kwargs: Any) -> Any:
    try:
        ops = program_of(module, None, args, kwargs).function.ops
    except NoGolden as error:
        return str(error)
    return [(op.name, op.operands, repr(op.attributes), op.results) for op in ops]


def _same_both_ways(tests: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for test in tests:
        draw = next(draws(test, Selection()))
        given, module = logical(draw.arguments()), module_of(draw).module
        few = graph(module, given.args, given.kwargs)
        with monkeypatch.context() as patched:
            patched.setattr(decompositions, "_told_of_few", lambda of_kernels: nullcontext())
            assert graph(module, given.args, given.kwargs) == few, test.id


@pytest.mark.one_in(6)
def test_torch_told_of_few_operators_makes_the_same_program(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = load(["modules"]).tests
    _same_both_ways(tests[pytestconfig.getoption("--seed") % SHARES :: SHARES], monkeypatch)


def meant(module: nn.Module, args: Any, kwargs: Any) -> list[Number]:
    """What the program makes of the arguments; nothing where that is not known."""
    try:
        program = program_of(module, None, args, kwargs)
        return list(evaluate(program, aten, [Number.exact(array) for array in arrays_of(args, kwargs)]))
    except (NoGolden, Unjudged):
        return []


def are_alike(found: Number, other: Number) -> bool:
    """The same numbers, of which neither way leaves an honest error twice the room of the other: a step more or less
    is rounded."""
    if (found.dtype, found.shape) != (other.dtype, other.shape):
        return False
    if not found.format.is_float:
        return np.array_equal(found.array, other.array)
    apart = (found.real - other.real).ends()
    with np.errstate(invalid="ignore"):
        are_same = ((apart.hi[0] <= 0) & (apart.hi[1] >= 0)) | (found.real.hi == other.real.hi)
        are_same |= np.isnan(found.real.hi) & np.isnan(other.real.hi)
        return bool(np.all(are_same & (found.rad <= 2 * other.rad) & (other.rad <= 2 * found.rad)))


def _same_if_traced_again(tests: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """torch may take composite views apart, convolutions, an average over all: into what means the same."""
    for test in tests:
        draw = next(draws(test, Selection()))
        given, module = logical(draw.arguments()), module_of(draw).module
        found = meant(module, given.args, given.kwargs)
        with monkeypatch.context() as patched:
            patched.setattr(decompositions, "_stays", lambda *_: False)
            again = meant(module, given.args, given.kwargs)
        assert [are_alike(*both) for both in zip(found, again, strict=True)] == [True] * len(found), test.id


@pytest.mark.one_in(6)
def test_what_is_not_traced_again_would_mean_the_same(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = load(["modules"]).tests
    _same_if_traced_again(tests[pytestconfig.getoption("--seed") % SHARES :: SHARES], monkeypatch)


@pytest.mark.long
def test_what_is_not_traced_again_would_mean_the_same_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    _same_if_traced_again(list(load(["modules"]).tests), monkeypatch)


@pytest.mark.long
def test_torch_told_of_few_operators_makes_the_same_programs_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    _same_both_ways(list(load(["modules"]).tests), monkeypatch)


def _agrees(own: Golden, found: Golden) -> bool:
    """Whether each element is one that the operator's own golden has, or within the error of those on the way. Of what
    nothing is documented everything is."""
    if own.undocumented:
        return True
    if own.value.shape != found.value.shape or own.format != found.format:
        return False
    with np.errstate(all="ignore"):
        values = [one.value for one in (own, *own.alternatives) if one.value.shape == found.value.shape]
        right = np.logical_or.reduce([(one == found.value) | ((one != one) & (found.value != found.value))
                                      for one in values])  # fmt: skip
        if found.budget is not None:
            off = np.abs(own.value.astype(np.float64) - found.value.astype(np.float64))
            ulp = np.abs(own.value.astype(np.float64)) * 2 * own.format.unit_roundoff
            right |= (off <= 1.01 * found.budget + ulp) | np.isinf(found.budget)
        return bool((right if own.open is None else right | own.open).all())


@pytest.mark.long
def test_what_torch_takes_apart_means_what_the_kit_says() -> None:
    """Of operators of which the kit has semantics and no rule. One that torch takes apart wrongly gets a rule."""
    agreed: dict[str, int] = {}
    otherwise = []
    for test in load(["core"]).tests:
        if not isinstance(test.op, str) or rules.find(test.op) is not None or agreed.get(test.op, 0) >= CALLS:
            continue
        given = logical(next(draws(test, Selection())).arguments())
        try:
            call = bound_call(test.op, given.args, given.kwargs, is_array)
            own = evaluate_call(call)
            if own.given is not None or sum(np.size(one) for one in call.tensors()) > FEW:
                continue
            torch.ops.aten.__getattr__(call.op.removeprefix("aten::").partition(".")[0])
            found = ModuleCall.of(OneOp(call.op)).meaning(given.args, given.kwargs).results
        except (ConformError, AttributeError):  # refused, without a program, or no operator of this torch
            continue
        agreed[test.op] = agreed.get(test.op, 0) + 1
        if not all(map(_agrees, own.results, found)):
            otherwise.append(test.id)
    assert otherwise == []
    assert len(agreed) > 150


def test_labels_end_before_the_first_that_is_none() -> None:
    """torch.export's own way takes class 0 for each place behind that: 12.62 for the last row."""
    x = np.float32([[0.25, 0.5, -1.0], [1.0, 2.0, -3.0], [1.0, 2.0, 3.0]])
    target = np.array([[2, -1, 0], [1, 0, -1], [-1, 0, 1]])
    loss = nn.MultiLabelMarginLoss(reduction="none").eval()
    assert conform.golden(loss, x, target).value.tolist() == [np.float32((2.25 + 2.5) / 3), 0.0, 0.0]
    assert conform.golden(nn.MultiLabelMarginLoss(reduction="sum"), x, target).value == np.float32(4.75 / 3)
    with pytest.raises(InvalidArguments, match="expected target in"):
        conform.golden(loss, x, target + 2)
    with pytest.raises(NoGolden, match="of one row without a reduction"):
        conform.golden(loss, x[0], target[0])
