"""What is bisected: the module of a case, or what a model file builds, and its inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from conform.errors import UsageError
from conform.explain.case import find_case
from conform.foreign import line
from conform.foreign_code import without_exit
from conform.frontends.construction import class_at, module_of
from conform.frontends.modules import ModuleCall
from conform.frontends.torch_export import arrays_of
from conform.inputs.layouts import logical
from conform.interp.program.form import Program
from conform.numerics.formats import FORMATS
from conform.operators import in_terms_of_the_kit
from conform.suites import load
from conform.suites.nodes import ClassPath

MODEL = re.compile(r"(?P<file>.+\.py)::(?P<name>[\w.]+)")


@dataclass(frozen=True)
class Subject:
    """A call of a module by a name: its arguments are arrays and Python values, in lists, tuples and dicts."""

    name: str
    module: ModuleCall
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    def program(self) -> Program:
        """NoGolden for a module that cannot be exported."""
        return self.module.program(self.args, self.kwargs)

    def inputs(self) -> list[np.ndarray]:
        return arrays_of(self.args, self.kwargs)


def subject_of(name: str, suites: Sequence[str], seed: int, dtype: str | None) -> Subject:
    """The subject that `name` names: CASE-ID of a module in `suites`, or FILE.py::FUNCTION, which builds a module and
    its inputs, cast to `dtype` if one is given. UsageError for anything else."""
    if (model := MODEL.fullmatch(name)) is not None:
        return _of_model(name, ClassPath(name, Path(model["file"]).resolve(), model["name"]), seed, dtype)
    if dtype is not None:
        raise UsageError(f"--dtype: the dtype of case {name!r} stands in its id")
    return _of_case(name, suites, seed)


def _of_case(case_id: str, suites: Sequence[str], seed: int) -> Subject:
    case = find_case(case_id, load(suites, seed=seed, ids=(case_id,)), seed)
    if not case.draw.test.is_module:
        raise UsageError(f"case {case_id!r} is one op, {case.op}, already; expected a module's, or MODEL.py::build")
    plain = logical(case.arguments(case.draw.arguments()))
    return Subject(case.id, module_of(case.draw), plain.args, plain.kwargs)


def _of_model(name: str, path: ClassPath, seed: int, dtype: str | None) -> Subject:
    if not path.file.is_file():
        raise UsageError(f"{name}: there is no file {path.file}")
    module, inputs = _built(name, path, seed)
    if dtype is not None:
        if dtype not in FORMATS or not FORMATS[dtype].is_float:
            raise UsageError(f"--dtype: expected a float dtype such as bfloat16, got {dtype!r}")
        wanted = getattr(torch, dtype)
        module = module.to(wanted)
        inputs = pytree.tree_map_only(
            torch.Tensor, lambda one: one.to(wanted) if one.is_floating_point() else one, inputs
        )
    taken = [in_terms_of_the_kit(value, f"{name}: input {at}") for at, value in enumerate(inputs)]
    return Subject(name, ModuleCall.of(module, name), taken, {})


def _built(name: str, path: ClassPath, seed: int) -> tuple[torch.nn.Module, Sequence[Any]]:
    try:
        with torch.random.fork_rng(devices=[]), without_exit():
            torch.manual_seed(seed)
            found = class_at(path)()
    except Exception as error:  # a user's own code
        raise UsageError(f"{name}: {type(error).__name__}: {line(str(error), 300)}") from error
    match found:
        case (torch.nn.Module() as module, (list() | tuple()) as inputs):
            return module, inputs
    raise UsageError(f"{name} returned {type(found).__name__}, expected (module, (input, ...))")
