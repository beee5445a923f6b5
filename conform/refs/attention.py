"""scaled_dot_product_attention: softmax(query key^T * scale + mask) value on exact reals, rounded once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from math import inf, isfinite, isinf, isnan, nan, prod

from flint import arb

from conform.refs.exact.exponentials import LEAST_EXPONENT
from conform.refs.exact.linear_forms import Form, Value, times, total, value_of
from conform.refs.exact.radicals import rational_sqrt
from conform.refs.exact.reals import fraction_ball, round_real
from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, Unspecified, broadcast_shapes, expand
from conform.refs.references import reference

Matrix = list[list[float]]
# A finite score a / sqrt(root) + b is (a, b), or (a + b, 0) where the root is 1: equal scores are equal pairs.
# Infinities and NaN are floats.
Score = tuple[Fraction, Fraction] | float


@reference("aten::scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: RefTensor,
    key: RefTensor,
    value: RefTensor,
    attn_mask: RefTensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> RefTensor:
    """(..., L, E), (..., S, E), (..., S, Ev) -> (..., L, Ev); a mask broadcasts to (..., L, S), bool or added (P69)."""
    _check(query, key, value, attn_mask, is_causal)
    if dropout_p != 0:
        raise NotImplementedError(f"the reference of attention has no dropout, found dropout_p={dropout_p}")
    if enable_gqa:
        key, value = _repeat_heads(key, query), _repeat_heads(value, query)
    batch = broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    (rows, size), columns = query.shape[-2:], key.shape[-2]
    masks = _masks(attn_mask, is_causal, (*batch, rows, columns))
    scaling = _scaling(size, scale)
    data = []
    operands = (_matrices(query, batch), _matrices(key, batch), _matrices(value, batch), masks)
    for queries, keys, values, mask in zip(*operands, strict=True):
        for row in range(rows):
            data += _attend(
                query.dtype,
                queries[row],
                keys=keys,
                values=values,
                mask=mask[row],
                scaling=scaling,
                outputs=value.shape[-1],
            )
    return RefTensor(query.dtype, (*batch, rows, value.shape[-1]), data)


def _check(query: RefTensor, key: RefTensor, value: RefTensor, mask: RefTensor | None, is_causal: bool) -> None:
    dtypes = {tensor.dtype for tensor in (query, key, value)}
    if len(dtypes) != 1 or query.dtype not in FLOAT_FORMATS:
        raise ValueError(f"query, key and value are of one float dtype, found {sorted(dtypes)}")
    if min(len(tensor.shape) for tensor in (query, key, value)) < 2:
        raise ValueError(f"query, key and value have rank 2 or more, found {query.shape}, {key.shape}, {value.shape}")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(f"query {query.shape}, key {key.shape} and value {value.shape} do not multiply")
    if mask is not None and is_causal:
        raise ValueError("is_causal does not go with an attn_mask")
    if mask is not None and mask.dtype not in ("bool", "float32", query.dtype):
        raise ValueError(f"attn_mask is bool or of query's dtype {query.dtype}, found {mask.dtype}")


def _repeat_heads(tensor: RefTensor, query: RefTensor) -> RefTensor:
    """Each head, an index of dim -3, repeated in a row until there are as many as of the query."""
    if min(len(tensor.shape), len(query.shape)) < 3 or query.shape[-3] % tensor.shape[-3]:
        raise ValueError(f"the heads of {tensor.shape} do not divide those of the query {query.shape}")
    times, size = query.shape[-3] // tensor.shape[-3], prod(tensor.shape[-2:])
    heads = [tensor.data[i * size : (i + 1) * size] for i in range(prod(tensor.shape[:-2]))]
    data = [x for head in heads for _ in range(times) for x in head]
    return RefTensor(tensor.dtype, (*tensor.shape[:-3], query.shape[-3], *tensor.shape[-2:]), data)


def _matrices(tensor: RefTensor, batch: Shape) -> list[Matrix]:
    """The matrices of a tensor, its leading dims expanded to `batch`."""
    rows, columns = tensor.shape[-2:]
    return _cut(expand(tensor.data, tensor.shape, (*batch, rows, columns)), prod(batch), rows, columns)


def _cut(data: list, count: int, rows: int, columns: int) -> list[Matrix]:
    starts = [[(i * rows + row) * columns for row in range(rows)] for i in range(count)]
    return [[data[start : start + columns] for start in matrix] for matrix in starts]


def _masks(mask: RefTensor | None, is_causal: bool, shape: Shape) -> list[Matrix]:
    """What is added to the scores: 0 or -inf by a bool mask or causality, else the mask."""
    *batch, rows, columns = shape
    if mask is None:
        own = [-inf if is_causal and column > row else 0.0 for row in range(rows) for column in range(columns)]
        data = own * prod(batch)
    else:
        added = [0.0 if x else -inf for x in mask.data] if mask.dtype == "bool" else mask.data
        data = expand(added, mask.shape, shape)
    return _cut(data, prod(batch), rows, columns)


# ---- one row -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scaling:
    """factor / sqrt(root), of a root that is 1 unless the scale is irrational; infinite and NaN factors are floats."""

    factor: Fraction | float
    root: int = 1


def _scaling(size: int, scale: float | None) -> _Scaling:
    if scale is not None:
        return _Scaling(Fraction(scale) if isfinite(scale) else scale)
    if size == 0:
        raise NotImplementedError("the reference of attention has no scale for vectors of size 0")
    root = rational_sqrt(Fraction(size))
    return _Scaling(Fraction(1), size) if root is None else _Scaling(1 / root)


def _attend(
    dtype: str, query: list[float], keys: Matrix, values: Matrix, mask: list[float], scaling: _Scaling, outputs: int
) -> list[float | Unspecified]:
    """The outputs of one query."""
    masked = [j for j, added in enumerate(mask) if added == -inf]
    special = any(not isfinite(x) for j in masked for x in (*keys[j], *values[j]))
    if special or any(isinf(x) for value in values for x in value):
        return [UNSPECIFIED] * outputs  # P69
    scores = [_score(query, key, added, scaling) for key, added in zip(keys, mask, strict=True)]
    if all(score == -inf for score in scores):
        return [UNSPECIFIED] * outputs
    columns = [[row[output] for row in values] for output in range(outputs)]
    return [_weighted_mean(dtype, scores, column, scaling.root) for column in columns]


def _score(query: list[float], key: list[float], added: float, scaling: _Scaling) -> Score:
    if added == -inf:
        return -inf
    scaled = times(_dot(query, key), scaling.factor)
    if isinstance(scaled, float) or not isfinite(added):
        return total([scaled, value_of(added)])
    a, b = scaled.rational, Fraction(added)
    return (a + b, Fraction(0)) if scaling.root == 1 else (a, b)


def _dot(query: list[float], key: list[float]) -> Value:
    """The sum of products, infinite or NaN by IEEE arithmetic on reals."""
    products = [
        value_of(x * y) if isinf(x) or isinf(y) or isnan(x) or isnan(y) else Form(Fraction(x) * Fraction(y))
        for x, y in zip(query, key, strict=True)
    ]
    return total(products)


def _weighted_mean(dtype: str, scores: list[Score], values: list[float], root: int) -> float:
    """sum e^score value / sum e^score.

    It is rational where the values of equal scores have one mean for every score, and nowhere else: the powers of e of
    different algebraic numbers are linearly independent over the algebraic numbers (Lindemann and Weierstrass).
    """
    if any(map(isnan, values)) or any(isinstance(score, float) and score != -inf for score in scores):
        return nan
    groups: dict[tuple[Fraction, Fraction], list[float]] = {}
    for score, value in zip(scores, values, strict=True):
        if not isinstance(score, float):
            groups.setdefault(score, []).append(value)
    sums = {score: (sum(map(Fraction, group), Fraction(0)), len(group)) for score, group in groups.items()}
    means = {value_sum / count for value_sum, count in sums.values()}
    if len(means) == 1:
        mean = means.pop()
        return round_ratio(dtype, mean.numerator, mean.denominator)
    try:
        return round_real(dtype, lambda: _mean_ball(sums, root))
    except ArithmeticError:
        return _beside_a_tie(dtype, sums, root)


FAR_APART = 10_000  # of scores: e^-FAR_APART times the largest quotient of two numbers is smaller than the smallest


def _beside_a_tie(dtype: str, sums: dict[tuple[Fraction, Fraction], tuple[Fraction, int]], root: int) -> float:
    """The mean of the values of the largest score, moved to the side to which all others pull it, by less than any
    precision shows. ArithmeticError where a score with another mean is near the largest one."""
    means = {score: Fraction(*sums[score]) for score in sums}
    downwards = cmp_to_key(lambda one, other: float(_distance(other, one, root).mid()))
    first, *others = sorted(sums, key=downwards)
    moving = [score for score in others if means[score] != means[first]]
    if not _distance(first, moving[0], root) > FAR_APART:
        raise ArithmeticError("a mean beside a tie, and a score near the largest one that moves it")

    def pull() -> arb:
        weights = [_distance(score, moving[0], root).max(arb(LEAST_EXPONENT)).exp() for score in moving]
        pulls = [fraction_ball(means[score] - means[first]) * sums[score][1] for score in moving]
        return sum((weight * each for weight, each in zip(weights, pulls, strict=True)), arb(0))

    moved = means[first] + Fraction(1 if round_real("float64", pull) > 0 else -1, 2**FAR_APART)
    return round_ratio(dtype, moved.numerator, moved.denominator)


def _score_ball(score: tuple[Fraction, Fraction], root: int) -> arb:
    return fraction_ball(score[0]) / arb(root).sqrt() + fraction_ball(score[1])


def _distance(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction], root: int) -> arb:
    """one - other, of which what they share is gone before anything is rounded."""
    return _score_ball((one[0] - other[0], one[1] - other[1]), root)


def _mean_ball(sums: dict[tuple[Fraction, Fraction], tuple[Fraction, int]], root: int) -> arb:
    balls = {score: _score_ball(score, root) for score in sums}
    reference = max(balls, key=lambda score: float(balls[score].mid()))  # the greatest, or as great as makes no matter
    upper, lower = arb(0), arb(0)
    for score, (value_sum, count) in sums.items():
        power = (balls[score] - balls[reference]).max(arb(LEAST_EXPONENT)).exp()
        upper, lower = upper + power * fraction_ball(value_sum), lower + power * count
    return upper / lower


def _images(op: str, query: RefTensor, key: RefTensor, value: RefTensor, added: RefTensor | None) -> None:
    """One batch and number of heads, and one length of vectors, without broadcasting; a number for every score."""
    shapes = {(tensor.shape[:2], tensor.shape[3:]) for tensor in (query, key, value) if len(tensor.shape) == 4}
    if len(shapes) != 1 or any(len(tensor.shape) != 4 for tensor in (query, key, value)) or key.shape != value.shape:
        raise ValueError(f"{op} of query {query.shape}, key {key.shape} and value {value.shape}")
    if added is not None and (added.shape != (*query.shape[:3], key.shape[2]) or added.dtype != query.dtype):
        raise ValueError(f"{op} adds {added.dtype} {added.shape} to the scores of {query.shape} and {key.shape}")


@reference("aten::_scaled_dot_product_flash_attention_for_cpu")
def flash_attention_for_cpu(
    query: RefTensor,
    key: RefTensor,
    value: RefTensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    attn_mask: RefTensor | None = None,
    scale: float | None = None,
) -> tuple[RefTensor, Unspecified]:
    """Attention of (N, H, *, E); of the logarithms of the sums that it divides by nothing is documented."""
    _images("flash attention", query, key, value, attn_mask)
    return scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale), UNSPECIFIED


@reference("aten::_scaled_dot_product_attention_math")
def attention_math(
    query: RefTensor,
    key: RefTensor,
    value: RefTensor,
    attn_mask: RefTensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: RefTensor | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[RefTensor, Unspecified]:
    """Attention; of the weights by which it means the values nothing is documented."""
    if dropout_mask is not None:
        raise NotImplementedError("the reference of attention has no dropout, found a dropout_mask")
    output = scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    return output, UNSPECIFIED


# ---- kernels of devices ------------------------------------------------------------------------------------------


@reference("aten::_scaled_dot_product_flash_attention")
def flash_attention(
    query: RefTensor,
    key: RefTensor,
    value: RefTensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    scale: float | None = None,
) -> tuple[RefTensor | Unspecified, ...]:
    """Attention of (N, H, *, E), which a kernel gives first of nine results."""
    return _first_of(9, "flash attention", query, key, value, None, dropout_p, is_causal, scale)


@reference("aten::_scaled_dot_product_efficient_attention")
def efficient_attention(
    query: RefTensor,
    key: RefTensor,
    value: RefTensor,
    attn_bias: RefTensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> tuple[RefTensor | Unspecified, ...]:
    """Attention of (N, H, *, E) with a bias, first of four results."""
    return _first_of(4, "efficient attention", query, key, value, attn_bias, dropout_p, is_causal, scale)


@reference("aten::_scaled_dot_product_cudnn_attention")
def cudnn_attention(
    query: RefTensor,
    key: RefTensor,
    value: RefTensor,
    attn_bias: RefTensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    scale: float | None = None,
) -> tuple[RefTensor | Unspecified, ...]:
    """Attention of (N, H, *, E) with a bias, first of nine results."""
    return _first_of(9, "cuDNN's attention", query, key, value, attn_bias, dropout_p, is_causal, scale)


@reference("aten::_scaled_dot_product_fused_attention_overrideable")
def overrideable_attention(
    query: RefTensor,
    key: RefTensor,
    value: RefTensor,
    attn_bias: RefTensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    scale: float | None = None,
) -> tuple[RefTensor | Unspecified, ...]:
    """Attention of (N, H, *, E) with a bias, first of nine results."""
    return _first_of(9, "a device's attention", query, key, value, attn_bias, dropout_p, is_causal, scale)


def _first_of(
    count: int, op: str, query: RefTensor, key: RefTensor, value: RefTensor, bias: RefTensor | None, *rest: float | None
) -> tuple[RefTensor | Unspecified, ...]:
    """The attention, before results of which nothing is documented."""
    _images(op, query, key, value, bias)
    return scaled_dot_product_attention(query, key, value, bias, *rest), *[UNSPECIFIED] * (count - 1)
