"""The pytest plugin, from the outside: files in a directory, options, outcomes and what is printed."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest
import torch._dynamo  # noqa: F401

from conform import kit, suites

pytestmark = pytest.mark.one_in(12)

# pytester forgets what a session imports; PyYAML's parser, the families and torch's compiler cannot be imported twice.
kit.load()

pytest_plugins = "pytester"

SUITE = """
presets:
  x: {type: const_tensor, shape: [2], dtype: float32, value: [1.0, -2.5]}
tests:
- {id: right, op: aten::abs, in: [{ref: x}]}
- {id: wrong, op: aten::neg, in: [{ref: x}]}
- {id: raises, op: aten::exp, in: [{ref: x}]}
- {id: refused, op: aten::sin, in: [{ref: x}]}
- {id: unknown, op: aten::matrix_exp, in: [{ref: x}]}
- {id: module, op: {type: module, path: no.such.Module}, in: [{ref: x}]}
- {id: elsewhere, op: aten::abs, device: cuda, in: [{ref: x}]}
- {id: open, op: aten::gelu, in: [{type: const_tensor, shape: [1], dtype: float32, value: [-.inf]}]}
"""

REFUSED = """
tests:
- {id: right, op: aten::abs, in: [{type: const_tensor, shape: [2], dtype: float32, value: [1.0, -2.5]}]}
- {id: beyond, op: aten::cumsum, in: [{type: const_tensor, shape: [2], dtype: float32, value: [1.0, -2.5]},
   {type: const, value: 5}]}
"""

BACKEND = """
import os
import conform
from conform.backends import TorchDevice

class Mine(TorchDevice):
    name = "mine"

    def run(self, op, args, kwargs):
        with open("pids", "a") as pids:
            print(os.getpid(), file=pids)
        if op == "aten::exp":
            raise RuntimeError("no exponentials today")
        if op == "aten::sin":
            raise conform.Unsupported("no angles")
        result = super().run(op, args, kwargs)
        return result + 1 if op == "aten::neg" else result
"""


@pytest.fixture
def mine(pytester: pytest.Pytester) -> pytest.Pytester:
    """A directory with a suite and a backend of which some is wrong."""
    pytester.makefile(".conform.yaml", ops=SUITE)
    pytester.makepyfile(mine=BACKEND)
    return pytester


def test_each_case_is_an_item_with_its_outcome(mine: pytest.Pytester) -> None:
    result = mine.runpytest("--conform-backend", "mine.py::Mine", "-v", "-rs")
    result.assert_outcomes(passed=1, failed=2, skipped=5)
    result.stdout.fnmatch_lines([
        "ops.conform.yaml::right/float32/typical/contiguous PASSED*",
        "ops.conform.yaml::wrong/float32/typical/contiguous FAILED*",
        "ops.conform.yaml::raises/float32/typical/contiguous FAILED*",
    ])  # fmt: skip
    result.stdout.fnmatch_lines_random([
        "SKIPPED*: unsupported: no angles",
        "SKIPPED*: unsupported: the test is for device cuda, the backend runs on cpu",
        "SKIPPED*: unjudged: no semantics for aten::matrix_exp",
        "SKIPPED*: unjudged: module * cannot be constructed: *",
        "SKIPPED*: unspecified: *",
    ])  # fmt: skip


def test_a_failure_reads_as_conform_check_prints_it(mine: pytest.Pytester) -> None:
    told = mine.runpytest("--conform-backend", "mine.py::Mine", "-k", "wrong", "--conform-seed", "3").stdout.str()
    command = [sys.executable, "-m", "conform", "check", "ops.conform.yaml", "--backend", "mine.py::Mine"]
    command += ["--id", "wrong/*", "--seed", "3", "--determinism", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    start = done.stdout.index("FAIL aten::neg float32")
    block = done.stdout[start : done.stdout.index("\n\n", start)]
    assert "expected  -1.0 = -0x1p+0" in block
    assert "--seed 3" in block
    assert block in told
    assert "Traceback" not in told
    assert "pytest_plugin.py" not in told


def test_what_does_not_count_is_skipped(mine: pytest.Pytester) -> None:
    """The kernel takes any dimension; torch refuses most of them for it."""
    mine.makefile(".conform.yaml", ops=REFUSED)
    mine.makepyfile(mine=BACKEND.replace("result = super()", "result = args[0].sin() if len(args) > 1 else super()"))
    words = ("--conform-backend", "mine.py::Mine", "-rs")
    result = mine.runpytest(*words)
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*: not counted: refusal: fail: the backend accepted invalid arguments: *"])
    mine.runpytest(*words, "--conform-checks", "refusal,accuracy").assert_outcomes(passed=1, failed=1)
    mine.runpytest(*words, "--conform-checks", "mutation").assert_outcomes(passed=1, skipped=1)
    told = mine.runpytest(*words, "--conform-checks", "speed")
    told.assert_outcomes(errors=2)
    told.stdout.fnmatch_lines(["*--checks: unknown check 'speed'*"])


def test_one_backend_process_serves_the_session(mine: pytest.Pytester) -> None:
    mine.makefile(".conform.yaml", more=SUITE)
    mine.runpytest("--conform-backend", "mine.py::Mine", "-k", "right or wrong").assert_outcomes(passed=2, failed=2)
    pids = (mine.path / "pids").read_text().split()
    assert len(pids) == 4
    assert len(set(pids)) == 1


def test_an_error_of_the_file_is_an_error_of_collection_without_a_traceback(pytester: pytest.Pytester) -> None:
    pytester.makefile(".conform.yaml", bad="tests:\n- {id: t, op: aten::ngg, in: [{type: tensr}]}\n")
    pytester.makefile(".conform.yaml", unfit="tests:\n- {id: u, op: aten::mm, in: [{type: const, value: 1}]}\n")
    result = pytester.runpytest("--conform-backend", "cpu")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines([
        "*ERROR collecting bad.conform.yaml*",
        "bad.conform.yaml:2:15: test 't' (aten::ngg), op: unknown operator 'aten::ngg'; did you mean 'aten::neg'[?]",
        "bad.conform.yaml:2:31: test 't' (aten::ngg), in[[]0[]]: unknown node type 'tensr'; did you mean 'tensor'[?]",
        "*ERROR collecting unfit.conform.yaml*",
        "unfit.conform.yaml:2:29: test 'u': aten::mm: no overload takes (1)*",
    ])  # fmt: skip
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--conform-backend", "absent.py::Mine"), "*absent.py*"),
        (("--conform-backend", "self", "--conform-contract", "opncl"), "*did you mean 'opencl'[?]*"),
    ],
)
def test_a_wrong_option_is_an_error_of_every_case(mine: pytest.Pytester, options: tuple, message: str) -> None:
    result = mine.runpytest(*options, "-k", "right or wrong")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*client.py*")
    result.stdout.no_fnmatch_line("*During handling*")


def test_a_test_of_an_included_file_is_located_there(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", common="\n\n" + SUITE.replace("float32", "float64"))
    pytester.makefile(".conform.yaml", all="include: common.yaml\ntests: []", none="tests: []")
    items, _ = pytester.inline_genitems("--conform-backend", "self", "-k", "right")
    (item,) = [item for item in items if item.case.draw.test.id == "right"]
    assert item.nodeid == "all.conform.yaml::right/float64/typical/contiguous"
    assert item.location == ("common.yaml", 3, "right/float64/typical/contiguous")


def test_without_a_backend_the_files_are_skipped(mine: pytest.Pytester) -> None:
    result = mine.runpytest("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*no --conform-backend NAME, so there is nothing to test"])


def test_under_xdist_each_worker_has_a_process(mine: pytest.Pytester) -> None:
    result = mine.runpytest("--conform-backend", "mine.py::Mine", "-n", "2", "-k", "right or wrong or raises")
    result.assert_outcomes(passed=1, failed=2)
    assert len(set((mine.path / "pids").read_text().split())) == 2


def test_a_session_without_such_files_imports_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    code = (
        "import sys, pytest\n"
        "assert pytest.main(['-q', '-p', 'no:hypothesispytest', '--conform-backend', 'cpu']) == 0\n"
        "assert 'conform.pytest_plugin' in sys.modules\n"
        "print(sorted({'numpy', 'torch', 'yaml', 'pydantic', 'mpmath', 'click'} & sys.modules.keys()))"
    )
    result = pytester.run(sys.executable, "-c", code)
    assert result.outlines[-1] == "[]"


# --- Suites by name ---------------------------------------------------------------------------------------------------

NAMED = ("--conform-suite", "smoke", "--conform-backend", "mine.py::Mine")


def test_a_suite_by_name_has_an_item_a_case(mine: pytest.Pytester) -> None:
    mine.makepyfile(test_other="def test_other(): pass")
    words = (*NAMED, "-k", "smoke and typical and contiguous and float32 and (exp or where or softmax) or other")
    result = mine.runpytest(*words, "-v", "test_other.py")
    result.assert_outcomes(passed=3, failed=1, deselected=598)
    result.stdout.fnmatch_lines([
        "test_other.py::test_other PASSED*",
        "conform:smoke::smoke_exp/float32/typical/contiguous FAILED*",
        "conform:smoke::smoke_softmax/float32/typical/contiguous PASSED*",
        "*conform check smoke --backend mine.py::Mine --id smoke_exp/float32/typical/contiguous --seed 0",
    ])  # fmt: skip


def test_suites_by_name_and_by_path_and_the_items_of_specs(
    mine: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test that is made from a spec stands in no file. Of mm alone: the whole suite takes a while."""
    monkeypatch.setattr(suites, "load", partial(suites.load, ops=("aten::mm",)))
    words = ("--conform-suite", "ops.conform.yaml", "--conform-suite", "negative", "--conform-suite", "negative")
    items, _ = mine.inline_genitems(*words, "--conform-backend", "self", "--ignore", "ops.conform.yaml")
    ids = [item.nodeid for item in items]
    assert ids[0] == "conform:ops.conform.yaml::right/float32/typical/contiguous"
    assert ids[-1].startswith("conform:negative::negative/aten::mm/")
    assert items[-1].location[1] is None
    assert len(set(ids)) == len(ids)


def test_a_suite_by_name_is_that_of_the_seed(mine: pytest.Pytester) -> None:
    told = mine.runpytest(*NAMED, "--conform-seed", "7", "-k", "smoke_exp and float64 and typical and contiguous")
    assert "--id smoke_exp/float64/typical/contiguous --seed 7" in told.stdout.str()


def test_a_suite_by_name_under_xdist(mine: pytest.Pytester) -> None:
    words = (*NAMED, "-n", "2", "-k", "smoke_where and typical and contiguous or smoke_exp and float32 and contiguous")
    outcomes = mine.runpytest(*words).parseoutcomes()
    assert outcomes["failed"] == 3
    assert outcomes["passed"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--conform-suite", "smok", "--conform-backend", "self"), "*no suite 'smok'; did you mean 'smoke'[?]*"),
        (("--conform-suite", "smoke"), "*--conform-suite: there is nothing to test without --conform-backend NAME"),
    ],
)
def test_a_suite_that_cannot_be_run(pytester: pytest.Pytester, words: tuple[str, ...], message: str) -> None:
    result = pytester.runpytest(*words)
    assert result.ret != 0
    (result.stdout if "smok" in words else result.stderr).fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")
