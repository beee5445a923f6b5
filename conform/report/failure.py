"""One failing case in words: where, with which inputs, what was expected, by whose bound, and how to repeat it."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Mapping, Sequence

from conform.foreign import escaped
from conform.judging.verdict import DETERMINISM, GRADIENTS
from conform.report.layout import command, hanging
from conform.report.numbers import element_text

SHOWN_VALUES = 8
COMMAND = "conform "  # how a text begins that is a command of the shell


def details(case: Mapping, record: Mapping) -> list[tuple[str, str]]:
    """(label, text) lines of one failing case of `record`."""
    place = case["id"] + (f" ({_location(case, record)})" if case["location"] else "")
    # A label on every line of a log: none of it reads like a line of the kit's.
    printed = [("printed", text) for text in record["environment"].get("logs", {}).get(case["id"], ())]
    lines = [("case", place), *findings(case), *printed]
    if case["location"]:  # a module that was given in Python stands in no suite
        lines.append(("repeat", repeat_command(case, record)))
    lines += [("repro", command) for command in [repro_command(case, record)] if command]
    return [(label, escaped(text)) for label, text in lines]


def findings(case: Mapping) -> list[tuple[str, str]]:
    """(label, text) lines of what is wrong with a result, whatever made the case."""
    lines: list[tuple[str, str]] = []
    if case["worst"] is not None:
        lines += _worst_lines(case["worst"])
        lines.append(("error", error_line(case["worst"])))
    if case["contract"] is not None:
        lines += [("bound", bound_text(case["contract"])), ("source", case["contract"]["source"])]
    if case["compared"]:
        lines.append(("elements", f"{case['failed']} of {case['compared']} outside the bound"))
    return lines


def headline(status: str, case: Mapping) -> str:
    """`FAIL aten::exp float32: error above the bound`."""
    return f"{status} {case['op']} {case['dtype']}: {case['reason']}"


def block(head: str, lines: Sequence[tuple[str, str]], width: int | None = None) -> str:
    """A headline, and under it the lines, within `width` columns."""
    column = max((len(label) for label, _ in lines), default=0)
    below = [part for label, text in lines for part in _within(f"  {label:<{column}}  ", text, width)]
    return "\n".join([*hanging("", head, width), *below])


def _within(label: str, text: str, width: int | None) -> list[str]:
    if text.startswith(COMMAND):
        return command(label, shlex.split(text), width)
    return hanging(label, text, width)


def _location(case: Mapping, record: Mapping) -> str:
    """`path/to/mine.yaml:12`: with the path by which the file was given, which the record has for the command alone."""
    file, _, line = case["location"].rpartition(":")
    names = record["suite"]["names"]
    given = dict(zip(names, record["environment"]["invocation"].get("suites", names), strict=True))
    return f"{given.get(file, file)}:{line}"


def _worst_lines(worst: Mapping) -> list[tuple[str, str]]:
    lines = [("worst at", f"{place(worst)}, {worst['dtype']}")]
    lines += [(operand["name"], operand_text(operand)) for operand in worst["inputs"]]
    lines.append(("expected", element_text(worst["expected"])))
    lines.append(("actual", element_text(worst["actual"])))
    return lines


def place(worst: Mapping | None) -> str:
    """`output 0, index [1, 2]`."""
    if worst is None:
        return ""
    holder = worst.get("holder")
    held = f"output {worst['output']}" if holder is None else f"{holder} after the call"
    return f"{held}, index {worst['index']}"


def operand_text(operand: Mapping) -> str:
    """`float32 [2, 3]: 0.1 = 0x1.99999ap-4`; a long row is cut and says how many elements there are."""
    shape = "" if operand["shape"] is None else f" {operand['shape']}"
    head = f"{operand['dtype']}{shape}: " if operand["dtype"] else ""
    shown = operand["values"][:SHOWN_VALUES]
    more = operand["count"] - len(shown)
    return head + ", ".join(element_text(value) for value in shown) + (f", ... {more} more" if more > 0 else "")


def aligned(lines: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of text, the labels in a column of their own."""
    width = max((len(label) for label, _ in lines), default=0)
    return [f"{label:<{width}}  {text}" for label, text in lines]


def error_line(worst: Mapping) -> str:
    """`7.25 ulp, bound 3 ulp`."""
    if worst["error_ulp"] is None:
        return "not equal"
    bound = "must be equal" if worst["bound_ulp"] is None else f"bound {float(worst['bound_ulp']):.6g} ulp"
    return f"{float(worst['error_ulp']):.6g} ulp, {bound}"


def bound_text(contract: Mapping) -> str:
    """Kind and bound of a contract row: `ulp 3`, `derived running error of ...`, `exact`."""
    bound = contract["bound"]
    written = f"{bound:.3g}" if isinstance(bound, (int, float)) else bound
    return " ".join(part for part in (contract["kind"], written) if part)


def repro_command(case: Mapping, record: Mapping) -> str | None:
    """The command that makes this case a small script, where the record was written; a backend in a file or a folder
    must be named again. None for one that no command can name."""
    invocation = record["environment"]["invocation"]
    directory, backend = invocation.get("out"), invocation.get("backend", record["backend"]["name"])
    has_none = case["check"] == DETERMINISM or case.get("gradient") or case["layout"] == CONSTANTS
    if directory is None or backend is None or has_none:
        return None
    named = ["--backend", backend] if any(sign in backend for sign in KERNELS) else []
    modules = [word for name in invocation.get("imports", ()) for word in ("--import", name)]
    return shlex.join(["conform", "repro", case["id"], "--run", directory, *named, *modules])


def repeat_command(case: Mapping, record: Mapping) -> str:
    """The command that runs this case again and nothing else; a call, where the backend was given as a Python object.

    A case id fixes dtype, value class, layout and sample, but the options must span it: a user's own file is run with
    one dtype, typical values and layouts as written unless told otherwise.
    """
    invocation = record["environment"]["invocation"]
    backend = invocation.get("backend", record["backend"]["name"])
    contract = invocation.get("contract", record["contract"])
    suites = _suites_of(case, record)
    options: dict[str, object] = {"ids": glob.escape(case["id"]), "seed": record["seed"]}
    sample = case["id"].removeprefix(f"{case['test']}/").split("/")[3:]
    if case["check"] == DETERMINISM:
        options["determinism"] = max(case["checks"], 2)
        sample = sample[:-1]  # REPEATED
    if sample and sample[-1] == GRADIENTS:
        options["gradients"] = True
    if sample and re.fullmatch(r"\d{1,9}", sample[0]):  # else the id is of a record that others wrote
        options["samples"] = int(sample[0]) + 1
    if any(name.endswith((".yaml", ".yml")) for name in suites):
        options["dtypes"] = case["dtype"]
        options |= {"values": "all"} if case["values"] != "typical" else {}
        options |= {"layouts": "all"} if case["layout"] != "contiguous" else {}
    options |= {"contract": contract} if contract != "opencl" else {}
    options |= {"manifest": given} if (given := invocation.get("manifest")) else {}
    options |= {"arguments": given} if (given := invocation.get("args")) else {}
    options |= {"oracle": given} if (given := invocation.get("oracle", "interp")) != "interp" else {}
    options |= {"checks": ",".join(given)} if (given := invocation.get("checks")) else {}
    options |= {"imports": given} if (given := invocation.get("imports")) else {}
    options |= {"threads": given} if (given := invocation.get("threads", 1)) != 1 else {}
    if backend is None:
        given = ", ".join(f"{option}={value!r}" for option, value in options.items())
        return f"conform.check({list(suites)!r}, backend={record['backend']['name']}, {given})"
    words = [word for option, value in options.items() for word in _words(option, value)]
    return shlex.join(["conform", "check", *suites, "--backend", backend, *words])


def _words(option: str, value: object) -> tuple[str, ...]:
    """An option as the command takes it: a flag is its name alone, of several values each has the name."""
    name = _OPTIONS.get(option, f"--{option}")
    if value is True:
        return (name,)
    return tuple(word for one in (value if isinstance(value, list) else [value]) for word in (name, str(one)))


# Those whose name in Python is another.
_OPTIONS = {"ids": "--id", "dtypes": "--dtype", "arguments": "--args", "imports": "--import"}

PROGRAMS, CONSTANTS = ".mlir", "constants"  # as suites name them, which a record outlives
KERNELS = ("::", "folder:")  # in names of backends that are files or folders


def _suites_of(case: Mapping, record: Mapping) -> Sequence[str]:
    """The suites that hold the case: of a StableHLO program its file, which the case is named by."""
    names = record["suite"]["names"]
    given = record["environment"]["invocation"].get("suites", names)
    own = dict(zip(names, given, strict=False)).get(case["id"].partition("@")[0])
    return given if own is None or not own.endswith(PROGRAMS) else [own]
