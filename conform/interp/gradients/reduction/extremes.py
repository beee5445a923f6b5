"""Gradients of ops that choose elements of lines by their order."""

from __future__ import annotations

from conform.interp.gradients.rules import chosen

chosen("aten::amax", "aten::amin", "aten::aminmax", "aten::max", "aten::min", "aten::max.dim", "aten::min.dim")
chosen("aten::cummax", "aten::cummin")
