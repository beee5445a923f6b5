"""`conform.golden`: the true result of one call of an op, for users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.errors import UsageError
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.interp.numerics.formats import format_of
from conform.interp.numerics.real import Real
from conform.interp.numerics.ulp import error_ulp


@dataclass(frozen=True)
class Truth:
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
    if not (golden.format.is_float or golden.format.is_complex):
        return np.where(actual == golden.value, 0.0, np.inf)
    fmt, value = golden.format, golden.value
    if fmt.is_complex:
        fmt = fmt.component
        actual, value = (np.ascontiguousarray(array)[..., None].view(fmt.storage) for array in (actual, value))
    real = Real.exact(value.astype(np.float64)) if golden.real is None else golden.real
    return error_ulp(fmt, actual, real)


def golden(op: str, *args: Any, **kwargs: Any) -> Truth:
    """The true result of `op` ("aten::exp"; an overload is chosen by the arguments) on numpy arrays and Python values.

    ml_dtypes arrays stand for bfloat16 and the small floats, numpy scalars for 0-d tensors; dtype arguments go by name;
    device, layout and pin_memory are ignored. Raises Unjudged where the kit has no semantics, InvalidArguments where
    the op rejects the arguments, UsageError for an unknown op or argument.
    """
    return Truth(evaluate(op, args, kwargs).goldens)
