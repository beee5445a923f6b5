"""Pieces of a program, each a program of its own: one op of main, on what the program's interpreter gives it there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conform.frontends.stablehlo import CALLEES, RETURNS, Reader, parsed
from conform.frontends.stablehlo_called import ProgramCall
from conform.frontends.stablehlo_engine import MAIN, for_engines, functions_of, name_of
from conform.frontends.stablehlo_fold import CONSTANT
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Op, Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.values import Tensor


@dataclass(frozen=True, eq=False)
class Piece:
    """A call of one op, the place of the op, the arrays that it gets, and the function that it calls, if any."""

    call: ProgramCall
    op: str
    location: str
    arrays: tuple[np.ndarray, ...]
    callee: str | None = None


def pieces(call: ProgramCall, arrays: Sequence[np.ndarray]) -> Iterator[Piece]:
    """The ops of main but constants, in their order, each on the operands that it has where each result before it is
    rounded to its element type; not those on operands that are no tensors. Unjudged for an op without a meaning."""
    function = call.function
    values: dict[str, Any] = dict(zip((one.name for one in function.arguments), map(Tensor, arrays), strict=True))
    evaluate(Program(function), StableHLO(), [Tensor(one) for one in arrays], _noting(values))
    for at, op in enumerate(function.ops):
        if op.name == CONSTANT or not op.results:
            continue
        text, names, callee = _alone(call.text, call.op, at)
        given = [values.get(name) for name in names]
        if all(isinstance(one, Tensor) for one in given):
            alone, source = for_engines(text, call.op, MAIN)
            piece = replace(call, text=alone, function=source.functions[MAIN])
            yield Piece(piece, op.name, op.location, tuple(one.array for one in given), callee)


def called_by(piece: Piece) -> ProgramCall | None:
    """The function that the piece calls, as a call of its own on the same arrays."""
    if piece.callee is None:
        return None
    text, source = for_engines(piece.call.text, piece.call.op, piece.callee)
    return replace(piece.call, text=text, function=source.functions[MAIN])


def _noting(values: dict[str, Any]) -> Any:
    def note(op: Op, operands: Sequence[Any], results: Sequence[Any]) -> None:
        values.update((value.name, one) for value, one in zip(op.results, results, strict=True))

    return note


def _alone(text: str, file: str, at: int) -> tuple[str, list[str], str | None]:
    """The program with main's op `at` as all that it does, the names, as a Reader has them, of its arguments, and that
    of the function that it calls."""
    from jaxlib.mlir import ir

    module, reader = parsed(text, file), Reader(file)
    reader.functions(module)
    (main,) = [one for one in functions_of(module) if name_of(one) == MAIN]
    (block,) = main.regions[0].blocks
    *ops, returned = [one.operation for one in block.operations]
    kept, arguments = ops[at], list(block.arguments)
    needed = _from_outside(kept)
    constants = {one.owner for one in needed if _is_constant(one)}
    given = [one for one in needed if not _is_constant(one)]
    with main.context, returned.location:
        for value in given:
            value.replace_all_uses_with(block.add_argument(value.type, returned.location))
        ir.Operation.create("func.return", operands=list(kept.results), ip=ir.InsertionPoint(returned))
        for op in (returned, *(one for one in reversed(ops) if one != kept and one not in constants)):
            op.erase()
        for _ in arguments:
            block.erase_argument(0)
        kind = ir.FunctionType.get([one.type for one in block.arguments], [one.type for one in kept.results])
        main.attributes["function_type"] = ir.TypeAttr.get(kind)
    for notes in ("arg_attrs", "res_attrs"):
        if notes in main.attributes:
            del main.attributes[notes]
    callee = next((str(kept.attributes[name]).lstrip("@") for name in CALLEES.get(kept.name, ())), None)
    return str(module), [reader.names[one] for one in given], callee


def _is_constant(value: Any) -> bool:
    return getattr(value.owner, "name", "") == CONSTANT


def _from_outside(op: Any) -> list[Any]:
    """The values that the op and its regions use, and do not make, each once."""
    inside: set[Any] = set()
    found: dict[Any, None] = {}
    waiting = [op]
    while waiting:
        one = waiting.pop()
        for value in one.operands:
            if value not in inside:
                found[value] = None
        for region in one.regions:
            for block in region.blocks:
                inside.update(block.arguments)
                inner = [each.operation for each in block.operations]
                inside.update(result for each in inner for result in each.results)
                waiting += [each for each in inner if each.name not in RETURNS or len(each.operands)]
    return list(found)
