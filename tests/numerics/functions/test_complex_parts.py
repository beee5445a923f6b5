"""The parts of complex functions against Arb: values bit for bit, and reals within their radius."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from flint import acb, arb, ctx

from conform.numerics.formats import FORMATS, Format
from conform.numerics.functions import complex_exact, complex_mp, complex_parts, ladder
from conform.numerics.functions.complex_table import COMPLEX_FUNCTIONS
from conform.numerics.functions.ladder import float64_holds
from conform.numerics.rounding import round_fraction

PRECISION = 2600  # more bits than 1 + z, or 1 - e^z, of any two doubles cancels
OF_TWO = ("div", "pow", "atan2")
FORMULAS: dict[str, Callable[..., acb]] = {
    "reciprocal": lambda z: 1 / z,
    "div": lambda z, w: z / w,
    "sgn": lambda z: z / abs(z),
    "sqrt": lambda z: z.sqrt(),
    "rsqrt": lambda z: 1 / z.sqrt(),
    "cbrt": lambda z: (z.log() / 3).exp(),
    "exp": lambda z: z.exp(),
    "exp2": lambda z: (z * arb.const_log2()).exp(),
    "expm1": lambda z: z.exp() - 1,
    "log": lambda z: z.log(),
    "log2": lambda z: z.log() / arb.const_log2(),
    "log10": lambda z: z.log() / arb(10).log(),
    "log1p": lambda z: (1 + z).log(),
    "sigmoid": lambda z: 1 / (1 + (-z).exp()),
    "pow": lambda z, w: (w * z.log()).exp(),
    "atan2": lambda y, x: acb(0, -1) * ((x + acb(0, 1) * y) / (x * x + y * y).sqrt()).log(),
    **{
        name: lambda z, name=name: getattr(z, name)()
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh")
    },
}


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    before, ctx.prec = ctx.prec, PRECISION
    yield
    ctx.prec = before


def fraction(number: arb) -> Fraction:
    middle = number.mid().fmpq()
    return Fraction(int(middle.p), int(middle.q))


def check(name: str, fmt: Format, *operands: np.ndarray) -> None:
    parts = complex_parts.apply(name, fmt, *operands)
    for i, point in enumerate(zip(*(operand.tolist() for operand in operands), strict=True)):
        true = FORMULAS[name](*(acb(arb(x), arb(y)) for x, y in zip(point[::2], point[1::2], strict=True)))
        overflow = Fraction(fmt.max_finite) + Fraction(2) ** (fmt.emax - fmt.mantissa_bits - 1)
        assert bool(parts.beyond[i]) == (not abs(true) < arb(int(overflow))), f"{name}{point}"
        if not parts.beyond[i]:
            for j, part in enumerate((true.real, true.imag)):
                found, where = parts.value[i, j], f"{name}{point}, part {j}"
                assert found == round_fraction(fmt, fraction(part)), where
                off = abs(fraction(part) - Fraction(parts.real.hi[i, j]) - Fraction(parts.real.lo[i, j]))
                assert off <= Fraction(parts.real.radius[i, j]) + Fraction(1, 2**1100), where


def drawn(name: str, fmt: Format, count: int) -> list[np.ndarray]:
    """Parts of many sizes, many near 1; none is 0."""
    rng = np.random.default_rng([7, *name.encode()])
    sizes = {
        "float32": 2.0 ** rng.uniform(-20, 6, (4, count)),
        "float64": 2.0 ** rng.uniform(-60, 8, (4, count)),
    }[fmt.name]
    near_one = 1 + rng.choice([-1, 1], (4, count)) * 2.0 ** rng.uniform(-22, -2, (4, count))
    values = np.where(rng.random((4, count)) < 0.3, near_one, sizes) * rng.choice([-1, 1], (4, count))
    return list(values[: 4 if name in OF_TWO else 2].astype(fmt.storage).astype(np.float64))


def test_every_function_has_a_formula() -> None:
    assert complex_parts.names() == sorted(FORMULAS)


@pytest.mark.parametrize("format_name", ["float32", "float64"])
@pytest.mark.parametrize("name", complex_parts.names())
def test_correctly_rounded_and_enclosed(name: str, format_name: str) -> None:
    fmt = FORMATS[format_name]
    check(name, fmt, *drawn(name, fmt, 60))


# Sizes at the ends of the range: products underflow, squares overflow, and 1 + z is 1 to thousands of bits.
EXTREME = (2.0**-1074, 1e-310, 1e-160, 3e-20, 0.75, 40.0, 1e9, 1e160)


@pytest.mark.parametrize("name", [name for name in complex_parts.names() if name not in OF_TWO])
def test_parts_of_very_different_size(name: str) -> None:
    x, y = (grid.ravel() for grid in np.meshgrid(EXTREME, EXTREME))
    if name not in ("sqrt", "rsqrt", "cbrt", "reciprocal", "log", "log2", "log10", "asin", "acos", "asinh", "acosh"):
        kept = (x < 100) & (y < 100)  # beyond, the others only overflow, underflow or saturate
        x, y = x[kept], y[kept]
    check(name, FORMATS["float64"], -x, y)


ALONG_X = ("exp", "exp2", "expm1", "sinh", "cosh")  # the magnitude grows with x, of the others with y


@pytest.mark.parametrize("name", ["div", "reciprocal", *ALONG_X, "sin", "cos"])
def test_parts_of_every_binade_and_of_results_at_the_ends(name: str) -> None:
    rng = np.random.default_rng([11, *name.encode()])
    wide = np.ldexp(rng.uniform(1, 2, (4, 80)), rng.integers(-1074, 1024, (4, 80))) * rng.choice([-1.0, 1.0], (4, 80))
    if name in ("div", "reciprocal"):
        wide[1] = wide[0] * rng.uniform(-4, 4, 80)
        wide[3] = wide[2] * rng.uniform(-4, 4, 80)
        check(name, FORMATS["float64"], *wide[: 4 if name == "div" else 2])
        return
    ends = rng.choice([-1.0, 1.0], 80) * rng.uniform(690, 712, 80) / (np.log(2) if name == "exp2" else 1)
    turned = (ends, wide[0]) if name in ALONG_X else (wide[0], ends)
    inside = np.abs(wide) < 1000
    check(name, FORMATS["float64"], *turned)
    check(name, FORMATS["float64"], *(np.where(inside[:2], wide[:2], 0.3)))


def of_every_binade(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Both parts of any size, of like sizes, and one of them alone; with the borders between scaled ones and others."""
    x, y = np.ldexp(rng.uniform(1, 2, (2, count)), rng.integers(-1074, 1024, (2, count)))
    borders = np.array([2.0**400, 2.0**-400, np.nextafter(2.0**400, 0), np.nextafter(2.0**-400, 1), 1e-320, 1.7e308])
    alike = x * rng.uniform(0.25, 0.5, count)
    own = [(borders, np.full(6, 2.0**-500)), (borders, borders / 2), (-borders, borders / 2**40)]
    whole = [(x, y), (x, alike), (alike, x), *own]
    return tuple(np.concatenate(parts) for parts in zip(*whole, strict=True))


@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_logarithms_of_every_binade(name: str) -> None:
    check(name, FORMATS["float64"], *of_every_binade(np.random.default_rng([12, *name.encode()]), 60))


# Branch points and their neighbours, squares that underflow or overflow, both sides of what counts as tiny or far.
CORNERS = np.array([
    2.0**-1074, 3 * 2.0**-1074, 2.0**-1022, 2.0**-600, 1e-160, 2.0**-301, 2.0**-300, 2.0**-150, 2.0**-53, 0.5,
    1 - 2.0**-53, 1.0, 1 + 2.0**-52, 1.5, 2.0, 2.0**53, 300.0, 2.0**199, 2.0**201, 2.0**450, 2.0**1022, 1.7e308,
])  # fmt: skip
ALGEBRAIC = ("sqrt", "rsqrt", "log1p", "asin", "acos", "asinh", "acosh", "atanh", "atan")
NEAR_TIES = 0.03  # of the parts: at quotients and roots beside powers of two


@pytest.mark.parametrize("name", [*ALGEBRAIC, "tanh", "tan", "sigmoid", "expm1", "exp2", "cosh", "cos"])
def test_corners_need_no_mpmath(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rung but the last, so that one that is wrong or slow cannot hide behind mpmath."""
    asked, one = [], ladder._one
    monkeypatch.setattr(ladder, "_one", lambda *arguments: asked.append(arguments[2]) or one(*arguments))
    ctx.prec = 9000 if name in ALGEBRAIC else PRECISION  # ties of quotients that are broken 4000 bits behind
    random = np.random.default_rng([14, *name.encode()])
    x, y = (grid.ravel() for grid in np.meshgrid(CORNERS, CORNERS))
    x, y = (np.concatenate([part, *more]) for part, more in zip((x, y), _regimes(random, 40), strict=True))
    x, y = (part * random.choice([-1.0, 1.0], x.size) for part in (x, y))
    kept = slice(None) if name in ALGEBRAIC else (np.abs(x) < 700) & (np.abs(y) < 700)
    check(name, FORMATS["float64"], x[kept], y[kept])
    assert len(asked) <= NEAR_TIES * 2 * x[kept].size, asked[:10]


def _regimes(random: np.random.Generator, count: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Tiny, ordinary and far numbers in every pairing, and powers of two, whose quotients are exact."""
    ends = {"tiny": (-1074, -250), "ordinary": (-100, 100), "far": (100, 1023), "any": (-1074, 1023)}
    pairs = [("any", "any"), *((one, other) for one in list(ends)[:3] for other in list(ends)[:3])]
    columns = ([], [])
    for pair in pairs:
        for column, size in zip(columns, pair, strict=True):
            significands = 1.0 if pair[0] == "any" else random.uniform(1, 2, count)
            column.append(np.ldexp(significands, random.integers(*ends[size], count)))
    return columns


def test_quarters_of_subnormal_numbers_are_ties_that_what_follows_breaks() -> None:
    """The imaginary part of sigmoid is y / 4 (1 + y^2 / 12 - x^2 / 4)."""
    unit = 2.0**-1074
    y = np.arange(1.0, 60.0) * unit
    for factor in (0.0, 0.5, 0.6, 4.0, -4.0):
        check("sigmoid", FORMATS["float64"], np.rint(np.arange(1.0, 60.0) * factor) * unit, y)


def test_log1p_beside_its_pole_does_not_square_what_underflows() -> None:
    """log |1 + z| of z = -1 + 1e-160 i is log 1e-160, although 1e-320 has few digits."""
    parts = complex_parts.apply("log1p", FORMATS["float64"], np.array([-1.0]), np.array([1e-160]))
    assert parts.value[0, 0] == np.log(1e-160)


def test_acos_of_parts_whose_quotient_has_a_square_that_underflows() -> None:
    """acos(x + iy) is y / x of a far x and a tiny y, although (y / x)^2 x is 2^-1060 in the formula for others."""
    parts = complex_parts.apply("acos", FORMATS["float64"], np.array([2.0**300]), np.array([1.3 * 2.0**-380]))
    assert parts.value[0, 0] == 1.3 * 2.0**-680


def test_powers_of_every_binade_and_at_the_ends() -> None:
    """Of small exponents, of those that take results to the ends of the range, and of angles of hundreds of bits."""
    rng = np.random.default_rng(13)
    x, y = of_every_binade(rng, 40)
    small = rng.uniform(-2, 2, (2, x.size)) * np.ldexp(1.0, -rng.integers(0, 60, (2, x.size)))
    check("pow", FORMATS["float64"], x, y, *small)
    size = np.log(np.hypot(x / 4, y / 4)) + np.log(4)
    ends = rng.choice([-1.0, 1.0], x.size) * rng.uniform(700, 744, x.size) / size
    near = np.abs(ends) < 100
    check("pow", FORMATS["float64"], x[near], y[near], ends[near], small[1][near] / 100)
    turns = np.ldexp(1.0, rng.integers(60, 600, 40))
    check("pow", FORMATS["float64"], np.zeros(40), np.ones(40), turns + turns / 3, small[1][:40])


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        ("log", 0.6, 0.8),  # |z|^2 - 1 is 2^-56
        ("log1p", -0.4, 0.8),
        ("log", 1.0, 2.0**-600),
        ("expm1", 2.0**-61, 2.0**-30),  # x = y^2/2: x - y^2/2 cancels, and x^2 is left
        ("expm1", 2.0**-601, 2.0**-300),
        ("sigmoid", -(2.0**-40), 3.141592653589793),  # e^x + cos y
        ("pow", 0.6, 0.8),
        ("cos", 1.5707963267948966, 1e-9),
        ("exp", 1.0, 6381956970095103 * 2.0**797),  # next to a multiple of pi/2
    ],
)
def test_where_terms_cancel(name: str, x: float, y: float) -> None:
    exponent = (1e17, -2.5) if name == "pow" else ()
    check(name, FORMATS["float64"], *(np.array([part]) for part in (x, y, *exponent)))


@pytest.mark.parametrize(
    ("name", "operands", "real", "imag"),
    [
        ("sqrt", (-3.0, 4.0), 1.0, 2.0),
        ("sqrt", (7.0 * 2.0**-1000, 24.0 * 2.0**-1000), 4 * 2.0**-500, 3 * 2.0**-500),
        ("rsqrt", (0.0, 2.0), 0.5, -0.5),
        ("cbrt", (2.0, 11.0), 2.0, 1.0),
        ("cbrt", (2.0**-899, 11 * 2.0**-900), 2.0**-299, 2.0**-300),
        ("cbrt", (-8.0, 0.0), 1.0, np.sqrt(3.0)),
        ("cbrt", (-8.0, -0.0), 1.0, -np.sqrt(3.0)),
        ("cbrt", (0.0, -27.0), None, -1.5),
        ("atan2", (1.0, 0.0, 0.0, 0.0), np.pi / 2, 0.0),
        ("atan2", (0.0, 0.0, -1.0, 0.0), np.pi, 0.0),
        ("atan2", (-0.0, 0.0, -1.0, 0.0), np.pi, 0.0),
        ("atan2", (0.0, 2.0, 0.0, 0.0), np.pi / 2, 0.0),
        ("atan2", (0.0, 0.5, 1.0, 0.0), 0.0, 0.549306144334054845697622618461),
        ("log2", (2.0**500, 2.0**500), 500.5, 0.25 * np.pi / np.log(2)),
        ("log10", (30.0, 10.0), 1.5, None),
        ("exp2", (-3.0, 0.0), 0.125, 0.0),
        ("reciprocal", (3.0, 4.0), 0.12, -0.16),
        ("pow", (1.0, 1.0, 9.0, 0.0), 16.0, 16.0),
        ("pow", (-4.0, 0.0, 0.25, 0.0), 1.0, 1.0),
        ("pow", (0.0, 1.0, 1e300, 0.0), 1.0, 0.0),
        ("pow", (-1.0, 0.0, 0.5, 1e-300), 0.0, 1.0),
        ("pow", (-9.0, -0.0, 1.5, 0.0), 0.0, 27.0),
        ("pow", (3.0, 4.0, -2.0, 0.0), -7 / 625, -24 / 625),
        ("div", (1.0, 2.0**-53, 1.0, 0.0), 1.0, 2.0**-53),
    ],
)
def test_exact_values(name: str, operands: tuple[float, ...], real: float | None, imag: float | None) -> None:
    parts = complex_parts.apply(name, FORMATS["float64"], *(np.array([operand]) for operand in operands))
    assert real is None or parts.value[0, 0] == real
    assert imag is None or parts.value[0, 1] == imag


@pytest.mark.parametrize(
    ("name", "operands", "real", "imag"),
    [
        ("reciprocal", (-0.0, 2.0**-1022), 0.0, -(2.0**1022)),
        ("reciprocal", (2.0**-1022, -0.0), 2.0**1022, 0.0),
        ("exp2", (865.055732568983, -5e-324), 2.556956998391723444992e260, -8.7565602916349936135e-64),
        ("pow", (3.0, 0.0, 600.0, 1e-310), 1.873927703884793988675e286, 2.058720003563442982719e-24),
        ("pow", (8.99e307, 1.797e308, 5.4e-8, 7.3e-4), 0.868032519157735220925, 0.4949558428741398217611),
    ],
)  # fmt: skip
def test_numbers_near_the_ends_of_the_range(
    name: str, operands: tuple[float, ...], real: float, imag: float
) -> None:
    parts = complex_parts.apply(name, FORMATS["float64"], *(np.array([operand]) for operand in operands))
    assert parts.value.tolist() == [[real, imag]]


@pytest.mark.parametrize(
    ("operands", "real"),
    [((1.0, 0.0, 0.0, 0.0), 1), ((1.0, 0.0, 0.0, 3.0), 1), ((-1.0, 0.0, 2.0, 0.0), 1), ((3.0, 4.0, 2.0, 0.0), -7)],
)
@pytest.mark.parametrize("format_name", ["float32", "float64"])
def test_an_exact_result_has_an_exact_real(format_name: str, operands: tuple[float, ...], real: int) -> None:
    parts = complex_parts.apply("pow", FORMATS[format_name], *(np.array([operand]) for operand in operands))
    assert (parts.real.hi[0, 0], parts.real.lo[0, 0], parts.real.radius[0, 0]) == (real, 0, 0)


SMALL_INTEGERS = np.array(np.meshgrid(*[np.arange(-3.0, 4)] * 4)).reshape(4, -1)


def test_angles_of_small_integers() -> None:
    """Poles, zero parts, square roots and quotients on a cut, of which the upper end counts: Arb, whose balls are on
    both sides of it, tells where."""
    a, b, c, d = SMALL_INTEGERS[:, np.random.default_rng(3).permutation(7**4)[:900]]
    is_pole = (c * c - d * d + a * a - b * b == 0) & (c * d + a * b == 0)
    parts = complex_parts.apply("atan2", FORMATS["float64"], a, b, c, d)
    assert (parts.beyond == is_pole).all()
    on_cut = np.array([FORMULAS["atan2"](acb(y, yi), acb(x, xi)).real.rad() > 1
                       for y, yi, x, xi in zip(a, b, c, d, strict=True)])  # fmt: skip
    assert (parts.value[on_cut & ~is_pole, 0] == np.pi).all()
    assert (on_cut & ~is_pole).any()
    check("atan2", FORMATS["float64"], *(part[~is_pole & ~on_cut] for part in (a, b, c, d)))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (3, 4)])
def test_shapes(shape: tuple[int, ...]) -> None:
    parts = complex_parts.apply("sin", FORMATS["float32"], np.full(shape, 0.5), np.full(shape, -1.0))
    assert parts.value.shape == parts.real.shape == (*shape, 2)
    assert parts.beyond.shape == shape


@pytest.mark.parametrize("name", complex_parts.names())
def test_this_platform_keeps_the_first_rungs(name: str) -> None:
    for part in (COMPLEX_FUNCTIONS[name].real, COMPLEX_FUNCTIONS[name].imag):
        assert part.float64_error == inf or float64_holds(part)


def test_a_formula_that_cancels_to_nothing_is_no_result() -> None:
    with pytest.raises(complex_mp.Unjudged, match="cancels to nothing"):
        complex_mp.accurate(lambda x: (x - x, 0))(complex_mp.mpf(1))


@pytest.mark.parametrize(
    ("function", "point", "exact"),
    [
        (complex_exact.log2_abs, (1.0, 1.0), Fraction(1, 2)),
        (complex_exact.log2_abs, (0.0, 0.25), Fraction(-2)),
        (complex_exact.log2_abs, (0.6, 0.8), None),
        (complex_exact.log10_abs, (3.0, -1.0), Fraction(1, 2)),
        (complex_exact.log10_abs, (-30.0, 10.0), Fraction(3, 2)),
        (complex_exact.log10_abs, (0.0, 1.0), 0.0),
        (complex_exact.log10_abs, (0.5, 0.0), None),
        (complex_exact.log10_abs, (3.0, 2.0), None),
    ],
)
def test_logarithms_that_are_numbers(function: Callable, point: tuple[float, float], exact: object) -> None:
    """Of which no precision would tell that they are."""
    assert function(*point) == exact


def test_quotients_of_parts_that_are_far_apart() -> None:
    """Each part anywhere in the range, with none; and numerators that cancel, exactly or nearly, and tie."""
    random = np.random.default_rng(17)
    parts = np.ldexp(random.uniform(1, 2, (4, 150)), random.integers(-1074, 1024, (4, 150)))
    parts *= random.choice([-1.0, 0.0, 1.0, 1.0], (4, 150))
    parts[3] = np.where((parts[2] == 0) & (parts[3] == 0), 2.0**-1074, parts[3])
    check("div", FORMATS["float64"], *parts)
    check("div", FORMATS["float64"], 4.2e-11 * parts[0], parts[0] * 0, np.full(150, 4.2e-11), np.full(150, -4e-172))
    a, c = random.integers(1, 9, (2, 60)) * 2.0 ** random.integers(-400, 400, 60)
    b, d = a * 2.0**300, -c * 2.0**-300 * (1 + 2.0**-52 * random.integers(-1, 2, 60))
    check("div", FORMATS["float64"], a, b, c, d)
