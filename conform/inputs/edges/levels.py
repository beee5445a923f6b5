"""Real numbers of which edges are made: where a result overflows, underflows or is rounded to a constant.

Logarithms come from the decimal module, which rounds them correctly, and so are the same on every platform; inverses
that it lacks stand here as doubles, each found with mpmath (the tests find them again).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal

from conform.numerics.formats import Format

_CONTEXT = Context(prec=60)
_TWO = Decimal(2)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def power_of_two(exponent: int) -> Decimal:
    """2^exponent to 60 digits."""
    return _CONTEXT.power(_TWO, exponent)


def ln(x: Decimal | float) -> Decimal:
    """The natural logarithm, correctly rounded to 60 digits."""
    return _CONTEXT.ln(Decimal(x))


def overflow(fmt: Format) -> Decimal:
    """From here on numbers round to infinity: max_finite and half its spacing (IEEE 754-2019 4.3.1)."""
    return Decimal(fmt.max_finite) + power_of_two(fmt.emax - fmt.precision)


def normal(fmt: Format) -> Decimal:
    """The smallest normal number."""
    return power_of_two(fmt.emin)


def underflow(fmt: Format) -> Decimal:
    """Up to here numbers round to zero: half the smallest subnormal number."""
    return power_of_two(fmt.emin - fmt.precision)


def above_one(fmt: Format) -> Decimal:
    """1 and this is the midpoint between 1 and its upper neighbour."""
    return power_of_two(-fmt.precision)


def below_one(fmt: Format) -> Decimal:
    """1 less this is the midpoint between 1 and its lower neighbour."""
    return power_of_two(-fmt.precision - 1)


def spacing(fmt: Format) -> float:
    """The spacing of the format's numbers from 1 to 2."""
    return 2.0 ** (1 - fmt.precision)


def range_ends(fmt: Format) -> list[Decimal]:
    """Overflow, the smallest normal number and underflow."""
    return [overflow(fmt), normal(fmt), underflow(fmt)]


# --- Inverses: by name of a binary format -----------------------------------------------------------------------------

# erfc(x) = 2^-n: the x, by n. The n are those at which erfc and Phi(-x) = erfc(x / sqrt 2) / 2 underflow or saturate.
INVERSE_ERFC: Mapping[int, float] = {
    8: 2.0404520146056093, 9: 2.190099968353768, 11: 2.465754958722755, 12: 2.5939005131344874,
    13: 2.716655240567082, 14: 2.8346302855713943, 24: 3.832506856900711, 25: 3.919205843636722,
    53: 5.8635847487551676, 54: 5.921587195794507, 125: 9.15699937105452, 126: 9.194549449134673,
    133: 9.453270882369084, 134: 9.48966159001421, 149: 10.019834265884624, 150: 10.054194928818095,
    1021: 26.530207562276377, 1022: 26.54325845425098, 1074: 27.21329321081295, 1075: 27.226017111108362,
}  # fmt: skip

# Negative x whose gelu (by erf and by tanh), silu is minus the smallest normal number and minus half the smallest
# subnormal one. mish(x) is silu(x) there within a factor 1 - e^x.
GELU_TAIL: Mapping[str, tuple[float, float]] = {
    "float16": (-4.17956713942291, -5.723854819963261),
    "bfloat16": (-13.146246717861361, -13.561520443081282),
    "float32": (-13.146246717861361, -14.356067982158693),
    "float64": (-37.61586831395599, -38.58014022378236),
}
GELU_TANH_TAIL: Mapping[str, tuple[float, float]] = {
    "float16": (-4.029301447894288, -5.2886215275068444),
    "bfloat16": (-10.100637393537946, -10.333197547431512),
    "float32": (-10.100637393537946, -10.770868253746146),
    "float64": (-21.17688025178522, -21.547075410436022),
}
SILU_TAIL: Mapping[str, tuple[float, float]] = {
    "float16": (-12.20598165888704, -20.34133451118791),
    "bfloat16": (-91.85677532459547, -97.46117630196233),
    "float32": (-91.85677532459547, -108.66030361932556),
    "float64": (-714.9686572379665, -751.7556304135238),
}

# x where lgamma, I0 and I1 overflow.
LGAMMA_OVERFLOW: Mapping[str, float] = {
    "float16": 8180.699911263138, "bfloat16": 4.0771195173861845e36, "float32": 4.085003365866873e36,
    "float64": 2.5599833278516383e305,
}  # fmt: skip
BESSEL_OVERFLOW: Mapping[str, tuple[float, float]] = {
    "float16": (13.292874477226091, 13.333443357890578),
    "bfloat16": (91.89879891221801, 91.90429925973417),
    "float32": (91.90076464163003, 91.90626487021301),
    "float64": (713.9869085439683, 713.9876098185423),
}
