"""Fourier transforms: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from conform.domains.engine.arguments import Argument, boolean, dims, integer, length, result, tensor
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.dtypes import component
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import distinct_dims, dtype_of, shape_of, shaped
from conform.domains.specs import COMPLEX, spec

REAL = ("float32", "float64")
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16)  # by every kernel of an FFT, and by Bluestein's or Rader's


def _operand(*dtypes: str) -> Argument:
    nothing = Size.Ge(1).unjudged("of no elements nothing is transformed")
    return tensor("self", Dtype.In(dtypes), Rank.Ge(1), nothing, Size.Be(LENGTHS))


DIMS = dims(
    "dim",
    Length.Ge(1).unjudged("over no dim torch gives self, or raises"),
    Value.Ge(0).unjudged("torch.fft counts dims from the front before it calls these, and they check nothing"),
    [one.unjudged("what names no dim, or one twice, is checked by torch.fft") for one in distinct_dims("self")],
)
NORMALIZATION = integer("normalization", Value.In((0, 1, 2)).unjudged("torch's kernels check it where they use it"))

spec(
    "aten::_fft_c2c",
    _operand(*COMPLEX),
    DIMS,
    NORMALIZATION,
    boolean("forward"),
    result(dtype_of("self"), shape_of("self")),
)


def _with_last(self: MetaArgument, dim: Sequence[int], size: int) -> tuple[int, ...]:
    sizes = list(self.shape)
    sizes[dim[-1] % self.rank] = size
    return tuple(sizes)


def _onesided(self: MetaArgument, dim: Sequence[int], onesided: bool) -> tuple[int, ...]:
    size = self.size(dim[-1] % self.rank)
    return _with_last(self, dim, size // 2 + 1 if onesided else size)


spec(
    "aten::_fft_r2c",
    _operand(*REAL),
    DIMS,
    NORMALIZATION,
    boolean("onesided"),
    result(Dtype.Eq(lambda self: COMPLEX_OF[self.dtype]), shaped(_onesided)),
)


def _sizes_of_half(self: MetaArgument, dim: Sequence[int]) -> tuple[int, ...]:
    half = self.size(dim[-1] % self.rank)
    return tuple(size for size in (2 * half - 1, 2 * half - 2) if size > 0)


spec(
    "aten::_fft_c2r",
    _operand(*COMPLEX),
    DIMS,
    NORMALIZATION,
    length("last_dim_size", Value.In(_sizes_of_half).unjudged("torch reads as many frequencies as there are")),
    result(
        Dtype.Eq(lambda self: component(self.dtype)),
        shaped(lambda self, dim, last_dim_size: _with_last(self, dim, last_dim_size)),
    ),
)
