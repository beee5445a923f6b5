"""Every constraint of every op, violated once: a file a subject."""

from importlib import import_module

from tests.interp.stablehlo.violations.violation import VIOLATIONS, Violation

__all__ = ["VIOLATIONS", "Violation"]

for _name in (
    "elementwise", "movement", "indexing", "regions", "contraction", "composites", "processes", "quantized", "dynamic",
):  # fmt: skip
    import_module(f"tests.interp.stablehlo.violations.{_name}")
