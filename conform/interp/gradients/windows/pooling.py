"""Gradients of pooling and of resampling, which is linear."""

from __future__ import annotations

from conform.interp.gradients.linear import planar
from conform.interp.gradients.rules import chosen

chosen(
    "aten::max_pool1d", "aten::max_pool2d", "aten::max_pool3d", "aten::max_pool2d_with_indices",
    "aten::max_pool3d_with_indices", "aten::adaptive_max_pool1d", "aten::adaptive_max_pool2d",
    "aten::adaptive_max_pool3d",
)  # fmt: skip
planar("aten::avg_pool1d", "aten::adaptive_avg_pool1d", dims=1)
planar("aten::avg_pool2d", "aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d", dims=2)
planar("aten::avg_pool3d", "aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d", dims=3)
planar("aten::upsample_nearest1d", "aten::upsample_linear1d", "aten::_upsample_nearest_exact1d", dims=1)
planar(
    "aten::upsample_nearest1d.vec", "aten::upsample_linear1d.vec", "aten::_upsample_nearest_exact1d.vec", of="input",
    dims=1,
)  # fmt: skip
planar(
    "aten::upsample_nearest2d", "aten::upsample_bilinear2d", "aten::upsample_bicubic2d",
    "aten::_upsample_nearest_exact2d", "aten::_upsample_bilinear2d_aa", "aten::_upsample_bicubic2d_aa", dims=2,
)  # fmt: skip
planar(
    "aten::upsample_nearest2d.vec", "aten::upsample_bilinear2d.vec", "aten::upsample_bicubic2d.vec",
    "aten::_upsample_nearest_exact2d.vec", "aten::_upsample_bilinear2d_aa.vec", "aten::_upsample_bicubic2d_aa.vec",
    of="input", dims=2,
)  # fmt: skip
planar("aten::upsample_nearest3d", "aten::upsample_trilinear3d", "aten::_upsample_nearest_exact3d", dims=3)
planar(
    "aten::upsample_nearest3d.vec", "aten::upsample_trilinear3d.vec", "aten::_upsample_nearest_exact3d.vec",
    of="input", dims=3,
)  # fmt: skip
