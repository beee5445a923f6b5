"""Gradients of the values that sorting gives."""

from __future__ import annotations

from conform.interp.gradients.rules import chosen

chosen("aten::sort", "aten::sort.stable", "aten::topk", "aten::kthvalue")
chosen("aten::median", "aten::median.dim", "aten::nanmedian", "aten::nanmedian.dim")
