"""A failing call written down as a suite file: one test with its elements as literals, to be kept and run again."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from conform.call.arguments import is_tensor, tensors
from conform.errors import UsageError
from conform.foreign import comment, line
from conform.numerics.formats import format_of
from conform.report.schema import Record
from conform.repro.script import Finding
from conform.suites import nodes
from conform.suites.dtypes import kind_of
from conform.suites.generated.as_nodes import written_elements
from conform.suites.generated.yaml_text import lines_of
from conform.suites.nodes import Draw, Node
from conform.suites.test import Test

TEST_ID = "repro"
FILE = "repro.yaml"  # what the command in the file calls it


def suite_file(finding: Finding, record: Record, backend: str, original: Test) -> str:
    """The text of the file; `original` is the test that the call was made from. UsageError for an argument that the
    test language cannot write."""
    candidate, verdict = finding.candidate, finding.verdict
    arguments = candidate.arguments
    numbered = {id(tensor): number for number, tensor in enumerate(tensors(arguments))}

    def node(value: Any) -> Node:
        return as_node(value, {key for key, number in numbered.items() if number in arguments.requires_grad})

    test = replace(
        original, id=TEST_ID, op=candidate.op, inputs=tuple(map(node, arguments.args)), pair=None, domain=None,
        kwargs={name: node(value) for name, value in arguments.kwargs.items()}, cast_input0_to_complex=False,
    )  # fmt: skip
    command = _command(finding, record, backend)
    try:
        entry = list(lines_of(test))
    except ValueError as error:
        raise UsageError(f"case {verdict.id!r}: {error}") from None
    head = [
        comment(f"{verdict.op} on {line(record.backend.name)}: {verdict.reason}"),
        comment(f"Found by {record.kit.name} {record.kit.version}, case {verdict.id}, seed {record.seed}."),
        comment(command),
        "tests:",
    ]
    return "\n".join([*head, *entry]) + "\n"


def _command(finding: Finding, record: Record, backend: str) -> str:
    """What runs the file, and the layout of the case alone; where its check did not count, that counts."""
    layout, invocation = finding.candidate.layout, record.environment.invocation
    words = ["conform", "check", FILE, "--backend", backend]
    words += ["--contract", invocation.contract] if invocation.contract != "opencl" else []
    checks = (invocation.checks or []) if finding.verdict.is_counted else [finding.verdict.check]
    words += ["--checks", ",".join(checks)] if checks else []
    words += ["--threads", str(invocation.threads)] if invocation.threads != 1 else []
    words += ["--layouts", "all", "--id", f"{TEST_ID}/*/{layout}"] if layout != "contiguous" else []
    return shlex.join(words)


def as_node(value: Any, with_grad: Collection[int] = ()) -> Node:
    """An argument as the language writes it, its elements as literals. `with_grad`: the tensors with `requires_grad`,
    by their id(). UsageError for a complex number."""
    if is_tensor(value):
        return _tensor(np.asarray(value), id(value) in with_grad)
    if isinstance(value, list | tuple) and any(map(is_tensor, value)):
        return nodes.Sequence(tuple(as_node(item, with_grad) for item in value), is_tuple=True)
    if isinstance(value, complex):
        raise UsageError(f"the test language cannot write the complex number {value}")
    return nodes.Const(list(value) if isinstance(value, tuple) else value)


def _tensor(array: np.ndarray, requires_grad: bool) -> Node:
    name = format_of(array).name
    if array.size == 0:
        return nodes.Tensor(array.shape, kind_of(name), name, Draw("zeros"), requires_grad=requires_grad)
    return nodes.Tensor(array.shape, kind_of(name), name, None, written_elements(array), requires_grad)
