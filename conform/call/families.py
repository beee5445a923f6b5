"""The families of operators: the one list of them, in the order in which every room loads and tells them.

A family is a module, or a package of modules, of this name in each room that says something of operators one by one.
"""

from __future__ import annotations

import importlib
import pkgutil

FAMILIES = (
    "elementwise",
    "functions",
    "shape",
    "indexing",
    "reduction",
    "contraction",
    "windows",
    "fft",
    "linalg",
    "normalization",
    "loss",
    "attention",
    "sorting",
    "creation",
    "optimizers",
)


def load_families(room: str) -> None:
    """Import every module of every family that the package `room` ("conform.domains") has."""
    present = {found.name for found in pkgutil.iter_modules(importlib.import_module(room).__path__)}
    for family in FAMILIES:
        if family in present:
            _load(f"{room}.{family}")


def _load(name: str) -> None:
    module = importlib.import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        _load(f"{name}.{found.name}")


def family_in(room: str, module: str) -> str:
    """The family to which the module of this name in `room` belongs."""
    return module.removeprefix(f"{room}.").partition(".")[0]
