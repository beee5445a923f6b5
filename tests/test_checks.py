"""What counts, on backends: honest kernels that refuse nothing, lying ones, and what the reports say of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner, Result

import conform
from conform.cli import main
from conform.errors import UsageError
from conform.report import junit, markdown, terminal
from conform.report.record import Run
from conform.suites import load

pytestmark = pytest.mark.one_in(6)

SUITE = """
tests:
- {id: plain, op: aten::_softmax, in: [&x {type: tensor, shape: [4, 8], dtype: float32}, &dim {type: const, value: 1},
   &no {type: const, value: false}]}
- {id: beyond, op: aten::_softmax, in: [*x, {type: const, value: 2}, *no]}
- {id: half_to_float, op: aten::_softmax, in: [*x, *dim, {type: const, value: true}]}
"""

KERNELS = """
import numpy as np
import torch
import conform

class Softmax(conform.Backend):
    name = "softmax"

    def run(self, op, args, kwargs):
        if op != "aten::_softmax":
            raise conform.Unsupported("a softmax and nothing else")
        return self.kernel(*args, **kwargs)

    def kernel(self, x, dim, half_to_float):
        wide = x.double().numpy()
        dim = min(dim, x.dim() - 1)
        powers = np.exp(wide - wide.max(dim, keepdims=True, initial=-np.inf))
        return torch.from_numpy(powers / powers.sum(dim, keepdims=True)).to(x.dtype)

class Lying(Softmax):
    def kernel(self, x, dim, half_to_float):
        return super().kernel(x, dim, half_to_float) * 1.001

class Crashing(Softmax):
    def kernel(self, x, dim, half_to_float):
        if dim == 2:
            import os
            os.abort()
        return super().kernel(x, dim, half_to_float)

class Wide(Softmax):
    def kernel(self, x, dim, half_to_float):
        return super().kernel(x, dim, half_to_float).double()

class Careless(Softmax):
    def kernel(self, x, dim, half_to_float):
        result = super().kernel(x, dim, half_to_float)
        x.zero_()
        return result

class Refusing(Softmax):
    def kernel(self, x, dim, half_to_float):
        if dim == 2 or half_to_float:
            raise ValueError("no")
        return super().kernel(x, dim, half_to_float)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Callable[..., Run]:
    def checked(name: str, **options: Any) -> Run:
        backend = f"{folder / 'kernels.py'}::{name}" if name[0].isupper() else name
        return conform.check(str(folder / "suite.yaml"), backend=backend, **options)

    return checked


WIDEST = {"values": "all", "layouts": "all"}


def counted(run: Run) -> dict[str, tuple[int, int]]:
    return {one["check"]: (one["passed"], one["judged"]) for one in run.record["checks"]["counts"]}


# --- What counts ------------------------------------------------------------------------------------------------------


def test_an_honest_kernel_need_not_refuse_what_torch_refuses_for_it(run: Callable[..., Run]) -> None:
    found = run("Softmax", **WIDEST)
    assert found.exit_code == 0
    usual = ["accuracy", "special", "layout", "result", "mutation", "aliasing", "determinism"]
    assert found.record["checks"]["selected"] == usual
    asked = found.summary["asked"]
    assert found.summary["pass"] == found.summary["judged"] == asked == len(found.cases) > 5
    assert counted(found)["accuracy"][1] + counted(found)["special"][1] + counted(found)["layout"][1] == asked
    assert counted(found)["result"] == counted(found)["mutation"] == counted(found)["aliasing"] == (asked, asked)
    accepted = {case["id"]: (case["status"], case["check"]) for case in found.record["not_counted"]}
    assert set(accepted.values()) == {("fail", "refusal")}
    assert {name.partition("/")[0] for name in accepted} == {"beyond", "half_to_float"}


@pytest.mark.parametrize(
    ("name", "checks", "exit_code"),
    [
        ("Softmax", "refusal", 1),
        ("Softmax", "accuracy,special,layout,result,refusal,mutation,aliasing", 1),
        ("Refusing", "refusal", 0),
        ("Refusing", None, 0),
        ("Lying", None, 1),
        ("Lying", "accuracy", 1),
        ("Lying", "result,mutation,aliasing", 0),
        ("Wide", None, 1),
        ("Wide", "result", 1),
        ("Wide", "accuracy", 3),  # there is nothing to compare
        ("Wide", "mutation", 0),
        ("Careless", None, 1),
        ("Careless", "mutation", 1),
        ("Careless", "accuracy,special,layout,result", 0),
        ("Crashing", None, 0),  # on what the dispatcher refuses
        ("Crashing", "refusal", 1),
    ],
)
def test_the_exit_code_is_that_of_what_counts(
    run: Callable[..., Run], name: str, checks: str | None, exit_code: int
) -> None:
    found = run(name, checks=checks)
    assert found.exit_code == exit_code
    assert {case["check"] for case in found.cases} <= set(found.record["checks"]["selected"])
    assert found.summary["asked"] == len(found.cases)


def test_refusals_count_for_devices(run: Callable[..., Run]) -> None:
    found = run("cpu")
    assert found.exit_code == 0
    assert found.record["not_counted"] == []
    passed, judged = counted(found)["refusal"]
    assert passed == judged > 0


def test_and_not_for_python_objects(run: Callable[..., Run], folder: Path) -> None:
    def takes_all(op: str, args: list, kwargs: dict) -> Any:
        import torch

        return torch.softmax(args[0], min(args[1], args[0].dim() - 1))

    found = conform.check(str(folder / "suite.yaml"), backend=takes_all)
    assert (found.exit_code, len(found.record["not_counted"])) == (0, 2)
    assert conform.check(str(folder / "suite.yaml"), backend=takes_all, checks=["refusal"]).exit_code == 1


def test_what_cannot_count_is_not_run(run: Callable[..., Run]) -> None:
    found = run("Softmax", checks="accuracy", **WIDEST)
    every = [*found.cases, *found.record["not_counted"]]
    assert {case["layout"] for case in every} == {"contiguous"}
    assert not any(case["values"].startswith("special") for case in every)
    found = run("cpu", checks="layout", **WIDEST)
    assert {case["check"] for case in found.cases} == {"layout"}
    assert {case["check"] for case in found.record["not_counted"]} == {"refusal"}  # as their goldens turned out


def test_a_failure_that_does_not_count_does_not_stop_a_run(run: Callable[..., Run]) -> None:
    found = run("Softmax", fail_fast=True)
    assert (found.exit_code, found.record["not_run"]) == (0, 0)
    assert run("Softmax", fail_fast=True, checks="refusal").record["not_run"] > 0


def test_negative_alone_judges_no_kernel_unless_refusals_count(folder: Path) -> None:
    backend = f"{folder / 'kernels.py'}::Softmax"
    shown, judged = (
        conform.check("negative", backend=backend, ops="aten::_softmax", checks=checks) for checks in (None, "refusal")
    )
    assert (shown.exit_code, shown.summary["asked"]) == (3, 0)
    ran = len(shown.record["not_counted"])
    assert f"{ran} cases ran, of which none counts (--checks names what does)" in terminal.render(shown.record)
    assert (judged.exit_code, judged.summary["fail"] > 0) == (1, True)


# --- Exclusion --------------------------------------------------------------------------------------------------------


def test_what_is_excluded_is_not_asked(run: Callable[..., Run]) -> None:
    left = run("cpu", exclude=["half_to_float/*", "*/special*"], values="all")
    assert {case["test"] for case in left.cases} == {"plain", "beyond"}
    assert {case["values"] for case in left.cases} == {"typical", "conditioned", "structured"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exclude": "aten::_softmx"}, "--exclude 'aten::_softmx' matches no case that is selected; did you mean '"),
        ({"exclude": ["plain/*", "nothing"]}, "--exclude 'nothing' matches no case that is selected"),
        ({"exclude": "beyond/*", "ids": "plain/*"}, "--exclude 'beyond/*' matches no case that is selected"),
        ({"exclude": "aten::*"}, "--exclude 'aten::*': no case is left"),
        ({"exclude": ["plain/*", "*e*"]}, "--exclude 'plain/*' --exclude '*e*': no case is left"),
        ({"exclude": [7]}, r"exclude: expected a str or a list of them, got [7]"),
        ({"checks": "layout,speed"}, "--checks: unknown check 'speed'; there are accuracy, special, layout, result, "),
    ],
)
def test_what_selects_nothing_or_nothing_known(run: Callable[..., Run], options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        run("self", **options)
    assert str(error.value).startswith(message)


def test_a_check_that_no_case_can_be_held_to() -> None:
    with pytest.raises(UsageError, match="--checks layout: no case that is selected asks for that"):
        conform.check("core", backend="self", ids=["add.Tensor/rank_3/float32/typical/contiguous"], checks="layout")


# --- Reports ----------------------------------------------------------------------------------------------------------


def test_reports_show_what_does_not_count(run: Callable[..., Run]) -> None:
    found = run("Crashing", layouts="all")
    text = click.unstyle(terminal.render(found.record))
    crashed = sum(case["status"] == "crash" for case in found.record["not_counted"])
    accepted = len(found.record["not_counted"]) - crashed
    assert accepted == crashed > 1
    assert (
        f"crash: {crashed}, the backend accepted invalid arguments: {accepted}, not counted (check refusal; --checks "
        "names what counts)"
    ) in text.splitlines()
    assert "FAIL" not in text.replace(terminal.LEGEND, "")
    assert text.splitlines()[0].endswith(", seed 0, checks all but refusal")
    root = ElementTree.fromstring(junit.render(found.record))
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("0", "0", str(accepted + crashed))
    skipped = {element.get("message") for element in root.iter("skipped")}
    assert any(one.startswith("not counted: refusal: fail: the backend accepted invalid") for one in skipped)
    told = markdown.render(found.record)
    assert "## Not counted" in told
    assert "| `beyond/float32/typical/contiguous`" in told


def command(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_a_failure_repeats_and_is_made_small_by_what_counted(folder: Path) -> None:
    """Its input is changed too, which did not count."""
    (folder / "kernels.py").write_text(KERNELS.replace("* 1.001", "* 1.001 + 0 * x.zero_()"))
    backend, out = f"{folder / 'kernels.py'}::Lying", folder / "out"
    words = ("check", str(folder / "suite.yaml"), "--backend", backend, "--checks", "accuracy,special")
    result = command(*words, "--exclude", "beyond/*", "--out", str(out))
    assert result.exit_code == 1
    (repeat,) = [line.split()[1:] for line in result.stdout.splitlines() if line.startswith("  repeat")]
    assert repeat[-2:] == ["--checks", "accuracy,special"]
    assert command(*repeat[1:]).exit_code == 1
    script = command("repro", "plain/float32/typical/contiguous", "--run", str(out), "--backend", backend)
    assert script.exit_code == 0, script.output
    assert "import torch" in script.stdout


def test_a_refusal_that_did_not_count_can_be_made_small(folder: Path) -> None:
    backend, out = f"{folder / 'kernels.py'}::Softmax", folder / "out"
    assert command("check", str(folder / "suite.yaml"), "--backend", backend, "--out", str(out)).exit_code == 0
    assert len(json.loads((out / "run.json").read_text())["not_counted"]) == 2
    script = command("repro", "beyond/float32/typical/contiguous", "--run", str(out), "--backend", backend)
    assert (script.exit_code, "must raise" in script.stdout) == (0, True)


def test_shards_of_kernels_make_the_record_of_one_run(folder: Path) -> None:
    words = ("check", str(folder / "suite.yaml"), "--backend", f"{folder / 'kernels.py'}::Softmax")
    told = []
    for name, more in [("whole", ()), ("1", ("--shard", "1/2")), ("2", ("--shard", "2/2"))]:
        command(*words, *more, "--out", str(folder / name))
    command("merge", str(folder / "1"), str(folder / "2"), "--out", str(folder / "merged"))
    for name in ("whole", "merged"):
        record = json.loads((folder / name / "run.json").read_text())
        told.append({key: value for key, value in record.items() if key != "environment"})
    assert told[0] == told[1]
    assert (told[0]["summary"]["asked"], len(told[0]["not_counted"])) == (2, 2)  # one is of equal calls
    resumed = command(*words, "--checks", "refusal", "--shard", "1/2", "--resume", str(folder / "1"))
    assert (resumed.exit_code, "that run had checks [" in resumed.output) == (2, True)


# --- What may be accepted ---------------------------------------------------------------------------------------------

TAKES_ALL = """
import torch
import conform

class TakesAll(conform.Backend):
    name = "takes_all"

    def run(self, op, args, kwargs):
        return torch.zeros(3)

class TakesNothing(TakesAll):
    def run(self, op, args, kwargs):
        raise ValueError("no")
"""


@pytest.mark.parametrize("name", ["TakesAll", "TakesNothing"])
def test_what_may_be_accepted_never_fails_in_a_file_either(tmp_path: Path, name: str) -> None:
    (tmp_path / "takes.py").write_text(TAKES_ALL)
    backend, path = f"{tmp_path / 'takes.py'}::{name}", tmp_path / "invalid.yaml"
    assert command("gen", "aten::s[ou]*", "--invalid", "--n", "16", "--out", str(path)).exit_code == 0
    run = conform.check(str(path), backend=backend, checks="refusal")
    told = {case["test"]: case["status"] for case in run.cases}
    domains = {test.id: test.domain for test in load(["negative"], ops=["aten::s[ou]*"]).tests if test.id in told}
    lenient = {test for test, domain in domains.items() if domain and domain.lenience}
    strict = set(domains) - lenient
    assert (len(lenient) > 10, len(strict) > 10) == (True, True)
    assert {told[test] for test in lenient} == {"unspecified"}
    assert {told[test] for test in strict} == {"fail" if name == "TakesAll" else "unjudged"}


LENIENT = """
tests:
- {id: needs_it, op: aten::sum, lenience: a reason, in: [{type: tensor, shape: [3], dtype: complex64}]}
- {id: needs_none, op: aten::sum, lenience: a reason, in: [{type: tensor, shape: [3], dtype: float32}]}
- {id: must_be_refused, op: aten::softplus, lenience: a reason, in: [{type: tensor, shape: [3], dtype: int64}]}
"""


def test_a_lenience_holds_where_the_spec_has_one(tmp_path: Path) -> None:
    (tmp_path / "takes.py").write_text(TAKES_ALL)
    (tmp_path / "lenient.yaml").write_text(LENIENT)
    backend = f"{tmp_path / 'takes.py'}::TakesAll"
    run = conform.check(str(tmp_path / "lenient.yaml"), backend=backend, checks="result,refusal")
    assert {case["test"]: (case["status"], case["check"]) for case in run.cases} == {
        "needs_it": ("unspecified", "refusal"),
        "needs_none": ("fail", "result"),
        "must_be_refused": ("fail", "refusal"),
    }
    assert next(case["rule"] for case in run.cases if case["test"] == "needs_it").startswith("torch takes complex")
