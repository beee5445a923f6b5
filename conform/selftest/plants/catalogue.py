"""All planted defects, op by op."""

from __future__ import annotations

import functools
import importlib

from conform.backends.torch_device import overload
from conform.call.aliases import canonical
from conform.errors import Unsupported
from conform.selftest.plants.base import Planted
from conform.selftest.plants.enumerated import Plant, enumerated
from conform.selftest.plants.facts import op_of, ops
from conform.selftest.plants.sizes import of_sizes

WRITTEN = (
    "memory", "special", "integers", "accuracy", "edges", "functions", "products", "complex_numbers", "parameters",
    "kernels", "composites", "lengths", "cheating", "chance",
)  # fmt: skip


@functools.cache
def written() -> dict[str, type[Planted]]:
    """Every written class, by its name. ValueError if two have one name."""
    found: dict[str, type[Planted]] = {}
    for file in WRITTEN:
        module = importlib.import_module(f"conform.selftest.plants.{file}")
        for name, value in vars(module).items():
            is_own = isinstance(value, type) and value.__module__ == module.__name__
            if is_own and issubclass(value, Planted) and value.bug:
                if name in found:
                    raise ValueError(f"planted classes: {name} is defined twice")
                found[name] = value
    return found


def is_of_torch(op: str) -> bool:
    """Whether torch has the overload."""
    try:
        overload(op)
    except Unsupported:
        return False
    return True


@functools.cache
def torch_ops() -> tuple[str, ...]:
    """Every overload with a spec that torch itself has, sorted by name, each by its first name alone."""
    return tuple(op.name for op in ops() if op.name == canonical(op.name) and is_of_torch(op.name))


@functools.cache
def plants(op: str) -> dict[str, Plant]:
    """Every defect planted in an overload, by its words or the name of its class."""
    known = op_of(op)
    classes = [
        Plant(op, name, value.bug, value, about=value.about, looks_like=value.looks_like)
        for name, value in written().items() if value.touches(known)
    ]  # fmt: skip
    every = [*enumerated(known), *of_sizes(known), *classes]
    found = {one.defect: one for one in every}
    assert len(found) == len(every), f"{op}: two plants have one name"
    return found


def plant(op: str, defect: str) -> Plant:
    """The plant of this name in an overload."""
    return plants(op)[defect]
