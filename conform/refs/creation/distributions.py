"""Random numbers of named distributions: shape and dtype are determined, elements only where chance has no choice."""

from __future__ import annotations

from math import isfinite, isinf, isnan, prod

from conform.refs.creation.constants import checked_size
from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, category, convert
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference


def checked(is_right: bool, what: str) -> None:
    """ValueError with what is wrong, if anything is."""
    if not is_right:
        raise ValueError(what)


def _open_like(tensor: RefTensor) -> RefTensor:
    """A tensor of the dtype and the shape of another one, of floats, of which no element is determined."""
    checked(category(tensor.dtype) == FLOAT, f"no distribution of floats in {tensor.dtype}")
    return RefTensor(tensor.dtype, tensor.shape, [UNSPECIFIED] * len(tensor.data))


@reference("aten::uniform")
def uniform(self: RefTensor, from_: float = 0.0, to: float = 1.0, generator: object = None) -> RefTensor:
    """Numbers between both ends: an empty range leaves one, its end."""
    checked(isfinite(from_) and isfinite(to) and from_ <= to, f"no range from {from_} to {to}")
    checked(max(abs(from_), abs(to)) <= 1e4, "ends beyond 10000")
    if from_ == to:
        _open_like(self)
        return RefTensor(self.dtype, self.shape, [convert(from_, self.dtype)] * len(self.data))
    return _open_like(self)


def _about(dtype: str, shape: tuple[int, ...], means: list[float], deviations: list[float]) -> RefTensor:
    """Normal numbers; a deviation of 0 leaves the mean, and so does a mean to which no finite number can be added."""
    checked(category(dtype) == FLOAT, f"no normal numbers of {dtype}")
    checked(all(deviation >= 0 for deviation in deviations), "a standard deviation is no number from 0 on")
    data = [_one_about(mean, deviation, dtype) for mean, deviation in zip(means, deviations, strict=True)]
    return RefTensor(dtype, shape, data)


def _one_about(mean: float, deviation: float, dtype: str) -> object:
    stays = deviation == 0 or isnan(mean) or (isinf(mean) and isfinite(deviation))
    return convert(mean, dtype) if stays else UNSPECIFIED


def _checked_numbers(mean: float, std: float) -> None:
    checked(abs(mean) <= 1e4 and 0 <= std <= 1e4, f"normal numbers of mean {mean} and deviation {std}")


@reference("aten::normal_functional")
def normal_functional(self: RefTensor, mean: float = 0.0, std: float = 1.0, generator: object = None) -> RefTensor:
    """Normal numbers in the shape and the dtype of self."""
    _checked_numbers(mean, std)
    return _about(self.dtype, self.shape, [mean] * len(self.data), [std] * len(self.data))


@reference("aten::normal.float_float")
def normal_float_float(
    mean: float,
    std: float,
    size: list[int],
    generator: object = None,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """Normal numbers; float32 without dtype."""
    _checked_numbers(mean, std)
    shape = checked_size(size)
    return _about(dtype or "float32", shape, [mean] * prod(shape), [std] * prod(shape))


@reference("aten::normal.Tensor_float")
def normal_of_means(mean: RefTensor, std: float = 1.0, generator: object = None) -> RefTensor:
    """Normal numbers about those of mean."""
    _checked_numbers(0.0, std)
    return _about(mean.dtype, mean.shape, mean.data, [std] * len(mean.data))


@reference("aten::normal.float_Tensor")
def normal_of_deviations(mean: float, std: RefTensor, generator: object = None) -> RefTensor:
    """Normal numbers about mean, of the deviations in std."""
    _checked_numbers(mean, 0.0)
    return _about(std.dtype, std.shape, [mean] * len(std.data), std.data)


@reference("aten::normal.Tensor_Tensor")
def normal_of_both(mean: RefTensor, std: RefTensor, generator: object = None) -> RefTensor:
    """Normal numbers about those of mean, of the deviations in std."""
    checked(mean.shape == std.shape and mean.dtype == std.dtype, "mean and std of two shapes or dtypes")
    return _about(mean.dtype, mean.shape, mean.data, std.data)


@reference("aten::exponential")
def exponential(self: RefTensor, lambd: float = 1.0, generator: object = None) -> RefTensor:
    """Times between events of the rate lambd."""
    checked(0.01 <= lambd <= 100, f"a rate of {lambd}")
    return _open_like(self)


@reference("aten::log_normal")
def log_normal(self: RefTensor, mean: float = 1.0, std: float = 2.0, generator: object = None) -> RefTensor:
    """Exponentials of normal numbers."""
    checked(abs(mean) <= 4 and 0.01 <= std <= 4, f"exponentials of numbers about {mean}, of deviation {std}")
    return _open_like(self)


@reference("aten::cauchy")
def cauchy(self: RefTensor, median: float = 0.0, sigma: float = 1.0, generator: object = None) -> RefTensor:
    """Quotients of normal numbers, times sigma, about the median."""
    checked(abs(median) <= 100 and 0.01 <= sigma <= 100, f"Cauchy's distribution of {median} and {sigma}")
    return _open_like(self)


@reference("aten::geometric")
def geometric(self: RefTensor, p: float, generator: object = None) -> RefTensor:
    """How many trials it takes until one of probability p succeeds."""
    checked(0.25 <= p <= 0.9, f"trials of probability {p}")
    checked(category(self.dtype) not in (BOOL, COMPLEX), f"no counts of {self.dtype}")
    return RefTensor(self.dtype, self.shape, [UNSPECIFIED] * len(self.data))
