"""A golden and a failure as a person sees them: text, and HTML for notebooks. Short, however large the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from conform.numerics.formats import format_of
from conform.report.failure import block, findings, headline
from conform.report.numbers import COMPONENTS, decimal
from conform.report.record import case_json, json_value

if TYPE_CHECKING:
    from conform.api import Golden
    from conform.interp.golden import Golden as OutputGolden
    from conform.judging.verdict import Verdict

SHOWN = 8
_LONGEST = 200  # characters of an argument


def failure_text(verdict: Verdict) -> str:
    """The failure block of one verdict: what is wrong, the worst element with what reaches it, its error and bound."""
    case: Any = json_value(case_json(verdict))
    return block(headline(verdict.status.upper(), case), findings(case))


def text(golden: Golden) -> str:
    """The op with its arguments, each output's first elements, and by which rows of the contract it is judged."""
    lines = [f"golden of {golden.call.op}({_arguments(golden)}), contract {golden.contract}"]
    return "\n".join([*lines, *(f"  {label}  {told}" for label, told in _lines(golden))])


def html(golden: Golden) -> str:
    """The same as a table."""
    call = f"{golden.call.op}({_arguments(golden)})"
    head = f"<caption><code>{escape(call)}</code>, contract {escape(golden.contract)}</caption>"
    rows = [f"<tr><th>{escape(label)}</th><td>{escape(told)}</td></tr>" for label, told in _lines(golden)]
    return f"<table>{head}{''.join(rows)}</table>"


def _lines(golden: Golden) -> list[tuple[str, str]]:
    lines = []
    for number, (output, row) in enumerate(zip(golden.outcome.goldens, golden.rows, strict=True)):
        label = f"output {number}" if len(golden.outcome.goldens) > 1 else "value"
        if output.is_none:
            lines.append((label, "None"))
            continue
        lines.append((label, f"{_tensor(output.value)}: {_elements(output)}"))
        figure = "" if row.bound is None else f"{row.bound:g} "
        lines.append(("bound", f"{figure}{row.rule}; {row.source}"))
        if output.budget is not None and (count := np.count_nonzero(np.isinf(output.budget))):
            told = f"{count} of {output.value.size} elements are not judged: nothing bounds their error"
            lines.append(("no bound", told))
        if output.open is not None:
            count = np.count_nonzero(output.open)
            lines.append(("open", f"{count} of {output.value.size} elements are not judged ({output.open_rule})"))
    for name, output in golden.left.items():
        lines.append((f"{name} after the call", f"{_tensor(output.value)}: {_elements(output)}"))
    width = max((len(label) for label, _ in lines), default=0)
    return [(f"{label:<{width}}", told) for label, told in lines]


def _arguments(golden: Golden) -> str:
    return ", ".join(_argument(value) for value in golden.call.arguments.values())


def _argument(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return _tensor(np.asarray(value))
    if isinstance(value, list | tuple):
        more = [f"... {len(value) - SHOWN} more"] if len(value) > SHOWN else []
        return f"[{', '.join([*map(_argument, value[:SHOWN]), *more])}]"
    told = repr(value)
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."


def _tensor(array: np.ndarray) -> str:
    return f"{format_of(array).name}{list(array.shape)}"


def _elements(output: OutputGolden) -> str:
    size, fmt = output.value.size, output.format
    first = [_number(element.item(), fmt.name) for element in islice(output.value.flat, SHOWN)]
    more = [f"... {size - SHOWN:,} more"] if size > SHOWN else []
    return ", ".join([*first, *more]) if size else "no elements"


def _number(value: Any, dtype: str) -> str:
    if isinstance(value, complex):
        parts: Sequence[float] = (value.real, value.imag)
        real, imag = (decimal(part, COMPONENTS[dtype]) for part in parts)
        return f"({real}, {imag})"
    return str(value) if isinstance(value, bool) else decimal(value, dtype)
