"""Normalizations: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import FLOATS, spec

spec("aten::_softmax", dtypes=FLOATS)
spec("aten::native_layer_norm", dtypes=FLOATS)
