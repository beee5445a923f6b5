"""What is swept: an op that works element by element, the format of its operands, and what stands beside them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from conform.backends.call import Call
from conform.call.bound import Bound, bound_call
from conform.call.names import operator_name
from conform.errors import InvalidArguments, Unjudged, UsageError
from conform.interp import semantics
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Outcome
from conform.numerics.formats import FORMATS, Format, format_named
from conform.sweep.space import Codes, Space

MOST_BITS = 32  # of all operands together
DEFAULT_DTYPES = ("float32", "float16")  # of an op of one operand, of two


@dataclass(frozen=True)
class Subject:
    """The overload `op` with tensors of `dtype` for the arguments `operands`, and `keywords` for others."""

    op: str
    dtype: str
    operands: tuple[str, ...]
    keywords: Mapping[str, Any]

    @cached_property
    def space(self) -> Space:
        return Space(FORMATS[self.dtype], len(self.operands))

    def sent(self, codes: Codes) -> Call:
        """The call as the backend gets it."""
        return Call(self.op, self.space.operands(codes), dict(self.keywords))

    def call(self, codes: Codes | np.ndarray, dtype: np.dtype | None = None) -> Bound:
        """The call as it is judged; with operands converted to `dtype`, which holds them."""
        with np.errstate(invalid="ignore"):  # signalling NaNs
            operands = [one if dtype is None else one.astype(dtype) for one in self.space.operands(codes)]
        return bound_call(self.op, operands, self.keywords)

    def outcome(self, call: Bound) -> Outcome:
        """Raises Unjudged, InvalidArguments."""
        return evaluate_call(call)


def subject_of(op: str, dtype: str | None = None, keywords: Mapping[str, Any] | None = None) -> Subject:
    """The sweep of an op named as `conform.golden` takes it. UsageError where it is none of one or two float operands,
    does not work element by element, or has too many inputs; Unjudged without semantics."""
    name, given = operator_name(op), dict(keywords or {})
    fmt = None if dtype is None else _float_format(dtype)
    call = _called(name, fmt, given)
    definition = semantics.find(call.op)
    if definition is None:
        raise Unjudged(f"no semantics for {call.op}{semantics.related(call.op)}")
    operands = tuple(each for each, value in call.arguments.items() if isinstance(value, np.ndarray))
    if not definition.traits.pointwise:
        raise UsageError(f"{call.op} does not work element by element: its results are no function of single inputs")
    subject = Subject(call.op, fmt.name if fmt else DEFAULT_DTYPES[len(operands) - 1], operands, given)
    _check(subject)
    return subject


def keyword(written: str) -> tuple[str, Any]:
    """(name, value) of `NAME=VALUE`: a Python number, None, True or False; all else is text."""
    name, separator, text = written.partition("=")
    if not (separator and name.isidentifier()):
        raise UsageError(f"--arg {written!r}: expected NAME=VALUE, as in approximate=tanh")
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return name, text
    if value is not None and not isinstance(value, bool | int | float):
        raise UsageError(f"--arg {written!r}: expected a number, None, True, False or a name")
    return name, value


def _float_format(dtype: str) -> Format:
    fmt = format_named(dtype)
    if not fmt.is_float or fmt.bits != 8 * fmt.storage.itemsize:
        raise UsageError(f"--dtype {dtype}: expected a float dtype of at most {MOST_BITS} bits whose codes fill bytes")
    return fmt


def _called(name: str, fmt: Format | None, keywords: Mapping[str, Any]) -> Bound:
    """The op's call with one tensor, or where it takes none so, with two."""
    problems = []
    for default in DEFAULT_DTYPES:
        tensor = np.zeros(1, (fmt or FORMATS[default]).storage)
        try:
            return bound_call(name, [tensor] * (len(problems) + 1), keywords)
        except UsageError as error:
            problems.append(str(error))
    if problems[0] == problems[1]:
        raise UsageError(problems[0])
    told = f" and {dict(keywords)}" if keywords else ""
    raise UsageError(f"{name} takes neither one tensor{told} ({problems[0]}) nor two ({problems[1]}); see --arg")


def _check(subject: Subject) -> None:
    """Whether the kit takes its inputs: two of them, the zero and the next number."""
    bits = subject.space.fmt.bits * len(subject.operands)
    if bits > MOST_BITS:
        raise UsageError(
            f"{subject.op} of {len(subject.operands)} x {subject.dtype} has 2^{bits} inputs; a sweep takes up to "
            f"2^{MOST_BITS}: one operand of 32 bits, or two of 16"
        )
    try:
        outcome = subject.outcome(subject.call(Codes(0, 1)))
    except InvalidArguments as error:
        raise UsageError(f"no sweep: {error}; --arg NAME=VALUE gives an argument that is no tensor") from None
    if len(outcome.goldens) != 1:
        raise UsageError(f"{subject.op} has {len(outcome.goldens)} outputs; a sweep takes ops of one")
