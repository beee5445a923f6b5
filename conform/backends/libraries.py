"""Operators of torch that a Python module of torch's registers when it is imported: the module, by their namespace."""

from __future__ import annotations

from collections.abc import Mapping

LIBRARIES: Mapping[str, str] = {
    "quantized_decomposed": "torch.ao.quantization.fx._decomposed",
}
