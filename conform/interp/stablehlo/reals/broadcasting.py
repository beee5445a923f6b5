"""chlo's ops that broadcast: the op of the same name on operands of one shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conform.interp.program.shape import places_of
from conform.interp.stablehlo.ops.chlo import BROADCASTING, broadcast
from conform.interp.stablehlo.reals.movement import arranged
from conform.interp.stablehlo.reals.rules import find, rule
from conform.interp.stablehlo.registry import Call
from conform.interp.stablehlo.values import Tensor


def _broadcasting(name: str) -> Callable[[Call], Any]:
    def function(call: Call) -> Any:
        places = [Tensor(places_of([one.shape])[0]) for one in call.operands]
        spread = broadcast(replace(call, operands=tuple(places)))
        numbers = [arranged([one], where.array) for one, where in zip(call.operands, spread, strict=True)]
        return find(name)(replace(call, op=replace(call.op, name=name), operands=tuple(numbers)))

    return function


for _name, _of in BROADCASTING.items():
    if find(_of) is not None:
        rule(_name)(_broadcasting(_of))
