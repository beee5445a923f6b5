"""A failing call written down as a Python script that needs torch alone (or what else the backend needs)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.backends import names
from conform.backends.libraries import LIBRARIES
from conform.backends.reply import Reply
from conform.call import schemas
from conform.call.arguments import Arguments, is_tensor
from conform.call.variants import Variant, variant_of
from conform.errors import InvalidArguments
from conform.foreign import comment, line
from conform.inputs.layouts import Placed
from conform.interp.golden import Golden, Outcome
from conform.judging.verdict import ALIASING, Verdict
from conform.numerics.formats import format_of
from conform.numerics.real import Real
from conform.numerics.ulp import ulp
from conform.report.schema import Record
from conform.repro.shrink import Candidate

_CONSTANTS = ("ScalarType", "MemoryFormat", "Layout")  # attributes of torch, which the kit names by strings
# A comment in the first two lines of a file, so a backend's name or message, could else choose an encoding in which
# what follows in it is code (PEP 263).
ENCODING = "# A failing call, made small. -*- coding: utf-8 -*-"
_PARTS = {"float": "float64", "complex": "complex128"}

_SHOW = '''

def text(number):
    if isinstance(number, complex):
        return f"({number.real.hex()}, {number.imag.hex()})"
    return number.hex() if isinstance(number, float) else str(number)


def wide(tensor):
    kind = torch.complex128 if tensor.is_complex() else torch.float64
    return tensor.cpu().to(kind) if tensor.is_floating_point() or tensor.is_complex() else tensor.cpu()


print("expected", expected.dtype, list(expected.shape), "  actual", actual.dtype, list(actual.shape))
if (expected.dtype, expected.shape) != (actual.dtype, actual.shape):
    sys.exit(1)
pairs = list(zip(wide(expected).flatten().tolist(), wide(actual).flatten().tolist()))
for place, (wanted, got) in enumerate(pairs):
    if len(pairs) <= 16 or text(wanted) != text(got):
        mark = "" if text(wanted) == text(got) else "  differs"
        print(f"[{place}]  expected {text(wanted)}  actual {text(got)}{mark}")
'''


@dataclass(frozen=True)
class Finding:
    """A call, what it means, what the backend answered, and the verdict on that."""

    candidate: Candidate
    outcome: Outcome | Exception
    reply: Reply
    verdict: Verdict

    @property
    def focus(self) -> tuple[int, ...]:
        """The index of the worst element, empty where there is none."""
        return self.verdict.worst.index if self.verdict.worst else ()

    @property
    def updated(self) -> tuple[str, ...]:
        """The arguments that the call is to change, though no result shows it."""
        return self.outcome.updated if isinstance(self.outcome, Outcome) else ()


def script(finding: Finding, record: Record, backend: str, imports: Sequence[str] = ()) -> str:
    """The script: it shows expected and actual as hex, and ends with 1 while the backend is wrong, 0 when it is not."""
    arguments = finding.candidate.placed()
    is_device = names.is_device(backend)
    lines = [*head(finding, record, is_device, imports), ""]
    inputs, call = _call(finding.candidate.op, arguments, backend, is_device)
    lines += [*inputs, ""]
    if isinstance(finding.outcome, InvalidArguments):
        lines += [f"print({call})  {comment(f'must raise: {finding.outcome}')}", "sys.exit(1)"]
    elif finding.reply.status != "ok":
        ends = comment(f"{finding.verdict.status}: {finding.verdict.reason}")
        lines += [*_expected(finding, 0), "", f"print({call})  {ends}"]
    elif finding.reply.mutated or finding.reply.overrun:
        lines += _mutation(finding, inputs, call)
    elif finding.verdict.check == ALIASING and variant_of(finding.candidate.op) is None:
        lines += _aliasing(finding, inputs, call)
    else:
        lines += _comparison(finding, call)
    return "\n".join(lines) + "\n"


def head(finding: Finding, record: Record, is_device: bool, imports: Sequence[str]) -> list[str]:
    """The first lines: what was found, where, and the imports."""
    verdict, told = finding.verdict, record.backend
    version = f" {line(told.version)}" if told.version else ""
    lines = [
        ENCODING,
        comment(f"{verdict.op} on {line(told.name)}{version}: {verdict.reason}"),
        comment(f"Found by {record.kit.name} {record.kit.version}, case {verdict.id}, seed {record.seed}."),
    ]
    if verdict.contract is not None:
        bound = "" if verdict.contract.bound is None else f" {verdict.contract.bound}"
        lines.append(comment(f"Contract {record.contract}: {verdict.contract.kind}{bound}; {verdict.contract.source}."))
    if not is_device:
        lines.append("# The backend is no device of torch, so this needs conform to load it.")
    loading = [] if is_device else ["from conform.backends.names import load"]
    loading += [f"import {module}" for module in imports]
    threads = f"torch.set_num_threads({record.environment.invocation.threads})"
    return [*lines, "import sys", "", "import torch", *loading, "", threads, 'nan, inf = float("nan"), float("inf")']


# --- Inputs -----------------------------------------------------------------------------------------------------------


def _call(op: str, arguments: Arguments, backend: str, is_device: bool) -> tuple[list[str], str]:
    """The lines that make the tensors, and the expression of the call."""
    declared = schemas.schema(op).arguments
    positional = [one for one in declared if not one.kwarg_only]
    by_name = {one.name: one for one in declared}
    device = backend if is_device and backend != "cpu" else None
    lines: list[str] = []
    counter = iter(range(10**6))

    def written(value: Any, name: str, type_: str) -> str:
        if isinstance(value, list | tuple):
            items = [written(item, f"{name}_{at}", type_) for at, item in enumerate(value)]
            return f"[{', '.join(items)}]"
        if not is_tensor(value):
            return _constant(value, type_)
        suffix = f".to({device!r})" if device else ""
        grad = ".requires_grad_()" if next(counter) in arguments.requires_grad else ""
        lines.append(f"{name} = {tensor_literal(value)}{suffix}{grad}")
        return name

    args = [written(value, positional[at].name, positional[at].type) for at, value in enumerate(arguments.args)]
    kwargs = {name: written(value, name, by_name[name].type) for name, value in arguments.kwargs.items()}
    if is_device:
        packet, _, overload = op.replace("::", ".").partition(".")[2].partition(".")
        namespace = op.partition("::")[0]
        given = [*args, *(f"{name}={value}" for name, value in kwargs.items())]
        loading = [f"import {LIBRARIES[namespace]}"] if namespace in LIBRARIES else []
        return [*loading, *lines], f"torch.ops.{namespace}.{packet}.{overload or 'default'}({', '.join(given)})"
    named = ", ".join(f"{name!r}: {value}" for name, value in kwargs.items())
    return lines, f"load({backend!r}).run({op!r}, [{', '.join(args)}], {{{named}}})"


def _constant(value: Any, type_: str) -> str:
    if isinstance(value, str) and type_.removesuffix("?") in _CONSTANTS and value.isidentifier():
        return f"torch.{value}"
    return number_literal(value) if isinstance(value, float | complex) else repr(value)


def tensor_literal(tensor: np.ndarray | Placed) -> str:
    """An expression for the tensor, exact, with its strides where it has its own."""
    if isinstance(tensor, Placed):
        base = _elements(tensor.storage)
        return f"{base}.as_strided({list(tensor.shape)}, {list(tensor.strides)}, {tensor.offset})"
    shape = "" if tensor.ndim == 1 and tensor.size else f".reshape({list(tensor.shape)})"
    return f"{_elements(tensor.reshape(-1))}{shape}"


def _elements(flat: np.ndarray) -> str:
    fmt = format_of(flat)
    wide = flat.astype(_PARTS[fmt.kind]) if fmt.kind in _PARTS else flat
    numbers = f"[{', '.join(map(number_literal, wide.tolist()))}]"
    if fmt.is_float and fmt.bits <= 8:
        return f"torch.tensor({numbers}, dtype=torch.float32).to(torch.{fmt.name})"
    return f"torch.tensor({numbers}, dtype=torch.{fmt.name})"


def number_literal(number: complex) -> str:
    """Python's own shortest form; nan and inf as the script's names."""
    if isinstance(number, complex):
        return f"complex({number_literal(number.real)}, {number_literal(number.imag)})"
    return repr(number)


# --- Expected against actual ------------------------------------------------------------------------------------------


def _expected(finding: Finding, output: int) -> list[str]:
    if not isinstance(finding.outcome, Outcome):
        return []
    golden = finding.outcome.goldens[output]
    return [f"expected = {None if golden.is_none else tensor_literal(np.asarray(golden.value))}"]


def _comparison(finding: Finding, call: str) -> list[str]:
    worst, outcome = finding.verdict.worst, finding.outcome
    output = worst.output if worst else _differing_output(finding)
    lines = [*_expected(finding, output), "", *_calling(finding, output, call)]
    if isinstance(outcome, Outcome) and outcome.goldens[output].is_none:
        return [*lines, "", 'print("expected None, actual", actual)', "sys.exit(actual is not None)"]
    lines += _SHOW.splitlines()
    if worst is None or not isinstance(outcome, Outcome):
        return lines
    return lines + _end(finding, outcome.goldens[output])


def _calling(finding: Finding, output: int, call: str) -> list[str]:
    """The lines that make of the call `actual`, its output of that number."""
    outcome, variant = finding.outcome, variant_of(finding.candidate.op)
    if isinstance(outcome, Outcome) and (holder := outcome.holder_of(output)) is not None:
        return [call, f"actual = {holder}"]
    called = f"{call}[{output}]" if isinstance(outcome, Outcome) and len(outcome.results) > 1 else call
    if variant is None:
        return [f"actual = {called}"]
    name = _holders(variant, finding.candidate.arguments)[output]
    return _written(name, called) if variant.schema.returns else _held(name, call)


def _holders(variant: Variant, arguments: Arguments) -> list[str]:
    """What the script calls the tensors that hold the results, in their order: `self`, or `self_1` of a list."""
    positional = [one.name for one in variant.schema.arguments]
    given = {**dict(zip(positional, arguments.args, strict=False)), **arguments.kwargs}
    return [name.replace("[", "_").removesuffix("]") for name, _ in variant.held_by(given)]


def _held(name: str, call: str) -> list[str]:
    """What counts is what the argument holds in the strides that it had; but for one that had no elements, and may have
    been resized."""
    return [
        f"held = {name}.as_strided({name}.shape, {name}.stride(), {name}.storage_offset())",
        call,
        f"actual = held if held.numel() else {name}",
    ]


def _written(name: str, call: str) -> list[str]:
    """What the argument holds, which is what must have been returned."""
    return [
        *_held(name, f"returned = {call}"),
        "if returned.device == actual.device and str(returned.tolist()) != str(actual.tolist()):",
        f"    print({name!r}, 'holds', actual.tolist(), 'but what is returned is', returned.tolist())",
        "    sys.exit(1)",
    ]


def _differing_output(finding: Finding) -> int:
    """The output whose shape or dtype is wrong: the verdict's reason names it."""
    words = (finding.verdict.reason or "").split()
    return int(words[1].rstrip(":")) if words[:1] == ["output"] else 0


def _end(finding: Finding, golden: Golden) -> list[str]:
    """The exit code: by the worst element where its error is beyond a bound, else by what is not as expected."""
    worst, reason = finding.verdict.worst, finding.verdict.reason or ""
    is_far = reason.startswith("error above the bound")
    if not is_far or worst is None or worst.bound_ulp is None or golden.real is None:
        return ["", "sys.exit(any(text(wanted) != text(got) for wanted, got in pairs))"]
    at = int(np.ravel_multi_index(worst.index, golden.value.shape)) if worst.index else 0
    real = golden.real[worst.index]
    unit = float(ulp(golden.format, np.float64(real.hi)))
    return [
        "",
        f"# Element {at} is exactly {float(real.hi)!r} + {float(real.lo)!r}, where an ulp is {unit!r}.",
        f"error_ulp = abs(((pairs[{at}][1] - {float(real.hi)!r}) - {float(real.lo)!r}) / {unit!r}{_rest(real, unit)})",
        f'print(f"[{at}]  error {{error_ulp:.4g}} ulp, allowed {worst.bound_ulp:.4g}")',
        f"sys.exit(not error_ulp <= {worst.bound_ulp!r})",
    ]


def _rest(real: Real, unit: float) -> str:
    """What float64 cannot hold of a subnormal result, in ulps, to be taken off."""
    rest_ulp = 0.0 if real.rest is None else math.ldexp(float(real.rest), -1074 - math.frexp(unit)[1] + 1)
    return f" - {rest_ulp!r}" if rest_ulp else ""


def _aliasing(finding: Finding, inputs: Sequence[str], call: str) -> list[str]:
    """Whether the output lies in the memory of a tensor that goes in, as it must or must not."""
    names = [line.partition(" = ")[0] for line in inputs]
    expected = bool(finding.reply.apart)
    return [
        f"result = {call}",
        f"output = result if isinstance(result, torch.Tensor) else result[{_differing_output(finding)}]",
        f"memories = [one.untyped_storage().data_ptr() for one in [{', '.join(names)}]]",
        "is_shared = output.untyped_storage().data_ptr() in memories",
        f'print("the output lies in the memory of an argument:", is_shared, "expected:", {expected})',
        f"sys.exit(is_shared != {expected})",
    ]


_MEMORY = """

def memory(tensor, is_written):
    whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(tensor.untyped_storage())
    kept = torch.ones(whole.shape, dtype=torch.bool, device=tensor.device)
    if is_written:
        kept.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).fill_(False)
    return whole, kept

"""


def _mutation(finding: Finding, inputs: Sequence[str], call: str) -> list[str]:
    """What stands in the memory of all tensors, but for the elements of those that the op writes into, stays."""
    names = [line.partition(" = ")[0] for line in inputs]
    variant = variant_of(finding.candidate.op)
    into = (*(_holders(variant, finding.candidate.arguments) if variant else ()), *finding.updated)
    written = {name: name in into for name in names}
    return [
        *_MEMORY.splitlines(),
        f"tensors = [{', '.join(f'({name}, {is_written})' for name, is_written in written.items())}]",
        "memories = [memory(*one) for one in tensors]",
        "before = [whole[kept] for whole, kept in memories]",
        call,
        f"for name, old, (whole, kept) in zip({names!r}, before, memories):",
        "    print(name, 'before', old.tolist(), 'after', whole[kept].tolist())",
        "after = [whole[kept] for whole, kept in memories]",
        "sys.exit(any(str(old.tolist()) != str(new.tolist()) for old, new in zip(before, after)))",
    ]
