"""The transforms of torch.fft: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conform.domains.engine.arguments import Argument, dim, dims, length, optional, result, shape, string, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Optional, Rank, Size, Value
from conform.domains.engine.dtypes import component
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import (
    NOT_MANY,
    dim_of,
    distinct_dims,
    distinct_dims_of,
    dtype_of,
    shape_of,
    shaped,
)
from conform.domains.fft.transforms import COMPLEX_OF, LENGTHS
from conform.domains.specs import COMPLEX, spec

Dims = int | Sequence[int] | None
NORM = optional(string("norm", Value.In(("backward", "ortho", "forward"))))
ON_CUDA = "torch takes halves on CUDA, of lengths that are powers of two"
NO_DIM = "over no dim torch gives self, or raises"
AGAIN = "torch moves a dim as often as it is named"
NOTHING_MOVES = "torch raises where no dim is to be moved, which its documentation allows"


def _operand(*constraints: Constraint) -> Argument:
    return tensor(
        "self", Dtype.Ne("float16").unjudged(ON_CUDA), Dtype.Ne("bfloat16"), *constraints,
        Size.Ge(1).unjudged("of no elements nothing is transformed"), Size.Be(LENGTHS),
    )  # fmt: skip


ANY, REAL = (), (Dtype.NotIn(COMPLEX),)


def _complex(self: MetaArgument) -> str:
    """self's dtype, or that of complex numbers of it"""
    return self.dtype if self.dtype in COMPLEX else COMPLEX_OF.get(self.dtype, "complex64")


def _real(self: MetaArgument) -> str:
    """the dtype of a part of such numbers"""
    return component(_complex(self))


def _axes(self: MetaArgument, s: Sequence[int] | None, dim: Dims) -> list[int]:
    """The dims of a transform; without `dim` as many of the last ones as s has, or all."""
    if dim is None:
        return list(range(max(self.rank - len(self.shape if s is None else s), 0), self.rank))
    return [one % max(self.rank, 1) for one in ([dim] if isinstance(dim, int) else dim)]


def _last_size(self: MetaArgument, s: Sequence[int] | None, dim: Dims) -> int:
    axes = _axes(self, s, dim)
    return self.size(axes[-1]) if axes and self.rank else 1


Lengths = Callable[[int, int], int]  # of the last dim's size, and the length that is given, the size of the result


def _full(size: int, given: int) -> int:
    return size if given == -1 else given


def _half(size: int, given: int) -> int:
    return _full(size, given) // 2 + 1


def _doubled(size: int, given: int) -> int:
    return _full(2 * (size - 1), given)


def _shape(self: MetaArgument, s: Sequence[int] | None, dim: Dims, last: Lengths) -> tuple[int, ...]:
    sizes, axes = list(self.shape), _axes(self, s, dim)
    for number, (axis, given) in enumerate(zip(axes, s or [-1] * len(axes), strict=False)):
        sizes[axis] = (last if number == len(axes) - 1 else _full)(sizes[axis], given)
    return tuple(sizes)


def _needed(is_short: Callable[..., bool], *names: str) -> Constraint:
    """A length, where none means twice a size less one and that would be 0."""
    return Optional.NotIn(lambda *given: (True,) if is_short(*given) else (), names, "{True} of a dim of size 1")


def _along_one(name: str, of: Sequence[Constraint], dtype: Callable[[MetaArgument], str], last: Lengths) -> None:
    def shape_of_result(self: MetaArgument, n: int | None, dim: int) -> tuple[int, ...]:
        return _shape(self, None if n is None else [n], dim, last)

    least = [_needed(lambda self, dim: _last_size(self, None, dim) < 2, "self", "dim")] if last is _doubled else []
    spec(
        name,
        _operand(Rank.Ge(1), *of),
        optional(length("n", Value.Ge(1), Value.Le(16).lenient(NOT_MANY), Value.Be(LENGTHS)), *least),
        dim("dim", dim_of("self")),
        NORM,
        result(Dtype.Eq(dtype), shaped(shape_of_result)),
    )


def _not_none(i: int, length: int, self: MetaArgument, dim: Dims) -> tuple[int, ...]:
    """{-1} for the last, of a dim of size 1"""
    return (-1,) if i == length - 1 and _last_size(self, [-1] * length, dim) < 2 else ()


def _as_many(self: MetaArgument, dim: Dims) -> Space | tuple[int, ...]:
    """{length(dim)} where that is given"""
    return ANYTHING if dim is None else (len(dim),)


def _along_some(
    name: str, of: Sequence[Constraint], dtype: Callable[[MetaArgument], str], last: Lengths, are_two: bool
) -> None:
    doubled = last is _doubled
    of_none = Length.Ge(1).unjudged(NO_DIM), Length.Le(lambda self: max(self.rank, 1), text="rank(self)")
    lengths = shape(
        "s",
        Length.In(_as_many),
        *(() if are_two else of_none),
        Value.Ge(-1).unjudged("torch takes every negative number for -1"),
        Value.Ne(0),
        *([Value.NotIn(_not_none)] if doubled else []),
        Value.Le(16).lenient(NOT_MANY),
        Value.Be((-1, *LENGTHS)),
    )
    least = [_needed(lambda self, dim: _last_size(self, None, dim) < 2, "self", "dim")] if doubled else []
    some = Length.Ge(1).unjudged(NO_DIM)
    axes = dims("dim", distinct_dims("self"), some)
    spec(
        name,
        _operand(Rank.Ge(1).unjudged(NO_DIM), *of),
        optional(lengths, *least),
        axes if are_two else optional(axes),
        NORM,
        result(Dtype.Eq(dtype), shaped(lambda self, s, dim: _shape(self, s, dim, last))),
    )


for _name, _of, _dtype, _last in (
    ("fft", ANY, _complex, _full),
    ("ifft", ANY, _complex, _full),
    ("rfft", REAL, _complex, _half),
    ("irfft", ANY, _real, _doubled),
    ("hfft", ANY, _real, _doubled),
    ("ihfft", REAL, _complex, _half),
):
    _along_one(f"aten::fft_{_name}", _of, _dtype, _last)
    _along_some(f"aten::fft_{_name}2", _of, _dtype, _last, are_two=True)
    _along_some(f"aten::fft_{_name}n", _of, _dtype, _last, are_two=False)

for _name in ("aten::fft_fftshift", "aten::fft_ifftshift"):
    spec(
        _name,
        tensor("self", Rank.Ge(1).unjudged(NOTHING_MOVES)),
        optional(
            dims(
                "dim",
                Length.Ge(1).unjudged(NOTHING_MOVES),
                Length.Le(lambda self: max(self.rank, 1), text="max(rank(self), 1)").unjudged(AGAIN),
                dim_of("self"),
                distinct_dims_of("self")[-1].unjudged(AGAIN),
            )
        ),
        result(dtype_of("self"), shape_of("self")),
    )
