"""Special functions of one real number that is not NaN, rounded once: the error, gamma and Bessel functions.

No rational values of the error and gamma functions are known but those named here; one that there were would never be
decided by a ball, and `round_real` would say so. The Bessel functions are transcendental away from 0 (Siegel).
"""

from __future__ import annotations

from math import copysign, inf, isinf, nan

from flint import arb

from conform.refs.functions.elementary import round_at

# ---- the error function and the normal distribution: no rational value but those at 0 and infinity is known --------


def round_erf(dtype: str, x: float) -> float:
    """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""
    if x == 0:
        return x
    return copysign(1.0, x) if abs(x) > 64 else round_at(dtype, arb.erf, x)  # erfc 64 < e^-4096


def round_erfc(dtype: str, x: float) -> float:
    """1 - erf x."""
    if x == 0:
        return 1.0
    if abs(x) > 64:
        return 0.0 if x > 0 else 2.0
    return round_at(dtype, arb.erfc, x)


def round_erfinv(dtype: str, x: float) -> float:
    """The number whose erf is x."""
    if x == 0 or abs(x) > 1:
        return x if x == 0 else nan
    return copysign(inf, x) if abs(x) == 1 else round_at(dtype, arb.erfinv, x)


def round_ndtr(dtype: str, x: float) -> float:
    """The normal distribution function: erfc(-x / sqrt 2) / 2."""
    if x == 0:
        return 0.5
    if abs(x) > 64:  # the smaller tail is below e^-2048
        return 1.0 if x > 0 else 0.0
    return round_at(dtype, lambda ball: (-ball / arb(2).sqrt()).erfc() / 2, x)


def round_ndtri(dtype: str, x: float) -> float:
    """The number whose normal distribution function is x: -sqrt 2 * erfcinv(2 x)."""
    limits = {0.0: -inf, 0.5: 0.0, 1.0: inf}
    if x in limits or not 0 < x < 1:
        return limits.get(x, nan)
    return round_at(dtype, lambda ball: -arb(2).sqrt() * (2 * ball).erfcinv(), x)


def round_erfcx(dtype: str, x: float) -> float:
    """e^(x^2) erfc x, of positive x U(1/2, 1/2, x^2) / sqrt(pi) (DLMF 7.11.5)."""
    if x == 0 or isinf(x):
        return 1.0 if x == 0 else 0.0 if x > 0 else inf
    if x < -64:  # e^4096
        return inf
    return round_at(dtype, _erfcx, x)


def _erfcx(x: arb) -> arb:
    half = arb(1) / 2
    return (x * x).hypgeom_u(half, half) / arb.pi().sqrt() if x > 0 else (x * x).exp() * x.erfc()


def round_log_ndtr(dtype: str, x: float) -> float:
    """The logarithm of the normal distribution function."""
    if isinf(x):
        return 0.0 if x > 0 else x
    if x > 64:  # -e^-2048
        return -0.0
    return round_at(dtype, _log_ndtr, x)


def _log_ndtr(x: arb) -> arb:
    z = x / arb(2).sqrt()
    return (-z.erfc() / 2).log1p() if x > 0 else (_erfcx(-z) / 2).log() - z * z


def round_entr(dtype: str, x: float) -> float:
    """-x log x, 0 of 0 and -inf of less; transcendental but at 1."""
    if x <= 0:
        return 0.0 if x == 0 else -inf
    if x in (1.0, inf):
        return -0.0 if x == 1 else -inf
    return round_at(dtype, lambda ball: -ball * ball.log(), x)


# ---- the gamma function: no rational value is known but lgamma 1 and lgamma 2 ---------------------------------------


def round_lgamma(dtype: str, x: float) -> float:
    """log |Gamma(x)|; at the poles, and at both infinities, +inf (P43)."""
    if x in (1.0, 2.0):
        return 0.0
    if isinf(x) or (x <= 0 and x.is_integer()):
        return inf
    return round_at(dtype, _log_gamma if x > 0 else _log_gamma_reflected, x)


def _log_gamma(x: arb) -> arb:
    return x.lgamma()


def _log_gamma_reflected(x: arb) -> arb:
    """By Gamma(x) Gamma(1 - x) = pi / sin(pi x)."""
    return (arb.pi() / abs(x.sin_pi())).log() - (1 - x).lgamma()


def round_digamma(dtype: str, x: float) -> float:
    """The derivative of log Gamma(x); at its poles NaN, but -inf at +0 and +inf at -0 (P44)."""
    if x == 0:
        return copysign(inf, -x)
    if isinf(x) or (x < 0 and x.is_integer()):
        return inf if x > 0 else nan
    return round_at(dtype, arb.digamma, x)


# ---- Bessel functions: transcendental but at 0 (Siegel) -------------------------------------------------------------


def round_i0(dtype: str, x: float) -> float:
    """The modified Bessel function of the first kind and order 0."""
    if x == 0:
        return 1.0
    if abs(x) > 1024:  # I_0(1024) > 2^1400
        return inf
    return round_at(dtype, lambda ball: ball.bessel_i(0), x)


def round_i1(dtype: str, x: float) -> float:
    """The modified Bessel function of the first kind and order 1."""
    if x == 0:
        return x
    if abs(x) > 1024:  # I_1(1024) > 2^1400
        return copysign(inf, x)
    return round_at(dtype, lambda ball: ball.bessel_i(1), x)


def round_i0e(dtype: str, x: float) -> float:
    """e^-|x| times the modified Bessel function of the first kind and order 0."""
    if x == 0 or isinf(x):
        return 1.0 if x == 0 else 0.0
    return round_at(dtype, lambda ball: ball.bessel_i(0, scaled=True), abs(x))


def round_i1e(dtype: str, x: float) -> float:
    """e^-|x| times the modified Bessel function of the first kind and order 1."""
    if x == 0 or isinf(x):
        return copysign(0.0, x)
    return copysign(round_at(dtype, lambda ball: ball.bessel_i(1, scaled=True), abs(x)), x)


def round_j0(dtype: str, x: float) -> float:
    """The Bessel function of the first kind and order 0, which vanishes at infinity."""
    if x == 0 or isinf(x):
        return 1.0 if x == 0 else 0.0
    return round_at(dtype, lambda ball: ball.bessel_j(0), abs(x))


def round_j1(dtype: str, x: float) -> float:
    """The Bessel function of the first kind and order 1, which vanishes at infinity."""
    if x == 0 or isinf(x):
        return copysign(0.0, x)
    return round_at(dtype, lambda ball: ball.bessel_j(1), x)


def round_k0(dtype: str, x: float) -> float:
    """The modified Bessel function of the second kind and order 0."""
    return _second(dtype, 0, x)


def round_k1(dtype: str, x: float) -> float:
    """The modified Bessel function of the second kind and order 1."""
    return _second(dtype, 1, x)


def round_k0e(dtype: str, x: float) -> float:
    """e^x times the modified Bessel function of the second kind and order 0."""
    return _second(dtype, 0, x, scaled=True)


def round_k1e(dtype: str, x: float) -> float:
    """e^x times the modified Bessel function of the second kind and order 1."""
    return _second(dtype, 1, x, scaled=True)


def _second(dtype: str, order: int, x: float, scaled: bool = False) -> float:
    """Infinite at 0, not real below."""
    if x <= 0:
        return inf if x == 0 else nan
    if isinf(x) or (x > 2048 and not scaled):  # e^-2048
        return 0.0
    return round_at(dtype, lambda ball: ball.bessel_k(order, scaled=scaled), x)


def round_spherical_j0(dtype: str, x: float) -> float:
    """sin x / x, 1 at 0; transcendental elsewhere."""
    if x == 0 or isinf(x):
        return 1.0 if x == 0 else 0.0
    return round_at(dtype, lambda ball: ball.sin() / ball, x)
