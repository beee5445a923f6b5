"""Which functions run, and how often."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from conform.errors import Unjudged
from conform.interp.program.form import Value
from conform.interp.stablehlo.quantized import AS_THEY_ARE, PER_TENSOR_INPUTS
from conform.interp.stablehlo.regions import result_types
from conform.interp.stablehlo.registry import Call, meaning

NAMESPACED = re.compile(r"[a-zA-Z]\w*([.][\w$]+)+", re.ASCII)
LOOPS = 1_000_000  # steps of one `while`; the specification leaves an endless one open


def _runs_without_arguments(call: Call, constraint: str) -> None:
    for region in call.regions:
        call.require(
            constraint, not region.function.arguments, f"a region of {len(region.function.arguments)} arguments"
        )


def _same_results(call: Call, of_regions: str, of_results: str) -> None:
    """All regions give the same types, which are those of the results."""
    first, *others = (result_types(region) for region in call.regions)
    for other in others:
        call.require(of_regions, other == first, f"regions that give {_listed(first)} and {_listed(other)}")
    stated = [(one.dtype, one.shape) for one in call.results]
    call.require(of_results, stated == first, f"regions that give {_listed(first)} with the results {_listed(stated)}")


def _listed(types: list[tuple[str, tuple[int | None, ...]]]) -> str:
    return ", ".join(f"{dtype}{list(shape)}" for dtype, shape in types) or "nothing"


def _texts(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values)) or "nothing"


def _as_stated(call: Call, constraint: str, results: tuple[Any, ...]) -> tuple[Any, ...]:
    call.require(constraint, len(results) == len(call.results), f"a region that gives {len(results)} values")
    for value, one in zip(call.results, results, strict=True):
        call.require(
            constraint, value.holds(one.dtype, one.shape), f"a region that gives {one} with the result {value}"
        )
    return results


@meaning("stablehlo.if", runs=True, quantized=AS_THEY_ARE)
def if_(call: Call) -> tuple[Any, ...]:
    """true_branch() where pred, else false_branch()"""
    (pred,) = call.operands
    call.require("I1", (pred.dtype, pred.rank) == ("bool", 0), f"a pred of {pred}")
    _runs_without_arguments(call, "C1")
    _same_results(call, "C2", "C3")
    return call.regions[0 if bool(pred.array) else 1]()


@meaning("stablehlo.case", runs=True, quantized=AS_THEY_ARE)
def case(call: Call) -> tuple[Any, ...]:
    """branches[index](), the last of them where index is none of theirs"""
    (index,) = call.operands
    call.require("I1", (index.dtype, index.rank) == ("int32", 0), f"an index of {index}")
    call.require("C1", len(call.regions) >= 1, "no branches")
    _runs_without_arguments(call, "C2")
    _same_results(call, "C3", "C4")
    chosen = int(index.array)
    return call.regions[chosen if 0 <= chosen < len(call.regions) else -1]()


def _may_become(value: Value, other: Value) -> bool:
    """Whether two types agree but for sizes that are not known."""
    pairs = zip(value.shape, other.shape, strict=False)
    return len(value.shape) == len(other.shape) and all(None in pair or pair[0] == pair[1] for pair in pairs)


@meaning("stablehlo.while", runs=True, quantized=AS_THEY_ARE)
def while_(call: Call) -> tuple[Any, ...]:
    """body(body(...(operand))), as long as cond of it is true"""
    cond, body = call.regions
    state = call.operands
    types = [(one.dtype, one.shape) for one in state]
    for constraint, region in (("C1", cond), ("C2", body)):
        taken = region.function.arguments
        fits = len(taken) == len(types) and all(one.holds(*each) for one, each in zip(taken, types, strict=True))
        call.require(constraint, fits, f"a region that takes {', '.join(map(str, taken)) or 'nothing'}")
    same = [one.dtype for one in call.results] == [one.dtype for one in state]
    call.require("C3", same and all(map(_may_become, call.results, body.function.arguments)),
                 f"{', '.join(map(str, state))} with the results {', '.join(map(str, call.results))}")  # fmt: skip
    for _ in range(LOOPS):
        again = cond(*state)
        call.require("C1", len(again) == 1 and (again[0].dtype, again[0].shape) == ("bool", ()),
                     f"a cond that gives {', '.join(map(str, again))}")  # fmt: skip
        if not bool(again[0].array):
            return _as_stated(call, "C3", state)
        state = body(*state)
        call.require("C2", len(state) == len(types), f"a body that gives {len(state)} values")
    raise Unjudged(f"{call.op.name}: not at its end after {LOOPS} steps")


@meaning("func.call", runs=True, quantized=AS_THEY_ARE)
def called(call: Call) -> tuple[Any, ...]:
    """What the function gives that is named"""
    return call.regions[0](*call.operands)


@meaning("stablehlo.composite", runs=True, quantized=AS_THEY_ARE)
def composite(call: Call) -> tuple[Any, ...]:
    """decomposition(inputs...)"""
    for attribute in ("version", "composite_attributes"):
        call.get(attribute, None)
    name = call.get("name", "")
    call.require("C1", NAMESPACED.fullmatch(name) is not None, f"the name {name!r}, which is not one in a namespace")
    call.require("C2", len(call.regions) == 1, "a decomposition that no function of the program is")
    taken, given = call.regions[0].function.arguments, result_types(call.regions[0])
    fits = len(taken) == len(call.operands) and all(
        one.holds(operand.dtype, operand.shape) for one, operand in zip(taken, call.operands, strict=True)
    )
    call.require("C3", fits, f"inputs {_texts(call.operands)} of a decomposition that takes {_texts(taken)}")
    stated = [(one.dtype, one.shape) for one in call.results]
    found = f"a decomposition that gives {_listed(given)} with the results {_listed(stated)}"
    call.require("C4", stated == given, found)
    return call.regions[0](*call.operands)


@meaning("stablehlo.optimization_barrier", runs=True, quantized=PER_TENSOR_INPUTS)
def optimization_barrier(call: Call) -> tuple[Any, ...]:
    """operand"""
    call.require(
        "C1", len(call.operands) == len(call.results), f"{len(call.operands)} operands, {len(call.results)} results"
    )
    for value, one in zip(call.results, call.operands, strict=True):
        call.require("C1", value.holds(one.dtype, one.shape), f"{one} with the result {value}")
    return call.operands
