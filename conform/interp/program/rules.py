"""Rules by op name: how an op's exact numbers and its honest errors follow from those of its operands."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from conform.call.aliases import canonical
from conform.call.families import load_families
from conform.errors import NoGolden
from conform.interp.program.blocks import in_blocks, in_slices
from conform.interp.program.number import Number
from conform.interp.promotion import result_type
from conform.numerics.ball import Ball
from conform.numerics.formats import Format, compute_format
from conform.numerics.real import Real
from conform.numerics.rounding import decide

_ROOM = "conform.interp.program"
Rule = Callable[..., Any]
_table: dict[str, Rule] = {}
_compositions: dict[str, Rule] = {}
_selecting: set[str] = set()
_refusing: set[str] = set()


def rule(*names: str, selects: bool = False, refuses: bool = False) -> Callable[[Rule], Rule]:
    """Register the decorated function for the overloads `names`; its parameters are the schema's names.

    It gets a Number for a tensor, and gives Numbers, or NotImplemented for operands (integers, say) whose result the
    op's own semantics gives exactly. selects: every element of the result is one of an operand's, or its negative, so
    that nothing is rounded. refuses: it says itself which calls it does not take; others are those of the op's spec.
    """

    def register(function: Rule) -> Rule:
        for name in names:
            if name in _table:
                raise ValueError(f"{name} has two rules")
            _table[name] = function
        _selecting.update(names if selects else ())
        _refusing.update(names if refuses else ())
        return function

    return register


def composition(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as what the overloads `names` are composed of, for operands that are computed; of
    known ones their own semantics says more. Its parameters are the schema's names, and it is written in steps
    (`syntax.py`), of which each has the error of its op. A module's operators are composed as torch composes them.
    """

    def register(function: Rule) -> Rule:
        for name in names:
            if name in _compositions:
                raise ValueError(f"{name} has two compositions")
            _compositions[name] = function
        return function

    return register


@cache
def _load() -> dict[str, Rule]:
    load_families(_ROOM)
    return _table


def find(name: str) -> Rule | None:
    """The rule of the overload `name`, or None."""
    return _load().get(canonical(name))


def names() -> frozenset[str]:
    """Every overload that has a rule."""
    return frozenset(_load())


def find_composition(name: str) -> Rule | None:
    """What the overload `name` is composed of, or None."""
    _load()
    return _compositions.get(canonical(name))


def composed() -> frozenset[str]:
    """Every overload that has a composition."""
    _load()
    return frozenset(_compositions)


def is_selection(name: str) -> bool:
    """Whether the overload `name` has a rule by which it rounds nothing."""
    return canonical(name) in _load() and canonical(name) in _selecting


def refuses(name: str) -> bool:
    """Whether the rule of the overload `name` says itself which calls it does not take."""
    return canonical(name) in _refusing


# --- What rules are written in ----------------------------------------------------------------------------------------


def common_format(*operands: Number | complex) -> Format:
    """The common dtype of numbers and Python scalars, as torch.result_type."""
    return result_type(*(_stand_in(one) if isinstance(one, Number) else one for one in operands))


def _stand_in(number: Number) -> np.ndarray:
    return np.broadcast_to(np.zeros((), number.format.storage), number.shape)


def operands(fmt: Format, *given: Number | complex) -> list[Number]:
    """The operands of an op in the float format `fmt`. A Python number, and a 0-d tensor of a wider dtype, is its own
    value, which an implementation rounds to the compute type."""
    if not fmt.is_float:
        raise NoGolden(f"a program has no rule for {fmt.name} numbers here")
    return [_operand(fmt, one) for one in given]


def _operand(fmt: Format, given: Number | complex) -> Number:
    if isinstance(given, Number):
        held = given.held_in(fmt)
        exact_elsewhere = given.array is not None and held.array is None
        return _constant(fmt, given.real) if exact_elsewhere else held
    if float(given) != given and given == given:
        raise NoGolden(f"a program's constant must be a number that float64 holds, found {given}")
    return _constant(fmt, Real.exact(np.float64(given)))


def _constant(fmt: Format, real: Real) -> Number:
    held = Ball.exact(real.hi, compute_format(fmt))
    return Number(fmt, real, held.constant(float(real.hi)).rad if np.isfinite(real.hi) else held.rad)


def combined(
    fmt: Format, real: Callable[..., Real], ball: Callable[..., Ball], *numbers: Number, of_rows: bool = False
) -> Number:
    """The Number of a formula, which is given for reals and for balls, of which it takes element by element; of_rows:
    row by row."""

    def of(*some: Number) -> Number:
        with np.errstate(all="ignore"):
            result = real(*(one.real for one in some))
            rad = ball(*(one.ball(compute_format(fmt)) for one in some)).rad
        return Number(fmt, result, np.broadcast_to(rad, result.shape))

    return in_slices(of, numbers, numbers[0].shape, [-2]) if of_rows else in_blocks(of, *numbers)


def unbounded_where(mask: np.ndarray, number: Number) -> Number:
    """The number with nothing said of the elements of `mask`."""
    return Number(number.format, number.real, np.where(mask, np.inf, number.rad))


def open_beside_infinities(number: Number, *operands: Number | None) -> Number:
    """The number with nothing said where one of the operands, which broadcast to it, is infinite: other forms of the
    formula have other infinities, or NaN."""
    given = [np.isinf(np.broadcast_to(one.real.hi, number.shape)) for one in operands if one is not None]
    return unbounded_where(np.logical_or.reduce(given), number)


def rounded(fmt: Format, real: Real) -> tuple[np.ndarray, np.ndarray]:
    """(value, undecided): the numbers rounded to `fmt`, NaN where nothing is known of them.

    Of a computed zero the sign is free, so it need not be decided.
    """
    value, undecided = decide(fmt, real)
    with np.errstate(all="ignore"):
        vanishes = undecided & (np.abs(real.hi) + np.abs(real.lo) + real.radius < fmt.min_subnormal / 4)
    nan, zero = fmt.storage.type(np.nan), fmt.storage.type(0)
    value = np.where(vanishes, zero, np.where(undecided & np.isinf(real.radius), nan, value))
    return value, undecided & ~vanishes
