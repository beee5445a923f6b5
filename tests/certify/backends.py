"""Backends that are certified: one that is right, one whose exp is not."""

from __future__ import annotations

from typing import Any

import conform


class Right(conform.backends.TorchDevice):
    name = "right"

    def __init__(self) -> None:
        super().__init__("cpu")


class Wrong(Right):
    name = "wrong"

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = super().run(op, args, kwargs)
        return result * 1.01 if result.is_floating_point() else result
