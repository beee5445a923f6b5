"""The backend that answers as any plant: each call says as which one, so one process serves them all."""

from __future__ import annotations

from typing import Any

import torch

from conform.interp.semantics import updated_in
from conform.selftest.plants.base import NUMBERS, Planted
from conform.selftest.plants.catalogue import plant
from conform.selftest.plants.facts import op_of
from conform.selftest.plants.honest import Honest

AS = "planted_as"  # a keyword that no operator has


class Host(Honest):
    """An honest backend with the defect that the call's keyword `AS` names. A plant sees its calls one after the other,
    until one is meant for another."""

    name = "planted"

    def __init__(self) -> None:
        super().__init__()
        self.of: tuple[str, str] | None = None
        self.backend: Planted | None = None

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        defect = kwargs.pop(AS)
        if self.of != (op, defect):
            self.of, self.backend = (op, defect), plant(op, defect).make()
        self.backend.updated = tuple((tensor, tensor.clone()) for _, tensor in updated_in(op, args, kwargs))
        answer = self.backend.run(op, args, kwargs)
        is_number = isinstance(answer, torch.Tensor) and answer.ndim == 0 and answer.dtype in NUMBERS.values()
        return answer.item() if is_number and op_of(op).spec.schema.returns_number else answer
