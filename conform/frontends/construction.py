"""Modules of a suite: constructed from their classes, with parameters that every backend and every side of a pair gets.

A constructor draws its parameters as torch's generator has them, and starts the others at 0 or 1, where they hide an
error. So every floating parameter is drawn anew, by its name, from the streams that inputs are drawn from.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from conform.backends.holding import Object, WithObjects
from conform.backends.interpreter import to_torch
from conform.errors import ConformError, NoGolden
from conform.foreign import line
from conform.foreign_code import without_exit
from conform.frontends.modules import ModuleCall
from conform.numerics.draws import Stream
from conform.suites import ModuleSpec
from conform.suites.cases import Draw
from conform.suites.nodes import ClassPath, Construct
from conform.suites.sample import sample

SPREAD = 0.25  # of parameters that a constructor sets to a constant


def module_of(draw: Draw) -> ModuleCall:
    """The module of a draw, in evaluation mode, in the dtype that the draw gives inputs which leave theirs open.

    NoGolden, with the reason, where its class cannot be found or constructed.
    """
    spec = draw.test.op
    try:
        module = constructor_of(draw).construct()
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"found {type(module).__name__}, expected a torch.nn.Module")
    except ConformError:
        raise
    except Exception as error:  # whatever a user's class, or what it imports, raises
        reason = line(f"{type(error).__name__}: {error}", 300)
        raise NoGolden(f"module {spec.path.text} cannot be constructed: {reason}") from error
    module.eval()
    if "float" in draw.variant:
        module = module.to(getattr(torch, draw.variant["float"]))
    _draw_parameters(module, draw.stream)
    if draw.test.takes_objects:
        module = _with_objects(module, draw)
    return ModuleCall.of(module, spec.path.text, defined_in=_from_files)


def _with_objects(module: torch.nn.Module, draw: Draw) -> torch.nn.Module:
    """The module with the objects among its inputs. NoGolden, with the reason, where one cannot be constructed."""
    given = draw.outline()
    label = f"module {draw.test.op_name}, an object among its inputs,"

    def object_of(value: Any, place: str) -> Any:
        if isinstance(value, Construct):
            try:
                return Object(_constructor(draw, value.path, value, place).construct())
            except Exception as error:  # whatever a user's class, or what it imports, raises
                reason = line(f"{type(error).__name__}: {error}", 300)
                raise NoGolden(f"{label} cannot be constructed: {reason}") from error
        if isinstance(value, list | tuple):
            return type(value)(object_of(item, f"{place}.{at}") for at, item in enumerate(value))
        is_mapping = isinstance(value, dict)
        return {key: object_of(one, f"{place}.{key}") for key, one in value.items()} if is_mapping else None

    args = [object_of(value, f"in.{at}") for at, value in enumerate(given.args)]
    kwargs = {key: object_of(value, f"kwargs.{key}") for key, value in given.kwargs.items()}
    return WithObjects(module, args, kwargs).eval()


@dataclass(frozen=True)
class Constructor:
    """A class and its arguments: arrays for tensors, Python values, and Constructors of the objects among them, in
    lists, tuples and dicts. `seed`: of torch's generator, while it is called."""

    path: ClassPath
    args: list[Any]
    kwargs: dict[str, Any]
    seed: int

    def construct(self) -> Any:
        """Raises whatever the class raises."""
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings(), without_exit():
            warnings.simplefilter("ignore")  # what torch thinks of the arguments is nothing of a run's
            torch.manual_seed(self.seed)
            args, kwargs = _replaced([self.args, self.kwargs], _built)
            return class_at(self.path)(*args, **kwargs)


def constructor_of(draw: Draw) -> Constructor:
    """What makes the module of a draw, with its arguments drawn."""
    return _constructor(draw, draw.test.op.path, draw.test.op, "module")


def _constructor(draw: Draw, path: ClassPath, spec: ModuleSpec | Construct, label: str) -> Constructor:
    """One of the class, with arguments drawn at places of their own."""

    def stream(seed_of: str, number: int, place: str) -> Stream:
        return Stream(draw.seed, seed_of, number, f"{label}.{place}")

    drawn = sample(_with_arguments(draw, spec), draw.variant, stream, draw.sample)
    args = [_with_constructors(draw, value, f"{label}.{at}") for at, value in enumerate(drawn.args)]
    kwargs = {key: _with_constructors(draw, value, f"{label}.{key}") for key, value in drawn.kwargs.items()}
    return Constructor(path, args, kwargs, int(draw.stream(label).bits(1)[0] >> np.uint64(1)))


def _with_arguments(draw: Draw, spec: ModuleSpec | Construct) -> Any:
    return replace(draw.test, inputs=spec.args, kwargs=spec.kwargs, cast_input0_to_complex=False)


def _with_constructors(draw: Draw, value: Any, label: str) -> Any:
    if isinstance(value, Construct):
        return _constructor(draw, value.path, value, label)
    if isinstance(value, list | tuple):
        return type(value)(_with_constructors(draw, item, f"{label}.{at}") for at, item in enumerate(value))
    if isinstance(value, dict):
        return {key: _with_constructors(draw, item, f"{label}.{key}") for key, item in value.items()}
    return value


def _built(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return to_torch(value)
    return value.construct() if isinstance(value, Constructor) else value


def _replaced(value: Any, by: Callable[[Any], Any]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_replaced(item, by) for item in value)
    if isinstance(value, dict):
        return {key: _replaced(item, by) for key, item in value.items()}
    return by(value)


# --- Classes ----------------------------------------------------------------------------------------------------------


def class_at(path: ClassPath) -> Any:
    if path.file is not None:
        return reduce(getattr, (path.attribute or "").split("."), _module_in(path.file))
    names = path.text.split(".")
    for count in range(len(names) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(names[:count]))
        except ModuleNotFoundError as error:
            if error.name is None or not path.text.startswith(error.name):
                raise  # something that it imports
            continue
        return reduce(getattr, names[count:], found)
    raise ModuleNotFoundError(f"No module named {names[0]!r}")


_from_files: set[str] = set()  # Python modules that no other process finds by their names


def _module_in(file: Path) -> ModuleType:
    """The Python module in a file, under a name that no other has; modules beside it can be imported from it."""
    content = file.read_bytes()
    name = f"{file.stem}_{hashlib.sha256(str(file).encode() + content).hexdigest()[:12]}"
    if name not in sys.modules:
        if (folder := str(file.parent)) not in sys.path:
            sys.path.append(folder)
        spec = importlib.util.spec_from_file_location(name, file)
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        _from_files.add(name)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


# --- Parameters -------------------------------------------------------------------------------------------------------


def draw_parameters(module: torch.nn.Module, seed: int = 0) -> None:
    """New numbers for the floating parameters of a module, and for the buffers that a constructor set to one number
    (running statistics), as the modules of a suite get them: none stays at 0 or 1, where it hides an error.

    They hang on the seed and the names alone. A constant c is drawn within c/4 of it, 0 within 1/4; a parameter of
    numbers of its own becomes uniform within 1/sqrt(n), n the elements that one output of it reads. Other buffers are
    tables, and stay.
    """
    _draw_parameters(module, lambda name: Stream(seed, "parameters", 0, name))


@torch.no_grad()
def _draw_parameters(module: torch.nn.Module, stream: Callable[[str], Stream]) -> None:
    parameters = {id(one) for one in module.parameters()}
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if not tensor.is_floating_point() or tensor.numel() == 0 or not torch.isfinite(tensor).all():
            continue
        drawn = 2 * stream(f"parameter.{name}").uniform(tuple(tensor.shape)) - 1
        constant = float(tensor.flatten()[0])
        if bool((tensor == tensor.flatten()[0]).all()):
            numbers = constant * (1 + SPREAD * drawn) if constant else SPREAD * drawn
        elif id(tensor) in parameters:
            numbers = drawn / math.sqrt(max(math.prod(tensor.shape[1:]) if tensor.ndim > 1 else tensor.numel(), 1))
        else:
            continue
        tensor.copy_(torch.from_numpy(np.asarray(numbers)))
