"""dynamic_gather and dynamic_conv: they have the constraints of the static ops, of which they take an attribute as an
operand."""

from __future__ import annotations

import re

from tests.interp.stablehlo.violations.violation import VIOLATIONS, Violation

_SIZES = re.compile(r"(?:, )?slice_sizes = array<i64: ([^>]*)>")
_PADDING = re.compile(r"padding = dense<0> : tensor<(\w+)xi64>(?:, )?")


def _gather(one: Violation) -> Violation:
    sizes = tuple(map(int, _SIZES.search(one.attributes)[1].split(",")))
    return Violation(
        "dynamic_gather", one.constraint, (*one.operands, f"tensor<{len(sizes)}xi64>"),
        _SIZES.sub("", one.attributes), one.results, one.regions, {2: sizes},
    )  # fmt: skip


def _conv(one: Violation) -> Violation:
    found = _PADDING.search(one.attributes)
    padding = f"tensor<{found[1] if found else '1x2'}xi64>"
    return Violation(
        "dynamic_conv", one.constraint, (*one.operands, padding), _PADDING.sub("", one.attributes), one.results,
        one.regions,
    )  # fmt: skip


VIOLATIONS += [_gather(one) for one in VIOLATIONS if one.op == "gather"]
VIOLATIONS += [_conv(one) for one in VIOLATIONS if one.op == "convolution"]
