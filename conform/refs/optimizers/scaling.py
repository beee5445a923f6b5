"""What torch.amp.GradScaler does to gradients and to its scale, element by element."""

from __future__ import annotations

from math import isfinite, isinf

from conform.refs.exact.reals import exact, multiply_exact, round_exact
from conform.refs.exact.rounding import FLOAT_FORMATS
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference


def _times(dtype: str, x: float, positive: float) -> float:
    """x times a positive number, rounded once; zeros, infinities and NaN stay what they are."""
    return round_exact(dtype, multiply_exact(exact(x), exact(positive))) if isfinite(x) and x != 0 else x


@reference("aten::_amp_foreach_non_finite_check_and_unscale")
def unscale(self: list[RefTensor], found_inf: RefTensor, inv_scale: RefTensor) -> tuple[RefTensor, ...]:
    """Every gradient times inv_scale; found_inf is 1 if any gradient is no finite number."""
    if not self or any(one.dtype not in FLOAT_FORMATS for one in self):
        raise ValueError("expected gradients of floats")
    _expect("float32", found_inf, inv_scale)
    (factor,), (found,) = inv_scale.data, found_inf.data
    scaled = [RefTensor(one.dtype, one.shape, [_times(one.dtype, x, factor) for x in one.data]) for one in self]
    if not all(isfinite(x) for one in self for x in one.data):
        found = 1.0
    return (*scaled, RefTensor("float32", found_inf.shape, [found]))


@reference("aten::_amp_update_scale")
def update_scale(
    self: RefTensor, growth_tracker: RefTensor, found_inf: RefTensor, scale_growth_factor: float,
    scale_backoff_factor: float, growth_interval: int,
) -> tuple[RefTensor, RefTensor]:  # fmt: skip
    """Backed off after an infinity, grown after growth_interval steps without one, else as it was."""
    _expect("float32", self, found_inf)
    _expect("int32", growth_tracker)
    (scale,), (count,), (found,) = self.data, growth_tracker.data, found_inf.data
    if found:
        scale, count = _moved(scale, scale_backoff_factor), 0
    elif count + 1 == growth_interval:
        scale, count = _moved(scale, scale_growth_factor), 0
    else:
        count += 1
    return RefTensor("float32", self.shape, [scale]), RefTensor("int32", growth_tracker.shape, [count])


def _expect(dtype: str, *tensors: RefTensor) -> None:
    for one in tensors:
        if (one.dtype, one.shape) != (dtype, ()):
            raise ValueError(f"expected a 0-d tensor of {dtype}, found {one.dtype} of shape {one.shape}")


def _moved(scale: float, factor: float) -> float | Unspecified:
    moved = _times("float32", scale, factor)
    return UNSPECIFIED if isinf(moved) else moved
