"""Specification: "Error handling and validation"; and safe reading: what is refused before anything is built."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from conform.documents.limits import Limits
from conform.documents.source import Position, SourceError, parse_yaml, position_of
from conform.errors import UsageError
from conform.suites import load, validate
from conform.suites.nodes import Const


def test_arguments_that_do_not_fit_are_reported_beside_other_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("""\
presets:
  x: {type: tensor, shape: [2, 2], kind: float}
tests:
  - {id: one, op: aten::exp, in: [{ref: x, dtyp: int8}]}
  - {id: two, op: aten::mm, in: [{ref: x}]}
  - {id: three, op: aten::mm, in: [{ref: x}, {ref: x}]}
""")
    with pytest.raises(UsageError) as caught:
        validate([path])
    lines = str(caught.value).replace(f"{path}:", "").splitlines()
    assert lines[0].startswith("4:")
    assert "unknown key 'dtyp'" in lines[0]
    assert lines[1] == "5:33: test 'two': aten::mm: no overload takes (tensor of shape [2, 2]); torch has"
    assert not any("three" in line for line in lines)


def test_what_refers_to_a_wrong_preset_is_not_blamed_for_it(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("""\
presets:
  x: {type: tensor, shape: [2, 2], kind: flaot}
tests:
  - {id: one, op: aten::exp, in: [{ref: x}]}
""")
    with pytest.raises(UsageError, match=r"^[^\n]*'flaot'[^\n]*$"):
        validate([path])


def test_all_errors_of_a_file_are_reported_at_once_in_order(errors) -> None:
    assert errors("""\
        dims: {N: 2}
        presets:
          x: {type: tensor, shape: [M], kind: float}
        tests:
          - id: one
            op: aten::rleu
            in: [{ref: x}, {type: tensr}]
          - op: aten::add
            in: [{ref: y}]
            kwargs: {alpa: {type: const, value: 2}}
          - {id: three, op: {type: module, path: torch.nn.ReLU}, ins: [], in: []}
    """) == [
        "3:29: presets.x.shape[0]: unknown dimension 'M'; known: N",
        "6:9: test 'one' (aten::rleu), op: unknown operator 'aten::rleu'; did you mean 'aten::relu'?",
        "7:20: test 'one' (aten::rleu), in[1]: unknown node type 'tensr'; did you mean 'tensor'?",
        "9:16: test number 2 (aten::add), in[0].ref: unknown preset 'y'; known: x",
        "10:14: test number 2 (aten::add), kwargs.alpa: aten::add has no argument 'alpa'; did you mean 'alpha'?",
        "11:58: test 'three' (torch.nn.ReLU), ins: unknown key 'ins'; did you mean 'in'?",
    ]


def test_a_mistake_hides_no_other(errors) -> None:
    assert errors("""\
        dims: {N: 2, M: -1}
        presets:
          x: {type: tensor, shape: [Q], kind: float}
          y: {type: tensr}
        colour: red
        tests:
          - {id: one, op: aten::rleu, in: [{ref: x}, {ref: y}, {ref: z}]}
          - {id: one, op: aten::neg, in: [{type: tensor, shape: [N, M, R], kind: float, kindd: int}]}
          - {id: two, op: aten::neg, in: [{ref: w}], device: xla}
          - {op: {type: template_module, path: a.B, vars: {v: []}}, in: [{ref: {var: v}}]}
          - {id: one, op: aten::neg}
          - 3
    """) == [
        "1:17: dims.M: expected a non-negative integer, found -1",
        "3:29: presets.x.shape[0]: unknown dimension 'Q'; known: N, M",
        "4:6: presets.y: unknown node type 'tensr'; did you mean 'tensor'?",
        "5:1: colour: unknown key 'colour'; expected include, dims, presets, tests",
        "7:19: test 'one' (aten::rleu), op: unknown operator 'aten::rleu'; did you mean 'aten::relu'?",
        "7:62: test 'one' (aten::rleu), in[2].ref: unknown preset 'z'; known: x, y",
        "8:10: test 'one' (aten::neg), id: the id 'one' is already that of a test at suite.yaml:7",
        "8:64: test 'one' (aten::neg), in[0].shape[2]: unknown dimension 'R'; known: N, M",
        "8:81: test 'one' (aten::neg), in[0].kindd: unknown key 'kindd'; did you mean 'kind'?",
        "9:41: test 'two' (aten::neg), in[0].ref: unknown preset 'w'; known: x, y",
        "9:54: test 'two' (aten::neg), device: expected 'cpu', 'gpu', 'cuda' or 'mps', found 'xla'",
        "10:55: test number 4 (a.B), op.vars.v: expected at least one item, found none",
        "11:5: test 'one' (aten::neg), in: the key 'in' is missing",
        "11:10: test 'one' (aten::neg), id: the id 'one' is already that of a test at suite.yaml:8",
        "12:5: test number 6: expected a mapping, found 3",
    ]


@pytest.mark.parametrize("header", ["include: none.yaml", "dmis: {N: 3}", "presets: 3"])
def test_names_that_may_be_missing_for_another_mistake_are_not_reported(errors, header: str) -> None:
    tests = "tests: [{id: a, op: aten::neg, in: [{ref: x}, {type: tensor, shape: [N], kind: flot}]}]"
    first, second = errors(f"{header}\n{tests}")
    assert first.startswith("1:")
    assert "found 'flot'" in second


def test_the_number_of_reported_errors_is_bounded(errors) -> None:
    found = errors("tests:\n" + "- {op: aten::relu, in: [3]}\n" * 1000)
    assert len(found) == 51
    assert found[-1] == "(the first 50 errors; there may be more)"


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("a: [1,\nb: 2", (3, 1), "not YAML: did not find expected ',' or ']' while parsing a flow sequence"),
        (
            "a: !!python/object:os.system x",
            (1, 4),
            "tag 'tag:yaml.org,2002:python/object:os.system': test files have no tags",
        ),
        ("a: !!str 1", (1, 4), "tag 'tag:yaml.org,2002:str': test files have no tags"),
        ("a: &x [*x]", (1, 8), "alias *x stands inside its own anchor"),
        ("a: *x", (1, 4), "alias *x has no anchor &x before it"),
        ("a: 1\nb: 2\na: 3", (3, 1), "key 'a' is given twice; first at line 1"),
        ("<<: {}", (1, 1), "merge keys ('<<') are YAML 1.1; use presets"),
        ("1: 2", (1, 1), "key 1 is no string; write it in quotes if it is meant as one"),
        ("? \n: 2", (1, 2), "key null is no string; write it in quotes if it is meant as one"),
        ("[&a [1], {*a : 2}]", (1, 11), "a list or mapping as a key; keys are strings"),
        ('"\\uffffnode": 1', (1, 1), r"key '\uffffnode' holds what is no character"),
        ("? [a]\n: 1", (1, 3), "a list or mapping as a key; keys are strings"),
        ("a: 1\n---\nb: 2", (2, 1), "a second document ('---'); a test file is one document"),
        ("%YAML 1.1\n---\na: 1", (1, 1), "test files are YAML 1.2; remove the %YAML directive"),
        ("a: 1e999", (1, 4), "1e999 is beyond float64; write .inf for infinity"),
        ("a: " + "9" * 5000, (1, 4), "a number of 5000 characters; at most 1000 are read"),
        ("a: \x07", (1, 4), "not YAML: character 7 is not allowed"),
    ],
)
def test_what_cannot_be_read_says_where(text: str, position: tuple[int, int], message: str) -> None:
    with pytest.raises(SourceError) as error:
        parse_yaml(text, Limits())
    assert (tuple(error.value.position), error.value.message) == (position, message)


def test_a_file_must_be_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"tests:\n- \xff")
    with pytest.raises(UsageError, match=r"s\.yaml:2:3: byte 0xff is not UTF-8; test files are UTF-8"):
        load([path])


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


def test_aliases_are_values_like_any_other(loaded) -> None:
    first, second = loaded(
        "tests:\n- {id: a, op: aten::relu, in: &x [{type: const, value: 1}]}\n- {id: b, op: aten::neg, in: *x}"
    )
    assert first.inputs == second.inputs


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


def test_messages_carry_nothing_that_steers_a_terminal(errors) -> None:
    found = errors('tests: [{id: a, op: "aten::\\e[31m", in: [], "\\e[2J": 1}]\n"\\e[2J": 1')
    assert len(found) == 3
    assert all(line.isprintable() for line in found)


def test_a_mistake_in_a_constructors_argument_hides_no_name(errors) -> None:
    assert errors("""\
        tests:
          - id: module
            op: {type: module, path: a.B, args: [{type: tensr}, {ref: x}], kwargs: {k: {type: lst}, l: {ref: y}}}
            in: [{ref: z}]
          - id: pair
            op:
              type: template_compare_pair
              vars: {v: [1]}
              a: {impl: a, type: module, path: a.B, args: [{type: tensr}, {var: w}]}
              b: {impl: b, type: module, path: a.B, kwargs: {k: {type: int_list, elems: []}, l: {var: u}}}
            in: [{var: v}]
    """) == [
        "3:42: test 'module' (a.B), op.args[0]: unknown node type 'tensr'; did you mean 'tensor'?",
        "3:63: test 'module' (a.B), op.args[1].ref: unknown preset 'x'; the file has no presets",
        "3:80: test 'module' (a.B), op.kwargs.k: unknown node type 'lst'; did you mean 'list'?",
        "3:102: test 'module' (a.B), op.kwargs.l.ref: unknown preset 'y'; the file has no presets",
        "4:16: test 'module' (a.B), in[0].ref: unknown preset 'z'; the file has no presets",
        "9:52: test 'pair' (a.B | a.B), op.a.args[0]: unknown node type 'tensr'; did you mean 'tensor'?",
        "9:67: test 'pair' (a.B | a.B), op.a.args[1]: unknown template variable 'w'; known: v",
        "10:81: test 'pair' (a.B | a.B), op.b.kwargs.k.elems: expected at least one item, found none",
        "10:89: test 'pair' (a.B | a.B), op.b.kwargs.l: unknown template variable 'u'; known: v",
    ]


def test_two_mistakes_at_one_place(errors) -> None:
    no_name = "is no name; expected letters, digits and _, not starting with a digit"
    assert errors("dims: {1a: x}\npresets: {'': 3}\ntests: [{op: {type: template_module, path: a.B, vars: {1b: [1]},"
                  " args: [{var: }, {type: tensor}]}, in: []}]") == [
        f"1:8: dims.1a: '1a' {no_name}",
        "1:12: dims.1a: expected a non-negative integer, found 'x'",
        "2:11: presets.: expected a name, found ''",
        "2:15: presets.: expected a node (a mapping with a type), found 3; a literal is {type: const, value: 3}",
        f"3:56: test number 1 (a.B), op.vars.1b: '1b' {no_name}",
        "3:79: test number 1 (a.B), op.args[0].var: expected a string, found null",
        "3:82: test number 1 (a.B), op.args[1].shape: the key 'shape' is missing",
    ]  # fmt: skip


def test_keys_of_any_characters_are_located(errors) -> None:
    text = """\
        <: 1
        presets: {<node>: {type: tensor, shape: [], kind: float}}
        tests:
          - {op: {type: module, path: a.B, kwargs: {<ref>: {type: x}}}, in: [], kwargs: {<node>: {type: x}}, <items>: 1}
    """
    assert [line.split(": ")[1] for line in errors(text)] == [
        "<",
        "presets.<node>.shape",
        "test number 1 (a.B), op.kwargs.<ref>",
        "test number 1 (a.B), kwargs.<node>",
        "test number 1 (a.B), <items>",
    ]


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


def test_integers_that_torch_has_no_type_for_are_none_of_an_operators_arguments(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "presets: {x: {type: tensor, shape: [2], kind: float}}\n"
        "tests:\n"
        "- {id: uint64, op: aten::add, in: [{ref: x}, {type: const, value: 18446744073709551615}]}\n"
        "- {id: beyond, op: aten::add, in: [{ref: x}, {type: const, value: 18446744073709551616}]}\n"
        "- {id: below, op: aten::reshape, in: [{ref: x}, {type: const, value: [-9223372036854775809]}]}\n"
    )
    with pytest.raises(UsageError) as error:
        validate([path])
    assert [line.split(": ", 1)[1] for line in str(error.value).splitlines()] == [
        "test 'beyond': 18446744073709551616 does not fit int64, torch's type of Python integers",
        "test 'below': -9223372036854775809 does not fit int64, torch's type of Python integers",
    ]


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


def test_errors_end_the_process_with_code_2() -> None:
    assert UsageError.exit_code == 2


def test_validate_finds_arguments_that_no_overload_takes(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("""\
presets: {x: {type: tensor, shape: [2], kind: float}}
tests:
- {id: fits, op: aten::add, in: [{ref: x}, {type: scalar, kind: float, low: 0, high: 1}]}
- {id: at_the_draw, op: aten::clamp, in: [{ref: x}, {type: optional, p_none: 0.5, elem: {type: const, value: a}}]}
- {id: object, op: aten::neg, in: [{type: construct, path: a.B, args: []}]}
- {id: text, op: aten::neg, in: [{type: const, value: text}]}
- {id: three, op: aten::cat, in: [{type: list, len: 3, elem: {type: scalar, kind: int, value: 3}}]}
""")
    with pytest.raises(UsageError) as error:
        validate([path])
    assert str(error.value).splitlines() == [
        f"{path}:6:33: test 'text': aten::neg: argument 'self': found 'text', expected Tensor",
        f"{path}:7:34: test 'three': aten::cat: argument 'tensors': found [3], expected Tensor[]",
    ]


def test_positions_of_values_keys_and_of_what_is_absent() -> None:
    tree = parse_yaml("a:\n  - {b: 1,\n     c: 2}\n", Limits())
    assert position_of(tree, ("a", 0, "c")) == Position(3, 9)
    assert position_of(tree, ("a", 0, "c"), key=True) == Position(3, 6)
    assert position_of(tree, ("a", 0, "d")) == Position(2, 5)
    assert position_of(tree, ()) == Position(1, 1)
