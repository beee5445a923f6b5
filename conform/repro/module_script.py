"""A failing call of a module written down as a Python script: its class, parameters and inputs as data, and the worst
elements of what it gives, which should be others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from conform.api import Golden
from conform.backends import names
from conform.backends.interpreter import to_numpy
from conform.backends.reply import Output
from conform.call.arguments import tensors
from conform.call.bound import Bound
from conform.errors import UsageError
from conform.frontends.construction import Constructor, constructor_of
from conform.golden_files.encoding import NATIVE
from conform.inputs.layouts import Placed
from conform.interp.golden import Outcome
from conform.numerics.formats import format_of
from conform.numerics.ulp import ulp
from conform.repro.script import Finding, number_literal, tensor_literal
from conform.repro.written import Written
from conform.suites.cases import Draw

LITERALS = 4096  # numbers that a script holds; of more its parameters stand in a file beside it
WORST = 8  # elements that it tells

_OF_FILES = """

def class_in(file, name):
    sys.path.append(os.path.dirname(file))
    spec = importlib.util.spec_from_file_location("module_under_test", file)
    found = importlib.util.module_from_spec(spec)
    sys.modules["module_under_test"] = found
    spec.loader.exec_module(found)
    for part in name.split("."):
        found = getattr(found, part)
    return found
"""

_READER = '''

def tensors_in(path):
    """Those of a safetensors file: a header's length, a header in JSON, the tensors."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        content = bytearray(file.read())
    told = {name: one for name, one in header.items() if name != "__metadata__"}
    return {
        name: torch.frombuffer(content[slice(*one["data_offsets"])], dtype=DTYPES[one["dtype"]]).reshape(one["shape"])
        for name, one in told.items()
    }
'''

_SHOW = '''

def leaves(value):
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from leaves(value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from leaves(getattr(value, name))
    elif value is not None:
        yield value


def text(number):
    return number.hex() if isinstance(number, float) else str(number)


def is_wrong(got, high, low, ulp, allowed):
    """Whether a number is further than `allowed` ulps from the exact high + low."""
    if got == high or (got != got and high != high):
        return False
    return not abs(((got - high) - low) / ulp) <= allowed


outputs = [one.detach().cpu() for one in [*leaves(result), *map(module.get_buffer, updated)]]
found = [(str(one.dtype), list(one.shape)) for one in outputs]
print("expected", wanted, "  actual", found)
if found != wanted:
    sys.exit(1)
wrong = 0
for output, at, expected, high, low, ulp, allowed in worst:
    got = outputs[output].flatten()[at].item()
    mark = is_wrong(got, high, low, ulp, allowed)
    wrong += mark
    print(f"output {output} [{at}]  expected {expected}  actual {text(got)}  allowed {allowed:.4g} ulp of {ulp!r}"
          + ("  wrong" if mark else ""))
sys.exit(wrong > 0)
'''


def module_script(
    finding: Finding, head: Sequence[str], draw: Draw, module: torch.nn.Module, call: Bound, backend: str,
    contract: str, data: str | None,
) -> Written:  # fmt: skip
    """The script: it shows the worst elements as hex, and ends with 1 while one of them is wrong.

    head: its first lines, with the imports; call: that of the finding, bound; data: the name of the file of large
    tensors, None where there is none to be written. UsageError where there are too many numbers then.
    """
    held = {name: to_numpy(one) for name, one in [*module.named_parameters(), *module.named_buffers()]}
    given = finding.candidate.placed()
    count = sum(array.size for array in held.values()) + sum(one.size for one in tensors(given))
    beside = held if count > LITERALS else {}
    if beside and data is None:
        raise UsageError(f"{count:,} numbers are too many for a script (the limit is {LITERALS:,}): --out FILE.py "
                         "writes the script there, and the module's parameters beside it")  # fmt: skip
    constructor = constructor_of(draw)
    made, imports = _construction(constructor)
    imports += ["import json", "import os"] if beside else []
    lines = [*head, *sorted(set(imports)), *(_OF_FILES.splitlines() if _has_file(constructor) else [])]
    lines += ["", *made, "module.eval()", *_dtype(draw)]
    lines += _parameters(held, beside, data)
    lines += ["", *_called(given, backend)]
    lines += _expectations(finding, call, contract)
    return Written("\n".join([*lines, *_SHOW.splitlines()]) + "\n", beside)


# --- The module -------------------------------------------------------------------------------------------------------


def _construction(constructor: Constructor) -> tuple[list[str], list[str]]:
    """The lines that construct it, and the imports that they need."""
    imports = {"import os", "import importlib.util"} if _has_file(constructor) else set()

    def written(value: Any) -> str:
        if isinstance(value, Constructor):
            arguments = [*map(written, value.args), *(f"{key}={written(one)}" for key, one in value.kwargs.items())]
            return f"{name_of(value)}({', '.join(arguments)})"
        if isinstance(value, np.ndarray):
            return tensor_literal(value)
        if isinstance(value, list | tuple):
            items = ", ".join(map(written, value))
            return f"[{items}]" if isinstance(value, list) else f"({items}{',' if len(value) == 1 else ''})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {written(one)}" for key, one in value.items()) + "}"
        return number_literal(value) if isinstance(value, float | complex) else repr(value)

    def name_of(value: Constructor) -> str:
        path = value.path
        if path.file is not None:
            return f"class_in({str(path.file)!r}, {path.attribute!r})"
        package = _package(path.text)
        if package != "torch" and not package.startswith("torch."):
            imports.add(f"import {package}")
        return path.text

    text = written(constructor)
    return [f"torch.manual_seed({constructor.seed})", f"module = {text}"], sorted(imports)


def _package(path: str) -> str:
    """What of an import path is a Python module."""
    import importlib

    names_ = path.split(".")
    for count in range(len(names_) - 1, 0, -1):
        try:
            importlib.import_module(".".join(names_[:count]))
        except ModuleNotFoundError:
            continue
        return ".".join(names_[:count])
    return names_[0]


def _has_file(constructor: Constructor) -> bool:
    parts = [*constructor.args, *constructor.kwargs.values()]
    return constructor.path.file is not None or any(isinstance(one, Constructor) and _has_file(one) for one in parts)


def _dtype(draw: Draw) -> list[str]:
    return [f"module = module.to(torch.{draw.variant['float']})"] if "float" in draw.variant else []


def _parameters(held: dict[str, np.ndarray], beside: dict[str, np.ndarray], data: str | None) -> list[str]:
    lines = []
    if beside:
        found = sorted({format_of(one).name for one in beside.values()})
        dtypes = ", ".join(f"{NATIVE[name]!r}: torch.{name}" for name in found)
        lines += ["", f"DTYPES = {{{dtypes}}}", *_READER.splitlines(), "", ""]
        lines.append(f"parameters = tensors_in(os.path.join(os.path.dirname(os.path.abspath(__file__)), {data!r}))")
    else:
        lines += ["parameters = {", *(f"    {name!r}: {tensor_literal(one)}," for name, one in held.items()), "}"]
    return [
        *lines,
        "with torch.no_grad():",
        "    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:",
        "        tensor.copy_(parameters[name])",
    ]


# --- The call ---------------------------------------------------------------------------------------------------------


def _called(given: Any, backend: str) -> list[str]:
    is_device = names.is_device(backend)
    device = backend if is_device and backend != "cpu" else None
    lines: list[str] = []

    def written(value: Any, name: str) -> str:
        if isinstance(value, np.ndarray | Placed):
            lines.append(f"{name} = {tensor_literal(value)}" + (f".to({device!r})" if device else ""))
            return name
        if isinstance(value, list | tuple):
            items = ", ".join(written(item, f"{name}_{at}") for at, item in enumerate(value))
            return f"[{items}]" if isinstance(value, list) else f"({items}{',' if len(value) == 1 else ''})"
        return number_literal(value) if isinstance(value, float | complex) else repr(value)

    args = [written(value, f"input_{at}") for at, value in enumerate(given.args)]
    kwargs = {key: written(value, f"input_{key}") for key, value in given.kwargs.items()}
    lines.append("with torch.no_grad():")
    if is_device:
        on = f"module.to({device!r})" if device else "module"
        return [*lines, f"    result = {on}({', '.join([*args, *(f'{key}={one}' for key, one in kwargs.items())])})"]
    named = ", ".join(f"{key!r}: {value}" for key, value in kwargs.items())
    return [*lines, f"    result = load({backend!r}).run_module(module, [{', '.join(args)}], {{{named}}})"]


def _expectations(finding: Finding, call: Bound, contract: str) -> list[str]:
    outcome = finding.outcome
    goldens = outcome.goldens if isinstance(outcome, Outcome) else ()
    updated = list(outcome.updated) if isinstance(outcome, Outcome) else []
    wanted = [(f"torch.{one.format.name}", list(one.value.shape)) for one in goldens]
    told = "# output, element in C order, expected, the exact number as two floats, an ulp, how many are allowed"
    worst = [f"    {one}," for one in _worst(finding, call, contract)]
    held = f"updated = {updated!r}  # buffers: what they hold stands behind the results"
    return ["", held, f"wanted = {wanted!r}", told, "worst = [", *worst, "]"]


def _worst(finding: Finding, call: Bound, contract: str) -> Iterator[str]:
    """The elements that are furthest beyond their bounds, the furthest first."""
    outputs, outcome = finding.reply.outputs, finding.outcome
    if finding.verdict.worst is None or not isinstance(outcome, Outcome):
        return
    truth = Golden(call, outcome, contract)
    arrays = tuple(one.array for one in outputs if isinstance(one, Output))
    errors, bounds = truth.error_ulp(arrays if len(arrays) > 1 else arrays[0]), truth.bound_ulp
    errors, bounds = (errors, bounds) if isinstance(errors, tuple) else ((errors,), (bounds,))
    found = []
    for output, (error, bound) in enumerate(zip(errors, bounds, strict=True)):
        beyond = np.where(error > bound, error / np.maximum(bound, 0.5), 0.0).reshape(-1)
        furthest = np.argsort(-beyond, kind="stable")[:WORST]
        found += [(-float(beyond[at]), output, int(at)) for at in furthest if beyond[at]]
    for _, output, at in sorted(found)[:WORST]:
        golden, bound = outcome.goldens[output], float(np.asarray(bounds[output]).reshape(-1)[at])
        expected = golden.value.reshape(-1)[at]
        if golden.real is None or not golden.format.is_float:
            yield repr((output, at, str(expected.item()), expected.item(), 0, 1, 0))
            continue
        real = golden.real.map_parts(lambda part: np.broadcast_to(part, golden.value.shape).reshape(-1)[at])  # noqa: B023
        high, low = float(real.hi), float(real.lo)
        unit = float(ulp(golden.format, np.float64(high)))
        parts = [repr(output), repr(at), repr(float(expected).hex()), *map(number_literal, (high, low, unit, bound))]
        yield f"({', '.join(parts)})"
