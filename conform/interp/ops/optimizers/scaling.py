"""What torch.amp.GradScaler calls: gradients that are unscaled, and the scale that is moved (P225, P226)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import everywhere, flat, spans
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics import arithmetic
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.real import Real
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import held_format

Tensors = Sequence[np.ndarray]
_FLOAT, _COUNT = FORMATS["float32"], FORMATS["int32"]


@semantics("aten::_amp_foreach_non_finite_check_and_unscale", holds_numbers=True)
def unscale(self: Tensors, found_inf: np.ndarray, inv_scale: np.ndarray) -> tuple[Golden, ...]:
    """self * inv_scale of every tensor, and behind these found_inf, 1 where an element of any is infinite or NaN, else
    as it was (P225)"""
    scaled = [_scaled(one, np.float64(inv_scale)) for one in self]
    are_finite = all(everywhere(lambda some: np.isfinite(some.astype(np.float64)), one) for one in self)
    found = found_inf if are_finite else np.ones_like(found_inf)
    return (*scaled, exact(found, format_of(found_inf)))


@semantics("aten::_amp_update_scale", holds_numbers=True)
def update_scale(
    self: np.ndarray, growth_tracker: np.ndarray, found_inf: np.ndarray, scale_growth_factor: float,
    scale_backoff_factor: float, growth_interval: int,
) -> tuple[Golden, Golden]:  # fmt: skip
    """self * scale_backoff_factor and a growth_tracker of 0 where found_inf is not 0; else self * scale_growth_factor
    and 0 in every step number growth_interval in a row, and in others self and one step more (P226)"""
    steps = int(growth_tracker) + 1
    if float(found_inf) != 0:
        return _moved(self, scale_backoff_factor), exact(np.zeros_like(growth_tracker), _COUNT)
    if steps == growth_interval:
        return _moved(self, scale_growth_factor), exact(np.zeros_like(growth_tracker), _COUNT)
    return exact(self, _FLOAT), exact(np.full_like(growth_tracker, steps), _COUNT)


def _moved(scale: np.ndarray, factor: float) -> Golden:
    """The scale times a factor that is the double or held as the scale is; open where that is infinite."""
    factors = np.float64(factor), np.float64(np.float32(factor))
    golden, other = (_product(_FLOAT, scale, one) for one in factors)
    golden = golden.or_else(other)
    return golden.opened(np.isinf(golden.value), "P226")


def _scaled(x: np.ndarray, factor: np.float64) -> Golden:
    """x * factor, a block at a time."""
    parts = ((place, _product(format_of(x), flat(x, place), factor)) for place in spans(x.size))
    return assembled(parts, x.size).rearranged(lambda part: part.reshape(x.shape))


def _product(fmt: Format, x: np.ndarray, factor: np.float64) -> Golden:
    """x * factor, rounded once, or to the compute type before."""
    value, real = arithmetic.mul(fmt, *np.broadcast_arrays(x.astype(np.float64), factor))
    golden = Golden(fmt, value, real, bounded_as="aten::mul")
    if (held := held_format(fmt)) == fmt:
        return golden
    first, _ = arithmetic.mul(held, *np.broadcast_arrays(x.astype(np.float64), factor))
    wide = first.astype(np.float64)
    return golden.or_else(replace(golden, value=round_to(fmt, wide), real=Real.exact(wide)))
