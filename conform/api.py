"""`conform.golden`: the true result of one call of an op, for users."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conform.contracts.components import components
from conform.errors import UsageError
from conform.interp.blocks.blocks import fits, flat, spans
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics.formats import format_of
from conform.numerics.real import Real
from conform.numerics.ulp import error_ulp


@dataclass(frozen=True)
class Goldens:
    """The golden outputs of one call."""

    goldens: tuple[Golden, ...]

    @property
    def value(self) -> np.ndarray | tuple[np.ndarray, ...]:
        """The correctly rounded result, in the storage dtype of its format; a tuple where the op has several
        outputs."""
        values = tuple(golden.value for golden in self.goldens)
        return values[0] if len(values) == 1 else values

    def error_ulp(self, actual: np.ndarray | tuple[np.ndarray, ...]) -> np.ndarray | tuple[np.ndarray, ...]:
        """|actual - real| / ulp(real) element by element, against the unrounded result; inf where the class is wrong.

        `actual` has the shape and dtype of `value` (a tuple of arrays for several outputs), else UsageError.
        Integers and bools: 0 where equal, inf where not.
        """
        if len(self.goldens) == 1:
            return _error(self.goldens[0], np.asarray(actual))
        if len(actual) != len(self.goldens):
            raise UsageError(f"expected {len(self.goldens)} arrays, one an output, got {len(actual)}")
        return tuple(_error(golden, np.asarray(one)) for golden, one in zip(self.goldens, actual, strict=True))


def _error(golden: Golden, actual: np.ndarray) -> np.ndarray:
    if actual.shape != golden.value.shape or format_of(actual) != golden.format:
        expected = f"{golden.format.name} of shape {list(golden.value.shape)}"
        raise UsageError(f"expected {expected}, got {format_of(actual).name} of shape {list(actual.shape)}")
    golden = replace(golden, alternatives=())  # nothing is measured by them
    if fits(actual.size):
        return _of_block(golden, actual)
    parts = [2] if golden.format.is_complex else []
    errors_ulp = np.empty((actual.size, *parts))
    for place in spans(actual.size):
        errors_ulp[place] = _of_block(golden.block(place), flat(actual, place))
    return errors_ulp.reshape(*actual.shape, *parts)


def _of_block(golden: Golden, actual: np.ndarray) -> np.ndarray:
    fmt, value = golden.format, golden.value
    if not (fmt.is_float or fmt.is_complex):
        return np.where(actual == value, 0.0, np.inf)
    if fmt.is_complex:
        actual, value, fmt = components(fmt, actual), components(fmt, value), fmt.component
    real = Real.exact(value.astype(np.float64)) if golden.real is None else golden.real
    return error_ulp(fmt, actual, real)


def golden(op: str, *args: Any, **kwargs: Any) -> Goldens:
    """The true result of `op` ("aten::exp"; an overload is chosen by the arguments) on numpy arrays and Python values.

    ml_dtypes arrays stand for bfloat16 and the small floats, numpy scalars for 0-d tensors; dtype arguments go by name;
    device, layout and pin_memory are ignored. Raises Unjudged where the kit has no semantics, InvalidArguments where
    the op rejects the arguments, UsageError for an unknown op or argument.
    """
    return Goldens(evaluate(op, args, kwargs).goldens)
