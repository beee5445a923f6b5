"""Specification: "Error handling and validation"; and reading what is no test file."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.documents.limits import Limits
from conform.documents.source import Position, SourceError, parse_yaml, position_of
from conform.errors import UsageError
from conform.suites import load, validate


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


def test_aliases_are_values_like_any_other(loaded) -> None:
    first, second = loaded(
        "tests:\n- {id: a, op: aten::relu, in: &x [{type: const, value: 1}]}\n- {id: b, op: aten::neg, in: *x}"
    )
    assert first.inputs == second.inputs


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
