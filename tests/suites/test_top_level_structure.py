"""Specification: "Top-level structure" (keys, includes, dimensions, presets, tests)."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from conform.cli import main
from conform.errors import UsageError
from conform.suites import list_ids, load, validate
from conform.suites.nodes import Const, Sequence, Tensor

TEST = "{{id: {id}, op: aten::relu, in: [{{type: tensor, shape: [2], kind: float}}]}}"


def a_test(name: str) -> str:
    return TEST.format(id=name)


def test_only_the_four_keys_are_recognised(errors) -> None:
    assert errors("presets: {}\ntests: []\ntest: []\n") == ["3:1: test: unknown key 'test'; did you mean 'tests'?"]
    assert errors("zzz: 1\ntests: []") == ["1:1: zzz: unknown key 'zzz'; expected include, dims, presets, tests"]


def test_tests_is_required(errors) -> None:
    assert errors("dims: {N: 2}") == ["1:1: the key 'tests' is missing (a file without tests has 'tests: []')"]
    assert errors("tests:") == ["1:7: tests: expected a list of tests"]
    assert errors("[1, 2]") == ["1:1: expected a mapping with the key 'tests'"]
    assert errors("# nothing") == ["1:1: expected a mapping with the key 'tests'"]


def test_an_empty_list_of_tests_is_allowed(loaded) -> None:
    assert loaded("tests: []") == ()


# --- Includes ---------------------------------------------------------------------------------------------------------


def ids(tests) -> list[str]:
    return [test.id for test in tests]


def test_a_single_file_is_included_before_the_files_own_tests(loaded) -> None:
    tests = loaded(a=f"include: b.yaml\ntests: [{a_test('own')}]", b=f"tests: [{a_test('included')}]")
    assert ids(tests) == ["included", "own"]
    assert [test.location.rpartition("/")[2] for test in tests] == ["b.yaml:1", "a.yaml:2"]


def test_several_files_are_read_in_order(loaded) -> None:
    tests = loaded(a="include: [c.yaml, b.yaml]\ntests: []", b=f"tests: [{a_test('b')}]", c=f"tests: [{a_test('c')}]")
    assert ids(tests) == ["c", "b"]


def test_dims_and_presets_of_included_files_are_combined(loaded) -> None:
    (test,) = loaded(
        a="include: b.yaml\ndims: {N: 3}\ntests: [{op: aten::relu, in: [{ref: x}]}]",
        b="dims: {M: 2}\npresets: {x: {type: tensor, shape: [M, N], kind: float}}\ntests: []",
    )
    assert test.inputs[0].shape == (2, 3)


def test_an_include_is_relative_to_the_including_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.yaml").write_text("include: deep/b.yaml\ntests: []")
    (tmp_path / "deep/b.yaml").write_text("include: c.yaml\ntests: []")
    (tmp_path / "deep/c.yaml").write_text(f"tests: [{a_test('c')}]")
    assert list_ids([tmp_path / "a.yaml"]) == ["c"]


def test_a_file_reached_twice_is_merged_once(loaded) -> None:
    tests = loaded(
        a="include: [b.yaml, c.yaml, ./b.yaml]\ntests: []",
        b=f"include: c.yaml\ntests: [{a_test('b')}]",
        c=f"dims: {{N: 1}}\ntests: [{a_test('c')}]",
    )
    assert ids(tests) == ["c", "b"]


def test_a_name_defined_in_two_files_is_an_error(errors) -> None:
    found = errors(
        a="include: b.yaml\ndims: {N: 3}\npresets:\n  x: {type: const, value: 1}\ntests: []",
        b="dims: {N: 3}\npresets: {x: {type: const, value: 1}}\ntests: []",
    )
    assert found == [
        "2:8: dims.N: the dimension 'N' is already defined at b.yaml:1",
        "4:3: presets.x: the preset 'x' is already defined at b.yaml:2",
    ]


def test_a_circle_of_includes_is_named_with_its_path(errors) -> None:
    found = errors(a="include: b.yaml\ntests: []", b="include: [c.yaml]\ntests: []", c="include: b.yaml\ntests: []")
    assert found == ["c.yaml:1:10: include: files include each other in a circle: b.yaml -> c.yaml -> b.yaml"]
    assert errors(a="include: a.yaml\ntests: []") == [
        "1:10: include: files include each other in a circle: a.yaml -> a.yaml"
    ]


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("none.yaml", "1:10: include: 'none.yaml' cannot be read: No such file or directory"),
        ("[none.yaml]", "1:11: include[0]: 'none.yaml' cannot be read: No such file or directory"),
        (".", "1:10: include: '.' cannot be read: not a regular file"),
        ('"a\\0b"', r"1:10: include: 'a\x00b' cannot be read: embedded null byte"),
        ("a" * 300, f"1:10: include: '{'a' * 57}...' cannot be read: File name too long"),
        ("[]", "1:10: include: expected at least one item, found none"),
        ("3", "1:10: include: expected a name or a list of names, found 3"),
        ("", "1:9: include: expected a name or a list of names, found null"),
    ],
)
def test_what_cannot_be_included(errors, include: str, message: str) -> None:
    assert errors(f"include: {include}\ntests: []") == [message]


def test_a_link_to_itself_cannot_be_included(tmp_path: Path, errors) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (message,) = errors("include: loop.yaml\ntests: []")
    assert message.startswith("1:10: include: 'loop.yaml' cannot be read: ")


# --- Dimensions -------------------------------------------------------------------------------------------------------


def test_dims_are_non_negative_integers(loaded) -> None:
    (test,) = loaded("dims: {Z: 0, N: 3}\ntests: [{op: aten::relu, in: [{type: tensor, shape: [Z, N], kind: float}]}]")
    assert test.inputs[0].shape == (0, 3)


@pytest.mark.parametrize("value", ["-1", "2.0", "true", '"4"', "M", "[2]", ""])
def test_other_values_of_dims_are_errors(errors, value: str) -> None:
    (message,) = errors(f"dims:\n  N: {value}\ntests: []")
    assert "dims.N: expected a non-negative integer, found" in message


def test_the_name_of_a_dimension_is_a_word(errors) -> None:
    (message,) = errors('dims: {"2x": 3}\ntests: []')
    assert message == "1:8: dims.2x: '2x' is no name; expected letters, digits and _, not starting with a digit"


# --- Presets ----------------------------------------------------------------------------------------------------------


def test_a_preset_may_refer_to_presets_and_dimensions_in_any_order(loaded) -> None:
    (test,) = loaded("""
        dims: {N: 3}
        presets:
          both: {type: tuple, elems: [{ref: x}, {type: ref, ref: two}]}
          x: {type: tensor, shape: [N], dtype: int32}
          two: {type: const, value: 2}
        tests: [{op: aten::relu, in: [{ref: both}]}]
    """)
    (node,) = test.inputs
    assert isinstance(node, Sequence)
    assert node.parts == (Tensor((3,), "int", "int32", node.parts[0].draw), Const(2))


def test_presets_in_a_circle_are_an_error_even_if_unused(errors) -> None:
    assert errors("presets:\n  p: {ref: q}\n  q: {type: list, len: 1, elem: {ref: p}}\ntests: []") == [
        "3:33: presets.q.elem: presets refer to each other in a circle: p -> q -> p"
    ]


def test_an_unknown_preset_is_an_error(errors) -> None:
    text = "presets: {input: {type: const, value: 1}}\ntests: [{id: t, op: aten::relu, in: [{ref: inptu}]}]"
    assert errors(text) == ["2:44: test 't' (aten::relu), in[0].ref: unknown preset 'inptu'; did you mean 'input'?"]


def test_the_error_of_a_preset_is_reported_once_where_it_is_written(errors) -> None:
    text = """
        presets:
          x: {type: tensor, shape: [M], kind: float}
        tests:
        - {op: aten::relu, in: [{ref: x}]}
        - {op: aten::neg, in: [{ref: x}]}
    """
    assert errors(text) == ["3:29: presets.x.shape[0]: unknown dimension 'M'; none is defined"]


# --- Loading ----------------------------------------------------------------------------------------------------------


def test_an_unknown_suite_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"no suite 'smok'; did you mean 'smoke'\?; expected smoke, core, modules"):
        load(["smok"])


@pytest.mark.parametrize("name", ["", "a\0b", "a" * 300])
def test_what_is_no_path_is_no_suite_either(name: str) -> None:
    with pytest.raises(UsageError, match=r"^no suite "):
        load([name])


def test_the_built_in_suites_load_and_say_that_they_are_built_in() -> None:
    suite = load(["smoke"])
    assert (suite.names, suite.recorded_names) == (["smoke"], ["smoke"])
    assert all(test.builtin for test in suite.tests)


def test_the_digest_is_that_of_the_contents(tmp_path: Path) -> None:
    def digest(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return load([tmp_path / name]).digest

    first = digest("a.yaml", f"tests: [{a_test('t')}]")
    assert first.startswith("sha256:")
    assert len(first) == len("sha256:") + 64
    assert digest("b.yaml", f"tests: [{a_test('t')}]") == first
    assert digest("c.yaml", f"tests: [{a_test('u')}]") != first


def test_an_id_in_two_of_the_given_files_is_an_error(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(f"tests: [{a_test('t')}]")
    with pytest.raises(UsageError, match=r"b.yaml:1: the id 't' is already that of the test at .*a.yaml:1"):
        load([tmp_path / "a.yaml", tmp_path / "b.yaml"])


def test_validate_counts_tests_and_reports_every_bad_file(tmp_path: Path) -> None:
    good, bad, worse = (tmp_path / name for name in ("good.yaml", "bad.yaml", "worse.yaml"))
    good.write_text(f"tests: [{a_test('t')}]")
    bad.write_text("test: []")
    worse.write_text("tests: 3")
    assert validate([good]) == [f"{good}: 1 test"]
    twice = tmp_path / "twice.yaml"
    twice.write_text(good.read_text())
    told = CliRunner().invoke(main, ["validate", str(good), str(twice)])
    assert (told.exit_code, told.stdout) == (2, f"ok {good}: 1 test\nok {twice}: 1 test\n")
    assert f"the id 't' is already that of the test at {good}" in told.stderr
    with pytest.raises(UsageError) as error:
        validate([good, bad, worse])
    assert [line.rpartition("/")[2] for line in str(error.value).splitlines()] == [
        "bad.yaml:1:1: test: unknown key 'test'; did you mean 'tests'?",
        "bad.yaml:1:1: the key 'tests' is missing (a file without tests has 'tests: []')",
        "worse.yaml:1:8: tests: expected a list of tests",
    ]


def test_records_know_a_file_by_its_base_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "inc").mkdir(parents=True)
        (tmp_path / name / "s.yaml").write_text(
            f"include: inc/i.yaml\ntests: [{{id: {name}, op: aten::neg, in: [{{type: scalar_tensor, kind: float}}]}}]"
        )
        (tmp_path / name / "inc/i.yaml").write_text(
            f"tests: [{{id: {name}_i, op: aten::neg, in: [{{type: scalar_tensor, kind: float}}]}}]"
        )
    monkeypatch.chdir(tmp_path)
    both = load(["a/s.yaml", "b/s.yaml", "smoke", "./a/s.yaml"])
    assert both.recorded_names == ["s.yaml", "s.yaml#2", "smoke", "s.yaml"]
    written, built_in = both.tests[:4], both.tests[4]
    assert [test.location for test in written] == ["a/inc/i.yaml:1", "a/s.yaml:2", "b/inc/i.yaml:1", "b/s.yaml:2"]
    assert [test.recorded_at for test in written] == ["inc/i.yaml:1", "s.yaml:2", "inc/i.yaml:1", "s.yaml#2:2"]
    assert built_in.recorded_at == built_in.location
