"""Domain edges of the ops: they are values of the format, and lie where the op's result turns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from conform.call import schemas
from conform.inputs.edges import levels
from conform.inputs.edges import rows as edge_tables
from conform.inputs.edges.rows import edge_rows, edged_ops, edges_of
from conform.inputs.specials import with_neighbours
from conform.numerics.formats import FORMATS, Format, format_named

BINARY = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
SETTINGS = {
    "aten::softplus": (1, 20), "aten::round.decimals": (2,), "aten::_to_copy": ("float16",),
    "aten::clamp": (-2, 3.5), "aten::clamp_min": (0.5,), "aten::clamp_max": (0.5,), "aten::hardtanh": (-1, 1),
    "aten::threshold": (0.1,), "aten::softshrink": (0.5,), "aten::hardshrink": (0.5,), "aten::elu": (1,),
    "aten::celu": (1.0,), "aten::logit": (1e-6,),
}  # fmt: skip
mpf = mpmath.mpf


def column(op: str, format_name: str, *settings: object) -> list[float]:
    """The edges of an op of one operand."""
    return edge_rows(op, format_name, settings or SETTINGS.get(op, ()))[:, 0].astype(np.float64).tolist()


def rows(op: str, format_name: str) -> list[tuple[float, ...]]:
    return [tuple(row) for row in edge_rows(op, format_name).astype(np.float64).tolist()]


# --- Literally --------------------------------------------------------------------------------------------------------


def test_exp_of_float32_literally() -> None:
    overflow = [88.7228317, 88.7228394, 88.7228470]
    assert sorted(column("aten::exp", "float32"))[-3:] == [float(np.float32(x)) for x in overflow]


def test_real_functions_of_integers_are_computed_in_float32() -> None:
    assert {88, 89, -104, -103, 0} <= set(column("aten::exp", "int8"))
    assert not any(value > 89 for value in column("aten::exp", "int64"))


@pytest.mark.parametrize(("op", "format_name", "row"), [
    ("aten::add", "float32", (1.0, 2.0**-24)),  # a tie, to even
    ("aten::add", "float32", (1.0 + 2.0**-23, 2.0**-24)),  # a tie, to even, upwards
    ("aten::add", "int8", (127.0, 1.0)),
    ("aten::mul", "float64", (2.0**-1074, 0.5)),
    ("aten::div", "float64", (1.0, 3.0)),
    ("aten::remainder", "int8", (-7.0, 2.0)),
    ("aten::eq.Tensor", "float16", (1.0, 1.0 + 2.0**-10)),
    ("aten::eq.Tensor", "int32", (2.0**24, 2.0**24 + 1)),
    ("aten::pow", "float32", (-1.0, 2.0**24 - 1)),  # the largest odd number
    ("aten::pow", "float32", (2.0, -150.0)),  # a tie between zero and the smallest number
    ("aten::pow", "int64", (2.0, 63.0)),
    ("aten::atan2", "float32", (0.0, -1.0)),
    ("aten::hypot", "float32", (2.0**64, 2.0**64)),
    ("aten::xlogy", "float32", (0.0, -1.0)),
    ("aten::logaddexp", "float32", (-math.inf, -math.inf)),
])  # fmt: skip
def test_a_pair_of_each_kind(op: str, format_name: str, row: tuple[float, float]) -> None:
    assert row in rows(op, format_name)


def test_the_arguments_of_a_call_move_its_edges() -> None:
    assert 20.0 in column("aten::softplus", "float32", 1, 20)
    assert 4.0 in column("aten::softplus", "float32", 2.5, 10)
    assert -4.0 in column("aten::softplus", "float32", -2.5, 10)
    assert column("aten::softplus", "float32", 0, 20) == []
    assert {0.125, 0.375}.isdisjoint(column("aten::round.decimals", "float32", 0))
    assert {0.5, 1.5, -2.5} <= set(column("aten::round.decimals", "float32", 0))
    assert {5.0, 15.0, 75.0} <= set(column("aten::round.decimals", "float32", -1))


@pytest.mark.parametrize(("op", "settings", "expected"), [
    ("aten::hardtanh", (-0.75, 6), {-0.75, 6.0}),
    ("aten::clamp", (None, 2.5), {2.5}),
    ("aten::clamp", (math.nan, math.inf), set()),
    ("aten::clamp_min", (-2,), {-2.0}),
    ("aten::clamp_max", (True,), {1.0}),
    ("aten::threshold", (20.0,), {20.0}),
    ("aten::softshrink", (0.25,), {-0.25, 0.25}),
    ("aten::hardshrink", (-0.25,), {-0.25, 0.25}),
])  # fmt: skip
def test_pieces_end_where_the_arguments_say(op: str, settings: tuple, expected: set[float]) -> None:
    """Of each end the number itself and its two neighbours."""
    found = set(column(op, "float32", *settings))
    assert found == {float(x) for end in expected for x in with_neighbours(FORMATS["float32"], end)}


def test_units_turn_where_their_rate_says() -> None:
    """e^y - 1 is -1 from y = -17.3 on in float32, y = input_scale x of elu, x / alpha of celu."""
    for op, setting, rate in (("aten::elu", 1, 1.0), ("aten::elu", -4.0, -4.0), ("aten::celu", 0.5, 2.0)):
        low, high = (min(column(op, "float32", setting)), max(column(op, "float32", setting)))
        assert sorted([low * rate, high * rate]) == pytest.approx([-17.3287, 88.7228], abs=1e-3)
    for op in ("aten::elu", "aten::celu"):
        assert column(op, "float32", 0) == column(op, "float32", math.inf) == [0.0, -(2.0**-149), 2.0**-149]


def test_clamp_between_tensors_meets_bounds_of_every_order() -> None:
    found = rows("aten::clamp.Tensor", "float32")
    above = 1.0 + 2.0**-23
    assert {(1.0, above, 1.0), (1.0, 1.0, above), (1.0, above, above)} <= set(found)
    assert rows("aten::clamp_min.Tensor", "int8") == rows("aten::eq.Tensor", "int8")


def test_an_op_without_edges_and_a_format_without_them() -> None:
    assert edges_of("aten::cat") is None
    assert edge_rows("aten::cat", "float32").shape == (0, 1)
    assert edge_rows("aten::add", "complex64").shape == (0, 2)


def test_an_overload_has_its_own_edges_or_those_of_its_op() -> None:
    assert edges_of("aten::div.Tensor_mode") is edges_of("aten::div")
    assert edges_of("aten::round.decimals") is not edges_of("aten::round")


# --- Every edge -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", edged_ops())
def test_edges_name_arguments_of_the_op(op: str) -> None:
    candidates = [schemas.schema(op)] if "." in op else schemas.overloads(op)
    for name in (*edges_of(op).operands, *edges_of(op).settings):
        assert any(argument.name == name for one in candidates for argument in one.arguments)


@pytest.mark.parametrize("op", edged_ops())
def test_edges_are_values_of_the_format_and_stand_once(op: str) -> None:
    for format_name in (*BINARY, *INTEGERS):
        found = edge_rows(op, format_name, SETTINGS.get(op, ()))
        assert found.dtype == format_named(format_name).storage
        assert found.shape == (len(found), len(edges_of(op).operands))
        assert not found.flags.writeable
        assert len({row.tobytes() for row in found}) == len(found) >= 2, format_name


# --- Thresholds: between two neighbours among the edges the result crosses a level ------------------------------------


def _ends(fmt: Format) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """The midpoint between the largest number and 2^(emax + 1), the smallest normal one, half the smallest one."""
    two = mpf(2)
    return two ** (fmt.emax + 1) - two ** (fmt.emax - fmt.precision), two**fmt.emin, two ** (fmt.emin - fmt.precision)


def _below_1(fmt: Format) -> mpmath.mpf:
    return 1 - mpf(2) ** (-fmt.precision - 1)


def _above_1(fmt: Format) -> mpmath.mpf:
    return 1 + mpf(2) ** -fmt.precision


def _overflow(fmt: Format) -> list[mpmath.mpf]:
    return [_ends(fmt)[0]]


def _tail(fmt: Format) -> list[mpmath.mpf]:
    return [-end for end in _ends(fmt)[1:]]


def _phi(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _gelu_tanh(x: mpmath.mpf) -> mpmath.mpf:
    return x / (1 + mpmath.exp(-2 * mpmath.sqrt(2 / mpmath.pi) * (x + mpf("0.044715") * x**3)))


def _mish(x: mpmath.mpf) -> mpmath.mpf:
    square = mpmath.exp(x) * (mpmath.exp(x) + 2)  # (1 + e^x)^2 - 1
    return x * square / (square + 2)


def _ln_gamma(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.re(mpmath.loggamma(x))


THRESHOLDS: list[tuple[str, Callable, Callable[[Format], list]]] = [
    ("exp", mpmath.exp, lambda fmt: [*_ends(fmt), _below_1(fmt), _above_1(fmt)]),
    ("exp2", lambda x: mpf(2) ** x, lambda fmt: [*_ends(fmt), _below_1(fmt), _above_1(fmt)]),
    ("expm1", mpmath.expm1, lambda fmt: [_ends(fmt)[0], _below_1(fmt) * -1]),
    ("log", lambda x: mpmath.re(mpmath.log(x)), lambda fmt: [0, 1]),
    ("sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), lambda fmt: [_below_1(fmt), *_ends(fmt)[1:]]),
    ("softplus", lambda x: mpmath.log1p(mpmath.exp(x)), lambda fmt: [_ends(fmt)[2]]),
    ("log_sigmoid", lambda x: -mpmath.log1p(mpmath.exp(-x)), lambda fmt: [-end for end in _ends(fmt)[1:]]),
    ("selu", mpmath.expm1, lambda fmt: [-_below_1(fmt)]),
    ("reciprocal", lambda x: 1 / x, lambda fmt: [_ends(fmt)[0], -_ends(fmt)[0], _ends(fmt)[1]]),
    ("sin", mpmath.sin, lambda fmt: [0]),
    ("cos", mpmath.cos, lambda fmt: [0]),
    ("tan", mpmath.tan, lambda fmt: [0, 1]),
    ("sinh", mpmath.sinh, lambda fmt: [_ends(fmt)[0], -_ends(fmt)[0]]),
    ("cosh", mpmath.cosh, _overflow),
    ("tanh", mpmath.tanh, lambda fmt: [_below_1(fmt), -_below_1(fmt)]),
    ("erf", mpmath.erf, lambda fmt: [_below_1(fmt), -_below_1(fmt)]),
    ("erfc", mpmath.erfc, lambda fmt: [2 * _below_1(fmt), *_ends(fmt)[1:]]),
    ("special_ndtr", _phi, lambda fmt: [_below_1(fmt), *_ends(fmt)[1:]]),
    ("special_ndtri", lambda x: x - mpmath.exp(-2), lambda fmt: [0]),
    ("lgamma", _ln_gamma, lambda fmt: [_ends(fmt)[0], 0]),
    ("digamma", mpmath.digamma, lambda fmt: [0]),
    ("i0", lambda x: mpmath.besseli(0, x), _overflow),
    ("special_i1", lambda x: mpmath.besseli(1, x), _overflow),
    ("gelu", lambda x: x * _phi(x), _tail),
    ("gelu", _gelu_tanh, _tail),
    ("silu", lambda x: x / (1 + mpmath.exp(-x)), _tail),
    ("mish", _mish, _tail),
]


@pytest.mark.parametrize("format_name", BINARY)
@pytest.mark.parametrize(("name", "function", "crossed"), THRESHOLDS)
def test_thresholds_are_straddled(name: str, function: Callable, crossed: Callable, format_name: str) -> None:
    fmt = format_named(format_name)
    values = sorted(value for value in column(f"aten::{name}", format_name) if value and math.isfinite(value))
    neighbours = [pair for pair in itertools.pairwise(values) if pair[1] in with_neighbours(fmt, pair[0])]
    with mpmath.workprec(200):
        for level in crossed(fmt):
            assert any(_lies_between(function, level, *pair) for pair in neighbours), mpmath.nstr(level)


def _lies_between(function: Callable, level: mpmath.mpf, low: float, high: float) -> bool:
    try:
        return (function(mpf(low)) - level) * (function(mpf(high)) - level) <= 0
    except ValueError:  # a pole
        return False


def test_inverses_of_erfc() -> None:
    """Each is the double nearest to where erfc is 2^-n."""
    with mpmath.workprec(200):
        for n, x in levels.INVERSE_ERFC.items():
            low, high = math.nextafter(x, 0.0), math.nextafter(x, 99.0)
            assert mpmath.erfc((mpf(low) + x) / 2) > mpf(2) ** -n > mpmath.erfc((mpf(high) + x) / 2)


# --- Ties and quotients, in exact arithmetic --------------------------------------------------------------------------


def _is_tie(fmt: Format, x: Fraction) -> bool:
    """Whether x is the midpoint of two neighbours of the format, max_finite and 2^(emax + 1) included."""
    if x == 0:
        return False
    exponent = max(math.frexp(float(x))[1] - 1, fmt.emin) if float(x) else fmt.emin
    return (2 * x / Fraction(2) ** (exponent - fmt.precision + 1)) % 2 == 1


@pytest.mark.parametrize("format_name", BINARY)
@pytest.mark.parametrize(("op", "exact", "at_least"), [
    ("aten::add", lambda x, y: x + y, 5),
    ("aten::mul", lambda x, y: x * y, 5),
    ("aten::div", lambda x, y: x / y, 3),
])  # fmt: skip
def test_results_halfway_between_neighbours(op: str, exact: Callable, at_least: int, format_name: str) -> None:
    finite = [tuple(map(Fraction, row)) for row in rows(op, format_name) if all(map(math.isfinite, row)) and row[1]]
    results = [exact(*row) for row in finite]
    largest = Fraction(FORMATS[format_name].max_finite)
    ties = [x for x in results if abs(x) <= largest and _is_tie(FORMATS[format_name], x)]
    assert len(ties) >= at_least


@pytest.mark.parametrize("format_name", BINARY)
@pytest.mark.parametrize("op", ["aten::div", "aten::remainder"])
def test_quotients_next_to_integers(op: str, format_name: str) -> None:
    """Integer quotients, exact ones, and ones that only rounding makes so: `//` of them differs."""
    finite = [row for row in rows(op, format_name) if all(map(math.isfinite, row))]
    storage = FORMATS[format_name].storage
    exact = [Fraction(x) / Fraction(y) for x, y in finite]
    with np.errstate(all="ignore"):
        quotients = [float((np.array(x, storage) / np.array(y, storage)).astype(np.float64)) for x, y in finite]
    assert sum(quotient.denominator == 1 for quotient in exact) >= 6
    rounded_up = [r for q, r in zip(exact, quotients, strict=True) if math.isfinite(r) and abs(q) < abs(r)]
    assert any(r == int(r) for r in rounded_up)


@pytest.mark.parametrize(("source", "target"), [
    ("float64", "float32"), ("float64", "float16"), ("float64", "bfloat16"), ("float32", "float16"),
    ("float32", "bfloat16"), ("float16", "bfloat16"),
])  # fmt: skip
def test_casts_meet_midpoints_of_every_narrower_format(source: str, target: str) -> None:
    narrow, wide = FORMATS[target], FORMATS[source]
    values = column("aten::_to_copy", source, target)
    midpoint = 1.0 + 2.0**-narrow.precision
    assert {midpoint, *with_neighbours(wide, midpoint), -midpoint, 1.0 + 3 * 2.0**-narrow.precision} <= set(values)
    assert {sign * x for x in with_neighbours(wide, 2.0**narrow.precision + 1.0) for sign in (1, -1)} <= set(values)


def test_casts_meet_the_ends_of_integer_ranges() -> None:
    assert {127.0, 128.0, -128.0, 127.5, -128.5, 0.5, -0.75} <= set(column("aten::_to_copy", "float32", "int8"))
    below_2_31 = float(np.nextafter(np.float32(2.0**31), np.float32(0)))
    assert {2.0**31, below_2_31, -(2.0**31)} <= set(column("aten::_to_copy", "float32", "int32"))
    assert {127, 128, -128, -129} <= set(column("aten::_to_copy", "int64", "int8"))
    assert {2.0**11 + 1, 65519.0, 65520.0} <= set(column("aten::_to_copy", "int32", "float16"))


def test_settings_that_python_takes_for_equal_have_edges_of_their_own() -> None:
    """What a case is given must not depend on the cases before it."""
    every = [(0,), (0.0,), (-0.0,)]
    alone = []
    for settings in every:
        edge_tables._edge_rows.cache_clear()
        alone.append(edge_rows("aten::hardshrink", "float32", settings).tobytes())
    assert [edge_rows("aten::hardshrink", "float32", settings).tobytes() for settings in every] == alone
    assert len(set(alone)) > 1
