"""The transforms of torch.fft along one dim: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conform.domains.engine.arguments import Argument, dim, dims, length, optional, result, string, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Optional, Rank, Size, Value
from conform.domains.engine.dtypes import component
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import (
    NOT_MANY,
    dim_of,
    distinct_dims_of,
    dtype_of,
    shape_of,
    shaped,
)
from conform.domains.fft.transforms import COMPLEX_OF, LENGTHS
from conform.domains.specs import COMPLEX, spec

NORM = optional(string("norm", Value.In(("backward", "ortho", "forward"))))
ON_CUDA = "torch takes halves on CUDA, of lengths that are powers of two"
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


SizeOf = Callable[[int, int | None], int]  # of the dim's size, and the length that is given, the size of the result


def _full(size: int, n: int | None) -> int:
    return size if n is None else n


def _half(size: int, n: int | None) -> int:
    return _full(size, n) // 2 + 1


def _doubled(size: int, n: int | None) -> int:
    return _full(2 * (size - 1), n)


def _is_short(self: MetaArgument, dim: int) -> tuple[bool, ...]:
    """{True} of a dim of size 1, where none means twice a size less one and that would be 0"""
    return (True,) if -self.rank <= dim < self.rank and self.size(dim) < 2 else ()


def _transform(name: str, of: Sequence[Constraint], dtype: Callable[[MetaArgument], str], size: SizeOf) -> None:
    def shape_of_result(self: MetaArgument, n: int | None, dim: int) -> tuple[int, ...]:
        at = dim % self.rank
        return (*self.shape[:at], size(self.shape[at], n), *self.shape[at + 1 :])

    least = [Optional.NotIn(_is_short)] if size is _doubled else []
    spec(
        name,
        _operand(Rank.Ge(1), *of),
        optional(length("n", Value.Ge(1), Value.Le(16).lenient(NOT_MANY), Value.Be(LENGTHS)), *least),
        dim("dim", dim_of("self")),
        NORM,
        result(Dtype.Eq(dtype), shaped(shape_of_result)),
    )


for _name, _of, _dtype, _size in (
    ("fft", ANY, _complex, _full),
    ("ifft", ANY, _complex, _full),
    ("rfft", REAL, _complex, _half),
    ("irfft", ANY, _real, _doubled),
    ("hfft", ANY, _real, _doubled),
    ("ihfft", REAL, _complex, _half),
):
    _transform(f"aten::fft_{_name}", _of, _dtype, _size)

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
