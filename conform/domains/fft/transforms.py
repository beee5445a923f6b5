"""Fourier transforms: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from conform.domains.engine.arguments import Argument, boolean, dims, integer, length, result, tensor
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.dtypes import component
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.specs import COMPLEX, spec

REAL = ("float32", "float64")
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16)  # by every kernel of an FFT, and by Bluestein's or Rader's


def _operand(*dtypes: str) -> Argument:
    nothing = Size.Ge(1).unjudged("of no elements nothing is transformed")
    return tensor("self", Dtype.In(dtypes), Rank.Ge(1), nothing, Size.Be(LENGTHS))


BY_TORCH_FFT = "torch.fft counts dims from the front, and checks them, before it calls these"
DIMS = dims(
    "dim",
    Length.Ge(1).unjudged("over no dim torch gives self, or raises"),
    Length.Le(lambda self: max(self.rank, 1)).unjudged(BY_TORCH_FFT),
    Value.Ge(0).unjudged(BY_TORCH_FFT),
    Value.Lt(lambda self: max(self.rank, 1)).unjudged(BY_TORCH_FFT),
    Value.NotIn(
        lambda self, previous: previous if len(previous) < max(self.rank, 1) else (), text="the dims before it"
    ).unjudged(BY_TORCH_FFT),
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
    last = _last(self, dim)
    return tuple(size if d == last else own for d, own in enumerate(self.shape))


def _last(self: MetaArgument, dim: Sequence[int]) -> int:
    """The last of the dims, 0 where there is none."""
    return dim[-1] % max(self.rank, 1) if dim else 0


def _last_size(self: MetaArgument, dim: Sequence[int]) -> int:
    return self.size(_last(self, dim)) if self.rank else 1


def _onesided(self: MetaArgument, dim: Sequence[int], onesided: bool) -> tuple[int, ...]:
    size = _last_size(self, dim)
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
    half = _last_size(self, dim)
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
