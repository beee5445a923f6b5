"""Witness calls of elementwise ops: all pairs of values, every promotion, broadcasting, 0-d, empty, each keyword."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conform.numerics.formats import FORMATS
from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witness.values import COMPLEX, REAL, SMALL_FLOATS, is_float, is_half_beside_complex
from conform.selftest.agreement.witnesses import Call, witness

_SHAPES = (
    ((30, 60), (30, 60)),
    ((12, 1), (1, 20)),
    ((7,), (5, 7)),
    ((), (9,)),
    ((), ()),
    ((0, 3), (3,)),
    ((2, 3), (4,)),
)
_COMPLEX_OPS = tuple(f"aten::{name}.{operand}" for name in ("add", "mul", "div") for operand in ("Tensor", "Scalar"))
_NUMBERS = (True, 3, -7, 0, 2.5, 0.1, -0.0, 1e300, float("inf"), float("nan"))


def _pairs(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    """self of `dtype`, other of the same and of every other dtype, with dimensions, 0-d, and as a Python number."""
    for lhs, rhs in _SHAPES:
        yield {"self": draw.wild(dtype, *lhs), "other": draw.wild(dtype, *rhs)}
    for other in _partners(op, dtype):
        yield {"self": draw.wild(dtype, 6, 9), "other": draw.wild(other, 9)}
        if not is_half_beside_complex(dtype, other):
            yield {"self": draw.wild(dtype, 8), "other": draw.wild(other)}
            yield {"self": draw.wild(dtype), "other": draw.wild(other, 8)}
    for number in _numbers(op, dtype, draw):
        yield {"self": draw.wild(dtype, 20), "other": number}
        yield {"self": draw.wild(dtype), "other": number}


def _partners(op: str, dtype: str) -> tuple[str, ...]:
    return REAL + COMPLEX if op in _COMPLEX_OPS else REAL


def _numbers(op: str, dtype: str, draw: Draw) -> tuple[bool | int | float | complex, ...]:
    """Python numbers of every category; integers beyond an integer dtype wrap (P10)."""
    drawn = (draw.integer(-(2**20), 2**20), float(draw.wild("float64")))
    if op not in _COMPLEX_OPS or dtype == "float16":
        return _NUMBERS + drawn
    return (*_NUMBERS, *drawn, 2 - 0.1j)


@witness("aten::add.Tensor", "aten::add.Scalar")
def add(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    alphas = (
        2,
        -1,
        0,
        True,
        200,
        -(2**40),
        0.3,
        -2.5,
        float("inf"),
        draw.integer(-100, 100),
        float(draw.tame("float64")),
    )
    if op == "aten::add.Tensor":
        yield from _pairs(op, dtype, draw)
        for alpha in (*alphas, 1.5 - 2j):
            yield {"self": draw.wild(dtype, 20, 10), "other": draw.wild(dtype, 10), "alpha": alpha}
        return
    for number in _numbers(op, dtype, draw):
        yield {"self": draw.wild(dtype, 20, 10), "other": number}
        yield {"self": draw.wild(dtype, 30), "other": number, "alpha": draw.choice(alphas)}


@witness("aten::mul.Tensor", "aten::div.Tensor", "aten::remainder.Tensor", "aten::maximum", "aten::eq.Tensor",
         "aten::bitwise_and.Tensor")  # fmt: skip
def pairs(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from _pairs(op, dtype, draw)
    yield {"self": draw.wild(dtype, 50, 40), "other": draw.tame(dtype, 50, 40)}


@witness(
    "aten::mul.Scalar", "aten::div.Scalar", "aten::remainder.Scalar", "aten::eq.Scalar", "aten::bitwise_and.Scalar"
)
def tensor_and_number(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for number in _numbers(op, dtype, draw):
        yield {"self": draw.wild(dtype, 20, 20), "other": number}
        yield {"self": draw.wild(dtype), "other": number}


@witness("aten::remainder.Scalar_Tensor", "aten::bitwise_and.Scalar_Tensor")
def number_and_tensor(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for call in tensor_and_number(op, dtype, draw):
        yield {"self": call["other"], "other": call["self"]}


@witness("aten::div.Tensor_mode", "aten::div.Scalar_mode")
def div_mode(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    plain = pairs if op == "aten::div.Tensor_mode" else tensor_and_number
    for mode in ("floor", "trunc", None):
        for call in plain(op, dtype, draw):
            yield {**call, "rounding_mode": mode}
    yield {**call, "rounding_mode": "ceil"}


@witness("aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther", "aten::where.Scalar")
def where(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    number_names = {"aten::where.ScalarSelf": ("self",), "aten::where.ScalarOther": ("other",),
                    "aten::where.Scalar": ("self", "other")}.get(op, ())  # fmt: skip
    numbers = (True, 3, 0, 2.5, 0.1, -0.0, float("nan"), float(draw.wild("float64")))
    for call in _pairs("aten::where", dtype, draw):
        shape = np.broadcast_shapes(*(getattr(each, "shape", ()) for each in call.values())) if _fits(call) else (2, 3)
        call = {name: draw.choice(numbers) if name in number_names else each for name, each in call.items()}
        yield {"condition": draw.mask(*shape), **call}
        yield {"condition": draw.mask(3, 1, *(1,) * len(shape)), **call}
    yield {"condition": draw.mask(*shape, dtype="uint8"), **call}
    yield {"condition": draw.tame("float32", *shape), **call}


def _fits(call: Call) -> bool:
    try:
        np.broadcast_shapes(*(getattr(each, "shape", ()) for each in call.values()))
    except ValueError:
        return False
    return True


@witness("aten::neg", "aten::abs", "aten::round", "aten::exp", "aten::sqrt", "aten::sin")
def unary(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape in ((50, 40), (3, 1, 4), (7,), (), (0,), (2, 0)):
        yield {"self": draw.wild(dtype, *shape)}


@witness("aten::gelu")
def gelu(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for call in unary(op, dtype, draw):
        yield {**call, "approximate": "none"}
        yield {**call, "approximate": "tanh"}
    yield {**call, "approximate": "erf"}


@witness("aten::round.decimals")
def round_decimals(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for decimals in (1, 2, 3, 0, -1, -2, 7, -5, 20):
        yield {"self": draw.wild(dtype, 40, 10), "decimals": decimals}
        yield {"self": _near_decimal_ties(dtype, draw, decimals), "decimals": decimals}
    for call in unary(op, dtype, draw):
        yield {**call, "decimals": draw.integer(-3, 3)}


def _near_decimal_ties(dtype: str, draw: Draw, decimals: int) -> np.ndarray:
    """(k + 1/2) / 10^decimals as the dtype has it: the tie itself, or just beside it."""
    halves = draw.integers(-400, 400, 60) + 0.5
    with np.errstate(over="ignore"):
        return (halves / 10.0**decimals).astype(FORMATS[dtype].storage)


@witness("aten::_to_copy")
def to_copy(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for target in (*REAL, *COMPLEX, None):
        yield {"self": draw.wild(dtype, 20, 10), "dtype": target}
        yield {"self": draw.wild(dtype), "dtype": target}
        yield {"self": draw.wild(dtype, 0, 2), "dtype": target}
        if is_float(target or dtype):
            yield {"self": _near_midpoints(dtype, target or dtype, draw), "dtype": target}
    for small in SMALL_FLOATS:
        yield {"self": draw.wild(dtype, 20, 10), "dtype": small}
        yield {"self": _small_midpoints(dtype, small), "dtype": small}
        yield {"self": every_code(small), "dtype": dtype}
    stored = {"layout": "strided", "device": "cpu", "pin_memory": False, "memory_format": "preserve_format"}
    yield {"self": draw.wild(dtype, 3, 4), "dtype": "float32", "non_blocking": True, **stored}


def _near_midpoints(source: str, target: str, draw: Draw) -> np.ndarray:
    """Midpoints of neighbours in `target` and the numbers of float64 next to them, as far as `source` holds them."""
    values = draw.wild(target, 40)
    with np.errstate(all="ignore"):
        above = np.nextafter(values, FORMATS[target].storage.type(np.inf))
        middle = values.astype(np.float64) / 2 + above.astype(np.float64) / 2
        near = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
        return _in_source(near, source)


def every_code(small: str) -> np.ndarray:
    """The 256 codes of an 8-bit float."""
    return np.arange(256, dtype=np.uint8).view(FORMATS[small].storage)


def _small_midpoints(source: str, target: str) -> np.ndarray:
    """Every midpoint of an 8-bit float and the numbers of float64 beside it, as far as `source` holds them.

    The last is that of the largest number and the one that would follow in its place.
    """
    codes = every_code(target).astype(np.float64)
    values = np.unique(codes[np.isfinite(codes)])
    following = 2 * values[-1] - values[-2] if target != "float8_e8m0fnu" else 2 * values[-1]
    middle = (values + np.append(values[1:], following)) / 2
    near = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
    with np.errstate(over="ignore"):  # float16 is narrower than float8_e8m0fnu
        return _in_source(near, source)


def _in_source(numbers: np.ndarray, source: str) -> np.ndarray:
    fmt = FORMATS[source]
    held = np.abs(numbers) < float(fmt.max_value) if fmt.is_integer else np.isfinite(numbers)
    return np.where(held, numbers, 0.0).astype(fmt.storage)
