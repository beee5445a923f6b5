"""The real number behind every result, at the ends of the range: R1 (the truth lies within the radius), R3 (radius 0
means equal), what R4 says of numbers beyond float64, and errors in ulps, all against Arb at thousands of bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf, log2

import numpy as np
import pytest
from flint import arb, ctx

from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics import arithmetic, functions
from conform.numerics.formats import FORMATS, Format
from conform.numerics.rounding import round_fraction
from conform.numerics.ulp import error_ulp
from tests.numerics.functions.arb_formulas import FORMULAS
from tests.numerics.functions.draws import BINARY
from tests.numerics.test_ulp import exact_error

PRECISION = 600  # bits: far more than a Real holds
OF_ROWS = 4600  # two float64 differ by 2^2100 at most, their squares by 2^4200
BEYOND = 1300  # 2^+-BEYOND rounds like all numbers beyond
FLOATS = ("float16", "bfloat16", "float32", "float64")
LARGEST, SMALLEST = FORMATS["float64"].max_finite, 2.0**-1074


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    before, ctx.prec = ctx.prec, PRECISION
    yield
    ctx.prec = before


def fraction(end: arb) -> Fraction:
    mantissa, exponent = map(int, end.man_exp())
    size = exponent + abs(mantissa).bit_length()
    if mantissa and abs(size) > BEYOND:
        mantissa, exponent = (1 if mantissa > 0 else -1), (BEYOND if size > 0 else -BEYOND)
    return Fraction(mantissa) * Fraction(2) ** exponent


def assert_held(golden: Golden, i: int, low: Fraction, high: Fraction, what: str) -> None:
    """Element i, whose true value lies between low and high."""
    fmt, real, value = golden.format, golden.real[i], golden.value[i]
    allowed = {float(round_fraction(fmt, end)) for end in (low, high)}  # two beside a midpoint to e^-8192 and less
    assert float(value) in allowed, f"{what}: got {value!r}, expected one of {allowed}"
    hi, lo, radius = (float(part) for part in (real.hi, real.lo, real.radius))
    if np.isinf(hi):
        assert radius == inf, f"{what} is finite, and not a class"
        assert min(abs(low), abs(high)) >= Fraction(2) ** 1024, f"{what} is held as one beyond float64"
        assert (hi > 0) == (low > 0), what
        return
    assert np.isfinite(radius), f"{what} is unknown"
    middle = Fraction(hi) + Fraction(lo)
    assert middle - Fraction(radius) <= high, f"{what} lies below hi + lo - {radius}"
    assert low <= middle + Fraction(radius), f"{what} lies above hi + lo + {radius}"
    if fmt.name == "float64":
        with np.errstate(over="ignore"):
            neighbours = np.nextafter(value, -inf), np.nextafter(value, inf)
        for actual in (value, *neighbours):
            found = Fraction(float(error_ulp(fmt, np.array(actual), real)))
            # The truth may lie closer below a power of two than the radius: the unit is that of hi + lo then.
            exact = [exact_error(fmt, float(actual), number) for number in (low, high, middle)]
            assert min(abs(found - each) for each in exact) <= Fraction(1, 2**20), f"{what}: {actual!r}, {float(found)}"


def ends(fmt: Format) -> list[float]:
    """Numbers of every size, dense where functions over- and underflow, and the neighbours of the ends."""
    exact = [2.0**e for e in (-1074, -1073, -1060, -1022, -970, -540, -149, -126, -53, -24, -14, -1, 0, 1)]
    large = [3.0 * 2.0**e for e in (4, 10, 14, 60, 126, 500, 600, 1000, 1022)]
    middle = [0.3, 1.7, 5.3, 9.7, 11.09, 17.3, 26.5, 37.5, 88.3, 89.2, 103.7, 150.3]
    far = [700.3, 709.5, 709.7827, 709.8, 710.4, 720.3, 737.1, 744.2, 744.44, 745.1, 745.3, 1022.7, 1073.3, 1074.6]
    numbers = [*exact, *large, *middle, *far, fmt.max_finite, fmt.max_finite / 2, fmt.min_subnormal * 3, 1 - 2.0**-20]
    with np.errstate(over="ignore"):
        rounded = {float(np.float64(x).astype(fmt.storage)) for x in numbers}
    return sorted({s * x for x in rounded for s in (1, -1) if np.isfinite(x) and x != 0})


def assert_functions_hold(name: str, fmt: Format, operands: list[tuple[float, ...]]) -> None:
    value, real = functions.apply(name, fmt, *(np.array(side) for side in zip(*operands, strict=True)))
    golden, judged = Golden(fmt, value, real), 0
    for i, each in enumerate(operands):
        true = FORMULAS[name](*map(arb, each)) if np.isfinite(real.hi[i]) or np.isinf(real.radius[i]) else arb("nan")
        if true.is_finite() and not true.contains(0) and not true.rad() > abs(true) / 2**200:
            judged += 1
            assert_held(golden, i, fraction(true.lower()), fraction(true.upper()), f"{name}{each} of {fmt.name}")
    assert judged > len(operands) // 8


LIMIT = {"i0": 3e4, "i1": 3e4, "lgamma": 1e9, "digamma": 1e9, "erfinv": 1.0, "ndtri": 1.0, "logit": 1.0}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("format_name", FLOATS)
@pytest.mark.parametrize("name", [name for name in functions.names() if name not in BINARY])
def test_functions(name: str, format_name: str) -> None:
    fmt = FORMATS[format_name]
    assert_functions_hold(name, fmt, [(x,) for x in ends(fmt) if abs(x) <= LIMIT.get(name, inf)])


PAIRS = [(x, y) for x in (0.7, 3.0, 1e-160, 1e160, 5e-324, 3e-320, 2.0**-1022, 1.7e308, LARGEST, 745.2)
         for y in (0.9, 1.0, 4.0, 2.0**-30, 3e154, 1e-300, LARGEST, LARGEST / 2, SMALLEST, 2.0**970)]
SIGNED = [(s * x, t * y) for x, y in PAIRS for s in (1, -1) for t in (1, -1)]


@pytest.mark.parametrize("name", ["hypot", "atan2", "logaddexp", "xlogy", "pow"])
def test_functions_of_two(name: str) -> None:
    pairs = SIGNED if name in ("hypot", "atan2", "logaddexp") else PAIRS
    if name == "pow":
        pairs = [(x, s * y) for x, y in pairs for s in (1, -1) if 0 < abs(y * log2(x)) < 1200]
    assert_functions_hold(name, FORMATS["float64"], pairs)


@pytest.mark.parametrize("fmt", [FORMATS["float32"], FORMATS["float64"]], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic(name: str, fmt: Format) -> None:
    exactly = {"add": Fraction.__add__, "sub": Fraction.__sub__, "mul": Fraction.__mul__, "div": Fraction.__truediv__}
    more = [(LARGEST, 2.0**970 * n / 8) for n in (3, 4, 5, 7, 8, 9)]
    more += [(LARGEST, 1 + 2.0**-52), (LARGEST, 1 - 2.0**-53)]
    pairs = [pair for pair in SIGNED + more if name != "div" or pair[1] != 0]
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    golden = Golden(fmt, *getattr(arithmetic, name)(fmt, a, b))
    for i, (x, y) in enumerate(pairs):
        true = exactly[name](Fraction(x), Fraction(y))
        if fmt.name == "float64" or golden.real.hi[i] != 0:
            assert_held(golden, i, true, true, f"{x!r} {name} {y!r} of {fmt.name}")
            held = np.isinf(golden.real.hi[i]) or golden.real.radius[i] > 0
            assert held or Fraction(golden.real.hi[i]) + Fraction(golden.real.lo[i]) == true


# Composite ops: [the op, its arguments after the row, the formula of element i of a row]


def log_sum(row: list[arb]) -> arb:
    return sum((x.exp() for x in row), arb(0)).log()


def cross_entropy_with_logits(x: arb, target: arb) -> arb:
    return (1 - target) * x + (-x).exp().log1p()


COMPOSITES: dict[str, tuple[tuple, Callable[[list[arb], int], arb]]] = {
    "aten::_softmax": ((1, False), lambda row, i: (row[i] - log_sum(row)).exp()),
    "aten::_log_softmax": ((1, False), lambda row, i: row[i] - log_sum(row)),
    "aten::logsumexp": (([1],), lambda row, i: log_sum(row)),
    "aten::softplus": ((1.0, 1e300), lambda row, i: row[i].exp().log1p()),
    "aten::mean.dim": (([1],), lambda row, i: sum(row, arb(0)) / len(row)),
    "aten::linalg_vector_norm": ((2, [1]), lambda row, i: sum((x * x for x in row), arb(0)).sqrt()),
    "aten::binary_cross_entropy_with_logits": (
        (0.25, None, None, 0), lambda row, i: cross_entropy_with_logits(row[i], arb(0.25)),
    ),
}  # fmt: skip
ROWS = [
    [1.0, 0.25, -3.0], [-4.0, 8192.0, -8192.0], [700.0, 0.0, -40.0], [-709.0, 1.0, 36.0], [-744.25, 0.5, 2.0],
    [745.0, 0.5, -1.0], [-1074.0, 2.0, 1.0], [0.0, -12000.0, -20000.0], [65504.0, -65504.0, 3.0], [1.5, 37.5, 80.0],
    [2.0**-24, 2.0**-23, -(2.0**-24)],
]  # fmt: skip
WIDE_ROWS = [
    [-64.0, 2.0**30, 1.0], [2.0**-149, -(2.0**-149), 2.0**-148], [3e38, 3.4e38, 3.3e38], [-(2.0**76), 2.0**100, 0.0],
]  # fmt: skip
WIDEST_ROWS = [
    [SMALLEST, SMALLEST, 3 * SMALLEST], [LARGEST, LARGEST, -LARGEST], [LARGEST / 2, -LARGEST, 1.0],
    [1e-308, 3e-310, 0.0],
    [-128.0, 2.0**60, 5.0], [-(2.0**947), 2.0**1000, 0.0], [LARGEST, 2.0**970, 2.0**969], [1e-160, 1e-165, 3e-162],
]  # fmt: skip


@pytest.mark.parametrize("format_name", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", COMPOSITES)
def test_composite_ops(op: str, format_name: str) -> None:
    fmt, ctx.prec = FORMATS[format_name], OF_ROWS
    rows = ROWS + (WIDE_ROWS if format_name != "float16" else []) + (WIDEST_ROWS if format_name == "float64" else [])
    rows = [[float(fmt.storage.type(x)) for x in row] for row in rows]
    arguments, formula = COMPOSITES[op]
    x = np.array(rows, fmt.storage)
    if "cross" in op:
        arguments = (np.full_like(x, arguments[0]), *arguments[1:])
    golden = evaluate(op, (x, *arguments), {}).goldens[0]
    per_row = golden.value.size // len(rows)
    golden = golden.rearranged(lambda part: part.reshape(-1))
    for number, row in enumerate(rows):
        for i in range(per_row):
            true = formula([arb(element) for element in row], i)
            if true.is_finite() and not true.contains(0):
                low, high = fraction(true.lower()), fraction(true.upper())
                assert_held(golden, number * per_row + i, low, high, f"{op} of {row}, element {i}, {format_name}")
