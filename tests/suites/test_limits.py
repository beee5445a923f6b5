"""Specification: "Error handling and validation": what would need too much is refused unbuilt."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from conform.documents.limits import Limits
from conform.documents.source import SourceError, parse_yaml
from conform.errors import UsageError
from conform.suites.nodes import Const


def test_deep_nesting_is_refused_in_a_process_that_survives(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("tests: " + "[" * 200_000)
    code = f"from conform.suites import load; load([{str(path)!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "s.yaml:1:71: nested more than 64 deep; the limit is 64 (raise it with CONFORM_MAX_DEPTH)" in done.stderr


def test_an_alias_bomb_is_refused_at_once() -> None:
    text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for before, after in zip("abcdefghij", "bcdefghijk", strict=True):
        text += f"{after}: &{after} [{', '.join([f'*{before}'] * 10)}]\n"
    start = time.perf_counter()
    with pytest.raises(SourceError, match="more than 2000000 values \\(aliases written out\\)"):
        parse_yaml(text, Limits())
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{type: tensor, shape: [100000, 100000], kind: float}", "in[0]: a test of 10000000000 tensor elements"),
        ("{type: list, len: 1000000000, elem: {type: const, value: 1}}", "in[0]: a test of 1000000001 values"),
        ("{type: list, len: 300, elem: {type: list, len: 400, elem: {ref: c}}}", "in[0]: a test of 120301 values"),
        ("{type: list, len: 100, elem: {ref: x}}", "in[0]: a test of 100000000 tensor elements"),
        ("{type: tensor, shape: [0, 9223372036854775807], kind: float}", "in[0]: a test of 9223372036854775807 tensor"),
        (f"{{type: tensor, shape: {[1] * 65}, kind: float}}", "in[0].shape: 65 dimensions"),
    ],
)
def test_absurd_sizes_are_refused_with_the_limit(errors, text: str, message: str) -> None:
    head = "presets: {x: {type: tensor, shape: [1000, 1000], kind: float}, c: {type: const, value: 1}}"
    (found,) = errors(f"{head}\ntests: [{{id: t, op: aten::relu, in: [{text}]}}]")
    assert message in found
    assert "; the limit is " in found
    assert "(raise it with CONFORM_MAX_" in found


def test_the_tensors_of_a_test_count_together(errors) -> None:
    tensor = "{type: tensor, shape: [10000, 1000], kind: float}"
    assert "a test of 20000000 tensor elements" in errors(f"tests: [{{op: aten::add, in: [{tensor}, {tensor}]}}]")[0]


def test_presets_that_double_are_refused(errors) -> None:
    presets = "".join(f"  p{n}: {{type: tuple, elems: [{{ref: p{n - 1}}}, {{ref: p{n - 1}}}]}}\n" for n in range(1, 60))
    found = errors(f"presets:\n  p0: {{type: const, value: 1}}\n{presets}tests: []")
    assert "presets.p16: a test of 131071 values; the limit is 100000" in found[0]


def test_a_long_chain_of_presets_is_refused(errors) -> None:
    chain = "".join(f"  p{n}: {{type: optional, elem: {{ref: p{n + 1}}}}}\n" for n in range(5000))
    found = errors(f"presets:\n{chain}  p5000: {{type: const, value: 1}}\ntests: []")
    assert "nested more than 64 deep; the limit is 64" in found[0]


def test_limits_can_be_raised_in_the_environment(loaded, errors, monkeypatch) -> None:
    text = f"tests: [{{op: aten::relu, in: [{{type: tensor, shape: {[1] * 10}, kind: float}}]}}]"
    monkeypatch.setenv("CONFORM_MAX_DIMS", "9")
    assert "10 dimensions; the limit is 9 (raise it with CONFORM_MAX_DIMS)" in errors(text)[0]
    monkeypatch.setenv("CONFORM_MAX_DIMS", "10")
    assert len(loaded(text)) == 1


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("CONFORM_MAX_DIMS", "many", "CONFORM_MAX_DIMS='many': expected a positive integer"),
        ("CONFORM_MAX_DIMS", "0", "CONFORM_MAX_DIMS='0': expected a positive integer"),
        ("CONFORM_MAX_DIMS", "65", "CONFORM_MAX_DIMS=65: expected at most 64"),
        ("CONFORM_MAX_DEPTH", "101", "CONFORM_MAX_DEPTH=101: expected at most 100"),
        ("CONFORM_MAX_TESTS", "9" * 5000, "expected a positive integer"),
    ],
)
def test_what_is_no_limit(loaded, monkeypatch, name: str, value: str, message: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=message):
        loaded("tests: []")


HUGE = "1" + "0" * 400  # beyond float64


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (f"{{type: tensor, shape: [{HUGE}, {HUGE}], kind: float}}", "a test of more than 10^20 tensor elements"),
        (f"{{type: list, len: {HUGE}, elem: {{type: const, value: 1}}}}", "a test of more than 10^20 values"),
        (f"{{type: tensor, shape: [2], kind: float, low: -{HUGE}, high: 1}}", ".low: -1000"),
        (f"{{type: tensor, shape: [2], kind: int, low: 0, high: {HUGE}}}", ".high: 1000"),
        (f"{{type: tensor, shape: [2], kind: float, mean: {HUGE}}}", ".mean: 1000"),
        (f"{{type: tensor, shape: [2], kind: float, std: {HUGE}}}", ".std: 1000"),
        (f"{{type: tensor, shape: [2], kind: int, p: {HUGE}}}", ".p: expected a probability between 0 and 1"),
        (f"{{type: optional, p_none: {HUGE}, elem: {{type: const, value: 1}}}}", ".p_none: expected a probability"),
        (f"{{type: int_list, elems: [1, {HUGE}]}}", ".elems[1]: 1000"),
        (f"{{type: scalar, kind: float, value: {HUGE}}}", ".value: 1000"),
        (f"{{type: const_tensor, shape: [1], dtype: complex64, value: [[0, {HUGE}]]}}", ".value: 1000"),
    ],
)
def test_integers_beyond_every_format(errors, node: str, message: str) -> None:
    (found,) = errors(f"tests: [{{id: t, op: aten::relu, in: [{node}]}}]")
    assert f"in[0]{message}" in found.replace("in[0]: ", "in[0]")
    assert len(found) < 250


def test_nodes_nest_no_deeper_whatever_the_order_of_their_presets(errors) -> None:
    chain = "".join(f"  p{n + 1}: {{type: tuple, elems: [{{ref: p{n}}}]}}\n" for n in range(70))
    (found,) = errors(f"presets:\n  p0: {{type: const, value: 1}}\n{chain}tests: []")
    assert found == "66:8: presets.p64: nested more than 64 deep; the limit is 64 (raise it with CONFORM_MAX_DEPTH)"


def test_variables_inside_of_variables_nest_no_deeper(errors) -> None:
    deep = ", ".join(f"v{n + 1}: [{'[' * 50}{{var: v{n}}}{']' * 50}]" for n in range(20))
    op = f"{{type: template_module, path: a.B, vars: {{v0: [1], {deep}}}, args: [{{var: v20}}]}}"
    (found,) = errors(f"tests: [{{op: {op}, in: []}}]")
    assert "nested more than 64 deep" in found


@pytest.mark.parametrize(
    "op",
    [
        "args: [" + ", ".join(["{var: v}"] * 100) + "]",  # a variable many times
        "args: [[{var: v}, " + ", ".join(["1"] * 100) + "]]",  # a long list around a variable
        "kwargs: {k: {type: tuple, elems: [" + ", ".join(["{var: v}"] * 100) + "]}}",
        "args: [" + ", ".join(["[]"] * 100) + "]",  # many nodes without a variable
    ],
)
def test_what_templates_repeat_counts_as_written(errors, monkeypatch, op: str) -> None:
    monkeypatch.setenv("CONFORM_MAX_NODES", "5000")
    numbers = ", ".join(map(str, range(100)))
    text = f"tests: [{{op: {{type: template_module, path: a.B, vars: {{v: [{numbers}]}}, {op}}}, in: []}}]"
    (found,) = errors(text)
    assert "more than 5000 values (templates written out); the limit is 5000 (raise it with CONFORM_MAX_NODES)" in found


def test_what_reads_no_variable_is_built_once_for_all_assignments(loaded) -> None:
    first, second = loaded("""
        tests:
        - op: {type: template_module, path: a.B, vars: {v: [1, 2]}, args: [[7, 8], {var: v}]}
          in: [{type: tuple, elems: [{type: tensor, shape: [2], kind: float}]}, {type: list, len: 1, elem: {var: v}}]
    """)
    assert first.inputs[0] is second.inputs[0]
    assert first.op.args[0] is second.op.args[0]
    assert (first.inputs[1].element, second.inputs[1].element) == (Const(1), Const(2))
    assert (first.op.args[1], second.op.args[1]) == (Const(1), Const(2))


def test_a_text_with_its_variables_filled_in_is_bounded(errors) -> None:
    op = "{type: template_module, path: 'a.{v}', vars: {v: [" + "A" * 5000 + "]}}"
    (found,) = errors(f"tests: [{{id: t, op: {op}, in: []}}]")
    assert "op.path: more than 4096 characters, with the template variables filled in" in found
