"""An op that breaks a constraint, as a program in generic spelling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Violation:
    """An op that breaks one constraint of its section."""

    op: str
    constraint: str
    operands: tuple[str, ...]
    attributes: str
    results: tuple[str, ...]
    regions: str
    numbers: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # of the operands that are not zeros
    functions: str = ""  # behind the program's own

    def program(self) -> str:
        """A function of the operands, which are its arguments."""
        arguments = ", ".join(f"%{at}: {type_}" for at, type_ in enumerate(self.operands))
        names = ", ".join(f"%{at}" for at in range(len(self.operands)))
        results = f"%r:{len(self.results)} = " if self.results else ""
        regions = f" ({self.regions})" if self.regions else ""
        return (
            f'func.func @main({arguments}) {{\n  {results}"stablehlo.{self.op}"({names}){regions} '
            f"{{{self.attributes}}} : "
            f"({', '.join(self.operands)}) -> ({', '.join(self.results)})\n  return\n}}\n{self.functions}"
        )


VIOLATIONS: list[Violation] = []


def violate(
    op: str, constraint: str, operands: str, attributes: str, results: str, regions: str = "", functions: str = ""
) -> None:
    """`operands` and `results`: `2x3xf32 f32 token`; operands are zeros but for `2xi64=1,-1`."""
    split = [one.partition("=") for one in operands.split()]
    taken = types(" ".join(type_ for type_, _, _ in split))
    numbers = {at: tuple(map(int, listed.split(","))) for at, (_, _, listed) in enumerate(split) if listed}
    VIOLATIONS.append(Violation(op, constraint, taken, attributes, types(results), regions, numbers, functions))


def types(text: str) -> tuple[str, ...]:
    own = {"token": "!stablehlo.token"}
    return tuple(own.get(one, one if one.startswith("tuple") else f"tensor<{one}>") for one in text.split())


def region(arguments: str, body: str, results: str) -> str:
    listed = ", ".join(f"%x{at}: {type_}" for at, type_ in enumerate(types(arguments)))
    names = ", ".join(f"%x{at}" for at in range(len(results.split()))) if body == "" else "%y"
    given = ", ".join(types(results))
    return f'{{\n  ^bb0({listed}):\n    {body}\n    "stablehlo.return"({names}) : ({given}) -> ()\n  }}'


F = "f32 f32"
ADD = region(F, '%y = "stablehlo.add"(%x0, %x1) : (tensor<f32>, tensor<f32>) -> tensor<f32>', "f32")
LESS = (
    '%y = "stablehlo.compare"(%x0, %x1) {comparison_direction = #stablehlo<comparison_direction LT>} : '
    "(tensor<f32>, tensor<f32>) -> tensor<i1>"
)
SELECT = region(F, LESS, "i1")
PAIRS = region("f32 f32 f32 f32", "", "f32 f32")
