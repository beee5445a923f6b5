"""Random tensors: dtype and shape are determined, elements only where chance has no choice."""

from __future__ import annotations

from math import copysign, isfinite, prod

from conform.refs.creation.constants import checked_size
from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, INTEGER, category, convert
from conform.refs.exact.reals import exact, multiply_exact, round_exact
from conform.refs.exact.rounding import FLOAT_FORMATS, INTEGER_RANGES
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference


def _of_chance(size: list[int], dtype: str | None) -> RefTensor:
    shape, dtype = checked_size(size), dtype or "float32"
    if category(dtype) not in (FLOAT, COMPLEX):
        raise ValueError(f"no random numbers of {dtype}")
    return RefTensor(dtype, shape, [UNSPECIFIED] * prod(shape))


@reference("aten::rand")
def rand(
    size: list[int], dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """Numbers of [0, 1), each part of a complex one too; float32 without dtype."""
    return _of_chance(size, dtype)


@reference("aten::rand_like", "aten::randn_like")
def like(
    self: RefTensor,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> RefTensor:
    """What rand, or randn, gives in the shape of self; without dtype in that of self."""
    return _of_chance(list(self.shape), dtype or self.dtype)


@reference("aten::randn")
def randn(
    size: list[int], dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """Normally distributed numbers of mean 0 and variance 1, complex ones too; float32 without dtype."""
    return _of_chance(size, dtype)


@reference("aten::randperm")
def randperm(
    n: int, dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """0, 1, ..., n - 1 in any order; int64 without dtype. ValueError where the dtype does not hold all of them."""
    dtype = dtype or "int64"
    if n < 0 or category(dtype) in (BOOL, COMPLEX):
        raise ValueError(f"no permutation of {n} numbers of {dtype}")
    holds = INTEGER_RANGES[dtype][1] if category(dtype) == INTEGER else 2 ** FLOAT_FORMATS[dtype].precision
    if n - 1 > holds:
        raise ValueError(f"{dtype} does not hold all of 0 to {n - 1}")
    return RefTensor(dtype, (n,), [convert(0, dtype)] if n == 1 else [UNSPECIFIED] * n)


@reference("aten::native_dropout")
def native_dropout(input: RefTensor, p: float, train: bool | None) -> tuple[RefTensor, RefTensor]:
    """Each element zero with probability p, else times 1 / (1 - p); and a mask, True where it is kept.

    train False keeps all as they are, None is True. Where p is 0 or 1 all are kept or zeroed; the sign of such a zero,
    and what an infinity or NaN becomes that is not kept, is open: kernels multiply by the mask or choose by it.
    """
    count = len(input.data)
    if train is False:
        return input, RefTensor("bool", input.shape, [True] * count)
    if not 0 <= p <= 1 or category(input.dtype) not in (FLOAT, COMPLEX):
        raise ValueError(f"dropout needs p in [0, 1] and a float input, found {p} and {input.dtype}")
    if p == 0:
        return input, RefTensor("bool", input.shape, [True] * count)
    if p < 1:
        return tuple(RefTensor(dtype, input.shape, [UNSPECIFIED] * count) for dtype in (input.dtype, "bool"))
    zeros = [_dropped(x, input.dtype) for x in input.data]
    return RefTensor(input.dtype, input.shape, zeros), RefTensor("bool", input.shape, [False] * count)


@reference("aten::native_dropout_backward")
def native_dropout_backward(grad_output: RefTensor, mask: RefTensor, scale: float) -> RefTensor:
    """grad_output times scale where the mask is True; else a zero, open of an infinity or NaN (P215)."""
    if category(grad_output.dtype) != FLOAT or mask.dtype != "bool" or mask.shape != grad_output.shape:
        raise ValueError("native_dropout_backward needs floats and a mask of bool of their shape")
    dtype = grad_output.dtype
    kept = [_product(x, scale, dtype) for x in grad_output.data]
    data = [y if keep else _dropped(x, dtype) for x, y, keep in zip(grad_output.data, kept, mask.data, strict=True)]
    return RefTensor(dtype, grad_output.shape, data)


@reference("aten::dropout")
def dropout(input: RefTensor, p: float, train: bool) -> RefTensor:
    """Each element zero with probability p, else times 1 / (1 - p), where train is True."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout needs p in [0, 1], found {p}")
    return native_dropout(input, p, train)[0]


def _product(x: float, y: float, dtype: str) -> float:
    """x times y, rounded once; a zero has the sign of the product."""
    product = round_exact(dtype, multiply_exact(exact(x), exact(y)))
    return product if product else copysign(0.0, x) * copysign(1.0, y)


def _dropped(x: complex, dtype: str) -> complex:
    """x times 0, where every reading gives a zero."""
    return convert(0, dtype) if isfinite(x.real) and isfinite(x.imag) else UNSPECIFIED
