"""Rounding of exact numbers: the limits of each format, then all of float16, then the host's IEEE operations."""

import itertools
import math
import random
import struct
from fractions import Fraction

import pytest

from conform.refs.exact.rounding import round_dyadic, round_number, round_ratio, round_sqrt, wrap_integer

inf, nan = math.inf, math.nan


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("float16", 65519.99, 65504.0),
        ("float16", 65520.0, inf),  # the midpoint of 65504 and 65536 goes to the even 65536
        ("float16", -65520.0, -inf),
        ("float16", 2.0**-25, 0.0),  # the midpoint of 0 and the smallest subnormal
        ("float16", 2.0**-25 * (1 + 2.0**-52), 2.0**-24),
        ("float16", -(2.0**-26), -0.0),
        ("float16", 3 * 2.0**-25, 2.0**-23),
        ("float16", 1 + 2.0**-11, 1.0),
        ("float16", 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-10),  # through float32 it would be the midpoint, and go to 1
        ("float16", 1 + 3 * 2.0**-11, 1 + 2.0**-9),
        ("bfloat16", 1 + 2.0**-8 + 2.0**-50, 1 + 2.0**-7),  # as above
        ("bfloat16", 3.3961775292304957e38, inf),  # 2^128 - 2^119
        ("bfloat16", 3.39e38, 3.3895313892515355e38),
        ("float32", 16777217.0, 16777216.0),
        ("float32", 16777219, 16777220.0),
        ("float32", 2**63 - 1, 2.0**63),
        ("float32", 3.4028235677973366e38, inf),  # 2^128 - 2^103
        ("float32", 3.4028235677973362e38, 3.4028234663852886e38),
        ("float32", 2.0**-150, 0.0),
        ("float32", -(2.0**-150) * (1 + 2.0**-52), -(2.0**-149)),
        ("float64", 2**53 + 1, 2.0**53),
        ("float64", 2**53 + 3, 2.0**53 + 4),
        ("float64", -0.0, -0.0),
        ("float32", inf, inf),
        ("float32", nan, nan),
    ],
)
def test_literal(dtype: str, value: float, expected: float) -> None:
    assert repr(round_number(dtype, value)) == repr(expected)


def test_every_float16_and_every_midpoint() -> None:
    finite = [struct.unpack("<e", struct.pack("<H", bits))[0] for bits in range(0x7C00)]
    for bits, (low, high) in enumerate(itertools.pairwise(finite)):
        middle = (low + high) / 2
        assert round_number("float16", low) == low
        assert round_number("float16", middle) == (low if bits % 2 == 0 else high)
        assert round_number("float16", math.nextafter(middle, inf)) == high
        assert round_number("float16", -math.nextafter(middle, 0)) == -low


def test_float64_operations_agree_with_the_hosts() -> None:
    draw = random.Random(1)
    for _ in range(3000):
        n, d = draw.getrandbits(draw.randint(1, 900)) + 1, draw.getrandbits(draw.randint(1, 900)) + 1
        assert round_ratio("float64", n, d) == n / d  # Python rounds the quotient of integers once
        assert round_ratio("float64", -n, d << 1040) == -(Fraction(n, d << 1040).__float__())
        x = math.ldexp(draw.random(), draw.randint(-1074, 1000))
        assert round_sqrt("float64", *x.as_integer_ratio()) == math.sqrt(x)
        if abs(x) < 1e38:
            assert round_number("float32", x) == struct.unpack("<f", struct.pack("<f", x))[0]


def test_quotients_and_roots_decide_beyond_any_host_precision() -> None:
    assert round_ratio("float32", 1, 3) == 0.3333333432674408
    assert round_ratio("float16", (1 << 200) + (1 << 189) + 1, 1 << 200) == 1 + 2.0**-10
    assert round_ratio("float16", (1 << 200) + (1 << 189), 1 << 200) == 1.0
    midpoint = (1 << 11) + 1  # of two float16, scaled; its square is a radicand with that root
    assert round_sqrt("float16", midpoint**2) == 2048.0
    assert round_sqrt("float16", midpoint**2 * 10**40 + 1, 10**40) == 2050.0


def test_far_exponents_need_no_far_integers() -> None:
    assert round_dyadic("float64", -1, 10**30) == -inf
    assert repr(round_dyadic("float64", -1, -(10**30))) == "-0.0"


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [("uint8", 256, 0), ("uint8", -1, 255), ("int8", 128, -128), ("int8", -129, 127), ("int64", 2**63, -(2**63))],
)
def test_wrap(dtype: str, value: int, expected: int) -> None:
    assert wrap_integer(dtype, value) == expected
