"""The check dialect: what a program says of its own results, as an op or as a custom call of the same name.

Equal are numbers with the same code, and NaNs whatever their codes. Almost equal are numbers not more than a tolerance
apart (0.0001 unless the check says otherwise), of complex ones both parts. Close are numbers between which there are as
many steps of the format as min_ulp_difference (0) and max_ulp_difference (3) allow, of complex ones the larger part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp.stablehlo.dense import number_text
from conform.interp.stablehlo.registry import Call
from conform.interp.stablehlo.values import Tensor, contiguous
from conform.numerics.formats import Format
from conform.numerics.real import Real
from conform.numerics.ulp import error_ulp

TOLERANCE = 1e-4
CUSTOM_CALL = "stablehlo.custom_call"
SERIALIZED = "check.expect_serialized_eq"


@dataclass(frozen=True)
class Failure:
    """The first element that is not as expected, and how many are not."""

    index: tuple[int, ...]
    expected: str
    actual: str
    error_ulp: float | None
    failed: int
    elements: int


@dataclass(frozen=True)
class Check:
    """One check that ran: its op, its place in the source, and its failure, if it failed."""

    name: str
    location: str
    failure: Failure | None


def is_check(call: Call) -> bool:
    return _name(call).startswith("check.")


def _name(call: Call) -> str:
    return str(call.attributes["call_target_name"]) if call.op.name == CUSTOM_CALL else call.op.name


def checked(call: Call) -> Check:
    """What a check finds. Unjudged for one that the kit does not know."""
    name = _name(call)
    for unread in ("has_side_effect", "api_version", "backend_config", "called_computations") * (name != call.op.name):
        call.get(unread, None)
    if name not in _RULES:
        raise Unjudged(f"no meaning for {name}; known: {', '.join(_RULES)}")
    actual, expected = call.operands[0], _expected(call, name)
    if name.endswith("_const") and isinstance(actual, Tensor):
        actual = Tensor(actual.array)  # constants of quantized tensors are written as the integers that these store
    for one in (actual, expected):
        if not isinstance(one, Tensor):
            raise InvalidArguments(f"{name}: found {one}, expected a tensor")
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        raise InvalidArguments(f"{name}: found {actual}, to be compared with {expected}")
    wrong = _RULES[name](call, actual, expected)
    return Check(name, call.op.location, _failure(actual, expected, wrong) if wrong.any() else None)


def _expected(call: Call, name: str) -> Tensor:
    """A constant, the other operand, or what a probe kept."""
    if name.endswith("_const"):
        return Tensor(call.attributes["value"])
    if name != SERIALIZED:
        return call.operands[1]
    probe, at = str(call.attributes["probe_id"]), int(call.get("iter", 0))
    kept = call.process.told.probed.get(probe, [])
    if not 0 <= at < len(kept):
        raise InvalidArguments(f"{name}: probe {probe!r} kept {len(kept)} values, expected one of the number {at}")
    return kept[at]


def _equal(call: Call, actual: Tensor, expected: Tensor) -> np.ndarray:
    """Where they are not."""
    parts = zip(_parts(actual), _parts(expected), strict=True)
    return np.logical_or.reduce([(a.view(f.code_storage) != e.view(f.code_storage)) & ~(_is_nan(a) & _is_nan(e))
                                 for (a, f), (e, _) in parts])  # fmt: skip


def _almost_equal(call: Call, actual: Tensor, expected: Tensor) -> np.ndarray:
    tolerance = float(call.get("tolerance", TOLERANCE))
    if not (actual.format.is_float or actual.format.is_complex):
        return actual.array != expected.array
    wrong = []
    for (a, _), (e, _) in zip(_parts(actual), _parts(expected), strict=True):
        x, y = a.astype(np.float64), e.astype(np.float64)
        wrong.append(~((np.abs(x - y) <= tolerance) | (x == y) | (np.isnan(x) & np.isnan(y))))
    return np.logical_or.reduce(wrong)


def _close(call: Call, actual: Tensor, expected: Tensor) -> np.ndarray:
    least, most = int(call.get("min_ulp_difference", 0)), int(call.get("max_ulp_difference", 3))
    distance = np.zeros(actual.shape, np.uint64)
    for (a, fmt), (e, _) in zip(_parts(actual), _parts(expected), strict=True):
        distance = np.maximum(distance, _distance(a, e, fmt))
    return (distance < least) | (distance > most)


_RULES = {
    "check.expect_eq": _equal, "check.expect_eq_const": _equal,
    "check.expect_almost_eq": _almost_equal, "check.expect_almost_eq_const": _almost_equal,
    "check.expect_close": _close, SERIALIZED: _equal,
}  # fmt: skip


def _parts(one: Tensor) -> list[tuple[np.ndarray, Format]]:
    if one.format.is_complex:
        return [(contiguous(part), one.format.component) for part in (one.array.real, one.array.imag)]
    return [(contiguous(one.array), one.format)]


def _is_nan(array: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return array != array


def _distance(actual: np.ndarray, expected: np.ndarray, fmt: Format) -> np.ndarray:
    """How many steps of the format lie between, uint64: 0 between NaNs, the most there are between NaN and a number."""
    nans = _is_nan(actual).astype(int) + _is_nan(expected)
    lhs, rhs = (_places(one, fmt) for one in (actual, expected))
    steps = np.maximum(lhs, rhs).view(np.uint64) - np.minimum(lhs, rhs).view(np.uint64)
    return np.where(nans == 2, np.uint64(0), np.where(nans == 1, np.uint64(2**64 - 1), steps))


def _places(array: np.ndarray, fmt: Format) -> np.ndarray:
    """Numbers in their order, both zeros at 0, in int64 (uint64 as it is)."""
    if not fmt.is_float:
        return array.astype(np.uint64 if fmt.kind == "uint" else np.int64)
    codes = array.view(fmt.code_storage).astype(np.uint64)
    sign = np.uint64(1 << (fmt.bits - 1)) if fmt.is_signed else np.uint64(0)
    size = np.asarray((codes & ~sign).astype(np.int64))
    return np.asarray(np.where((codes & sign) != 0, -size, size))


def _failure(actual: Tensor, expected: Tensor, wrong: np.ndarray) -> Failure:
    index = tuple(int(at) for at in np.argwhere(wrong)[0])
    return Failure(
        index, number_text(expected.array[index], expected.format), number_text(actual.array[index], actual.format),
        _ulp(actual, expected, index), int(wrong.sum()), wrong.size,
    )  # fmt: skip


def _ulp(actual: Tensor, expected: Tensor, index: tuple[int, ...]) -> float | None:
    """Of a complex number the larger one of its parts; None of what is no float."""
    if not (actual.format.is_float or actual.format.is_complex):
        return None
    errors = [
        float(error_ulp(fmt, a[index], Real.exact(np.asarray(e[index], np.float64))))
        for (a, fmt), (e, _) in zip(_parts(actual), _parts(expected), strict=True)
    ]
    return max(errors)
