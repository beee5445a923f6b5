"""`conform gen`: what it prints, what becomes of it, and which mistakes it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conform.call.schemas import operator_names
from conform.cli import main
from conform.domains.specs import specs
from conform.suites import load

pytestmark = pytest.mark.one_in(6)


def conform(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def written(path: Path, *words: str) -> Path:
    assert conform("gen", *words, "--out", str(path)).stdout == f"written: {path}\n"
    return path


def test_calls_of_every_overload_in_the_order_of_the_suite(tmp_path: Path) -> None:
    tests = load([written(tmp_path / "add.yaml", "aten::add", "--n", "3")]).tests
    overloads = ("aten::add.Tensor", "aten::add.Scalar")
    assert [test.id for test in tests] == [f"generated/{op}/000{n}" for op in overloads for n in range(3)]
    of_suite = {test.id: test for test in load(["generated"], ops=["aten::add"]).tests}
    assert all((of_suite[test.id].inputs, of_suite[test.id].kwargs) == (test.inputs, test.kwargs) for test in tests)


def test_out_and_the_terminal_get_the_same_text(tmp_path: Path) -> None:
    words = ("aten::softplus", "--n", "2", "--invalid", "--seed", "3")
    text = conform("gen", *words).stdout
    assert written(tmp_path / "x.yaml", *words).read_text(encoding="utf-8") == text
    assert text.startswith("# Calls that each break one constraint, from the argument specs, seed 3. ")
    comment = "  # breaks: dtype(self) in {float16, bfloat16, float32, float64}"
    assert f"{comment}\n  - id: negative/aten::softplus/0000\n" in text


def test_what_it_writes_is_valid_and_runs(tmp_path: Path) -> None:
    valid = written(tmp_path / "valid.yaml", "aten::atan2", "--n", "5")
    invalid = written(tmp_path / "invalid.yaml", "aten::atan2", "--n", "5", "--invalid")
    assert conform("validate", str(valid), str(invalid)).stdout == f"ok {valid}: 5 tests\nok {invalid}: 5 tests\n"
    result = conform("check", str(valid), str(invalid), "--backend", "self", "--quiet")
    assert result.exit_code == 0, result.output


def test_a_dtype_is_pinned_and_named_in_the_id(tmp_path: Path) -> None:
    tests = load([written(tmp_path / "x.yaml", "aten::*xlogy*", "--dtype", "float16", "--n", "2")]).tests
    assert {test.id.split("/")[2] for test in tests} == {"float16"}
    of_tensors = [test for test in tests if test.op in ("aten::xlogy.Tensor", "aten::special_xlogy")]
    assert {test.inputs[0].dtype for test in of_tensors} == {"float16"}


WITHOUT_SPEC = min(set(operator_names()) - {one.name for one in specs()})  # of torch's operators


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["aten::softplu"], "unknown operator 'aten::softplu'; did you mean 'aten::softplus'?"),
        (["add"], "operator 'add' has no namespace; did you mean 'aten::add'?"),
        ([WITHOUT_SPEC], f"{WITHOUT_SPEC} has no argument spec from which calls could be made"),
        (["aten::nothing*"], "'aten::nothing*' matches no op that has an argument spec"),
        (["aten::exp", "--invalid"], "--invalid: no constraint of aten::exp can be broken"),
        (["aten::erf", "--dtype", "complex64"], "--dtype: aten::erf takes no complex64; it takes bool, uint8"),
        (["aten::erf", "--dtype", "flot16"], "--dtype: unknown dtype 'flot16'; did you mean 'float16'?"),
        (["aten::erf", "--out", "no/such/directory.yaml"], "--out: no/such/directory.yaml: No such file or directory"),
    ],
)
def test_mistakes(words: list[str], message: str) -> None:
    result = conform("gen", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"conform: {message}" in result.stderr


def test_a_suite_from_specs_is_listed() -> None:
    listed = conform("list", "generated").stdout.splitlines()
    assert listed[0] == "generated/aten::add.Tensor/0000"
    assert {name.split("/")[1] for name in listed} == {one.name for one in specs()}


@pytest.mark.long
@pytest.mark.parametrize("suite", ["generated", "negative"])
def test_a_suite_from_specs_is_valid(suite: str) -> None:
    count = len(conform("list", suite).stdout.splitlines())
    assert conform("validate", suite).stdout == f"ok {suite}: {count} tests\n"
