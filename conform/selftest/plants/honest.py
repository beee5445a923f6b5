"""What defects are planted in: torch on the CPU, and the interpreter where torch has no kernel of an operator there."""

from __future__ import annotations

from typing import Any

from conform.backends.failures import lacks_operator
from conform.backends.interpreter import Interpreter
from conform.backends.torch_device import TorchDevice
from conform.errors import InvalidArguments


class Honest(TorchDevice):
    """Answers as torch does on the CPU, or with the golden where torch can only say that it has no kernel."""

    name = "honest"

    def __init__(self) -> None:
        super().__init__("cpu")

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return super().run(op, args, kwargs)
        except NotImplementedError as error:
            if not lacks_operator(error):
                raise
        try:
            return Interpreter().run(op, args, kwargs)
        except InvalidArguments as refusal:
            raise ValueError(str(refusal)) from None  # as torch refuses
