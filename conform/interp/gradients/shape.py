"""Gradients of moves whose elements are no trait's: those that fill up with a constant."""

from __future__ import annotations

from conform.interp.gradients.rules import moved

moved("aten::constant_pad_nd", "aten::pad", of=("self",))
