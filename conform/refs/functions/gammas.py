"""The incomplete gamma functions, the Hurwitz zeta function, polygamma and the multivariate log-gamma, by balls.

No rational values of them are known but those named here.
"""

from __future__ import annotations

from functools import cache
from math import copysign, floor, inf, isinf, isnan, log, log1p, nan

from flint import acb, arb, ctx

from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, INTEGER, Operand, category, common_operands, converted
from conform.refs.exact.reals import round_real
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.functions.special import round_digamma, round_lgamma
from conform.refs.references import reference

NOTHING = 3000.0  # e^-3000 rounds to 0, and 1 - e^-3000 to 1
LARGE = 1e10  # of the shape a: there Gamma(a, x) is integrated


def _refuse(op: str, dtype: str, *kinds: int) -> None:
    if category(dtype) in (COMPLEX, *kinds):
        raise ValueError(f"{op} is not defined for {dtype}")


def _pairs(dtype: str, shape: tuple, data: list[list], element: object) -> RefTensor:
    once = cache(lambda x, y, _x_sign, _y_sign: element(dtype, x, y))
    both = zip(*data, strict=True)
    return RefTensor(dtype, shape, [once(x, y, copysign(1.0, x), copysign(1.0, y)) for x, y in both])


# ---- incomplete gamma functions -------------------------------------------------------------------------------------


def round_incomplete(dtype: str, is_upper: bool, a: float, x: float) -> float | Unspecified:
    """The lower or upper regularized incomplete gamma function (torch.special.gammainc's cases; P246)."""
    if isnan(a) or isnan(x) or a < 0 or x < 0 or a == x == 0:
        return nan
    if isinf(a) and isinf(x):
        return UNSPECIFIED
    lower = _limit_of_lower(a, x)
    if lower is not None:
        return 1.0 - lower if is_upper else lower
    return round_real(dtype, lambda: _upper(a, x) if is_upper else 1 - _upper(a, x))


def _limit_of_lower(a: float, x: float) -> float | None:
    """Where the lower one is 0 or 1, or not to be told from them: the smaller one is at most e^-(x - a - a log(x/a))
    (Chernoff's bound of the gamma distribution), and that at most e^-(a u^2 / 4) for small u = x/a - 1."""
    if a == 0 or isinf(x):
        return 1.0
    if x == 0 or isinf(a):
        return 0.0
    u = (x - a) / a
    exponent = a * u * u / 4 if abs(u) < 1e-3 else x - a - a * (log(x) - log(a))
    if exponent > NOTHING:
        return 0.0 if x < a else 1.0
    return None


def _upper(a: float, x: float) -> arb:
    """Gamma(a, x) / Gamma(a)."""
    if a < LARGE:
        return arb(x).gamma_upper(arb(a), True)
    return _integrated(a, x)


def _integrated(a: float, x: float) -> arb:
    """With t = a (1 + s/sqrt a): the integral of e^(-a (u - log(1 + u))) / (1 + u), u = s/sqrt a, from x on;
    what lies beyond 80 standard deviations is below e^-3000."""
    bits = ctx.prec
    try:
        ctx.prec = bits + 4 * int(a).bit_length()
        shape = arb(a)
        root = shape.sqrt()
        begin = (arb(x) - shape) / root

        def density(s: acb, _: bool) -> acb:
            return (-_exponent(s, root)).exp() / (1 + s / root)

        norm = (shape.lgamma() - shape * shape.log() + shape).exp() * root
        ctx.prec = bits + 20
        return acb.integral(density, acb(begin), acb(80)).real / norm + arb(0, arb(2) ** -4000)
    finally:
        ctx.prec = bits


def _exponent(s: acb, root: arb) -> acb:
    """a (u - log(1 + u)) = s^2 (1/2 - u/3 + u^2/4 - ...), |u| < 2^-9, with what is left out as a ball."""
    u, terms = s / root, ctx.prec // 9 + 2
    total = acb(arb(0, 2 * abs(u).upper() ** terms), arb(0, 2 * abs(u).upper() ** terms))
    for k in reversed(range(terms)):
        total += acb(1) / (k + 2) * (-u) ** k
    return s * s * total


def _incomplete(is_upper: bool, self: RefTensor, other: RefTensor) -> RefTensor:
    dtype, shape, data = common_operands(self, other)
    _refuse("igamma", dtype, BOOL, INTEGER)
    return _pairs(dtype, shape, data, lambda dtype, a, x: round_incomplete(dtype, is_upper, a, x))


@reference("aten::igamma", "aten::special_gammainc")
def igamma(self: RefTensor, other: RefTensor) -> RefTensor:
    """The regularized lower incomplete gamma function P(self, other)."""
    return _incomplete(False, self, other)


@reference("aten::igammac", "aten::special_gammaincc")
def igammac(self: RefTensor, other: RefTensor) -> RefTensor:
    """The regularized upper incomplete gamma function Q(self, other)."""
    return _incomplete(True, self, other)


# ---- zeta and polygamma ---------------------------------------------------------------------------------------------


def round_zeta(dtype: str, s: float, q: float) -> float | Unspecified:
    """The sum of (k + q)^-s (P247)."""
    if isnan(s) or isnan(q):
        return nan
    if s < 1 or isinf(s) or isinf(q):
        return UNSPECIFIED
    if s == 1:
        return inf if q > 0 else UNSPECIFIED
    if q < 0 and not s.is_integer():
        return UNSPECIFIED if q.is_integer() else nan
    if q <= 0 and q.is_integer():
        return inf
    beyond = _beyond(s, q)
    return _sum_of_powers(dtype, s, q, lambda: arb(1)) if beyond is None else beyond


def _beyond(s: float, q: float) -> float | None:
    """What overflows or underflows by far: by its largest term, which for q < 0 is that of the nearer integer."""
    if _cancels(s, q):
        q = 1 - q
    nearest = q if q > 0 else min(q - floor(q), floor(q) + 1 - q)
    if -s * log(nearest) > NOTHING:
        return inf if q > 0 or q - floor(q) < 0.5 or s % 2 == 0 else -inf
    return 0.0 if q > 0 and -s * log(q) + log1p(q / (s - 1)) < -NOTHING else None


def _sum_of_powers(dtype: str, s: float, q: float, factor: object) -> float:
    return round_real(dtype, lambda: factor() * _hurwitz(arb(s), q))


def _hurwitz(s: arb, q: float) -> arb:
    """The sum from q on; half way between two integers the terms of odd powers cancel on both sides of 0."""
    if q > 0:
        return _of_positive(s, arb(q))
    below, is_even = floor(q), int(s.unique_fmpz()) % 2 == 0
    if _cancels(int(s.unique_fmpz()), q):
        return _of_positive(s, 1 - arb(q))
    # terms from there on, and those on the way up to 0, which are negative
    on_the_way = _of_positive(s, arb(below + 1) - arb(q)) - _of_positive(s, 1 - arb(q))
    return _of_positive(s, arb(q) - below) + (on_the_way if is_even else -on_the_way)


def _cancels(s: float, q: float) -> bool:
    """Whether the powers on both sides of 0 cancel, as odd ones do half way between integers: 1 - q is what is left."""
    return q < 0 and not q.is_integer() and (2 * q).is_integer() and s % 2 == 1


def _of_positive(s: arb, q: arb) -> arb:
    """Arb's, or where all other terms are nothing beside the first one, that."""
    ratio = (-(1 + 1 / q).log() * s).exp() * (1 + (q + 1) / (s - 1))  # of the others to the first (the integral)
    if ratio < arb(2) ** -(ctx.prec + 10):
        return (-q.log() * s).exp() * arb(1, arb(2) ** -(ctx.prec + 10))
    return s.zeta(q)


@reference("aten::special_zeta", "aten::special_zeta.self_scalar", "aten::special_zeta.other_scalar")
def zeta(self: Operand, other: Operand) -> RefTensor:
    """The Hurwitz zeta function zeta(self, other)."""
    dtype, shape, data = common_operands(self, other, floating=True)
    _refuse("zeta", dtype)
    return _pairs(dtype, shape, data, round_zeta)


def round_polygamma(dtype: str, n: int, x: float) -> float | Unspecified:
    """The derivative of order n of digamma (P248)."""
    if isnan(x):
        return nan
    if n == 0:
        return round_digamma(dtype, x)
    if isinf(x):
        return UNSPECIFIED
    if x <= 0 and x.is_integer():
        return inf if n % 2 else UNSPECIFIED
    sign = 1 if n % 2 else -1
    return _sum_of_powers(dtype, n + 1.0, x, lambda: sign * arb(n + 1).gamma())


@reference("aten::polygamma", "aten::special_polygamma")
def polygamma(n: int, self: RefTensor) -> RefTensor:
    """The polygamma function of order n."""
    _refuse("polygamma", self.dtype)
    if n < 0:
        raise ValueError(f"polygamma needs n >= 0, found {n}")
    if n > 40:
        raise NotImplementedError(f"the reference of polygamma has orders up to 40, found {n}")
    dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
    once = cache(lambda x, _sign: round_polygamma(dtype, n, x))
    return RefTensor(dtype, self.shape, [once(x, copysign(1.0, x)) for x in converted(self, dtype)])


# ---- the multivariate log-gamma function ----------------------------------------------------------------------------


def round_multigamma(dtype: str, p: int, x: float) -> float | Unspecified:
    """p (p - 1)/4 log pi and the log-gammas of x - i/2, i < p (P248)."""
    if isnan(x):
        return nan
    if x <= (p - 1) / 2:
        return UNSPECIFIED
    if isinf(x) or p == 1:
        return inf if isinf(x) else round_lgamma(dtype, x)
    return round_real(dtype, lambda: _log_of_multigamma(p, x))


def _log_of_multigamma(p: int, x: float) -> arb:
    gammas = sum(((arb(x) - arb(i) / 2).lgamma() for i in range(p)), arb(0))
    return arb.pi().log() * p * (p - 1) / 4 + gammas


@reference("aten::mvlgamma", "aten::special_multigammaln")
def mvlgamma(self: RefTensor, p: int) -> RefTensor:
    """The logarithm of the multivariate gamma function of dimension p."""
    _refuse("mvlgamma", self.dtype, BOOL)
    if p < 1:
        raise ValueError(f"mvlgamma needs p >= 1, found {p}")
    if p > 20:
        raise NotImplementedError(f"the reference of mvlgamma has dimensions up to 20, found {p}")
    dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
    once = cache(lambda x: round_multigamma(dtype, p, x))
    return RefTensor(dtype, self.shape, [once(x) for x in converted(self, dtype)])
