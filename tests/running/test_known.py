"""Judgements that are kept: the record is the same with them, and what is not known is judged."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import conform
from conform.backends import TorchDevice
from conform.backends.reply import Output, Reply
from conform.errors import UsageError
from conform.interp.golden import Golden, Outcome
from conform.judging.verdict import Verdict
from conform.numerics.formats import FORMATS
from conform.running.known import Known
from conform.suites import load
from conform.suites.cases import Case, Selection
from conform.suites.select import select

OF_ONE_ANSWER = ("accuracy", "special", "layout")
ASKED = {"ops": ["aten::neg", "aten::cos"], "ids": ["*/float32/*"], "determinism": 2}


class Cpu(TorchDevice):
    """torch on the CPU."""

    def __init__(self) -> None:
        super().__init__("cpu")


class WrongInOneElement(Cpu):
    """-x but for the last element of what has more than 1,000."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = super().run(op, args, kwargs)
        if op == "aten::neg" and result.numel() > 1000:
            result.view(-1)[-1] = 77
        return result


class ChangesItsOperand(Cpu):
    """cos(x), with x + 1 in the place of x."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = super().run(op, args, kwargs)
        if op == "aten::cos" and isinstance(args[0], torch.Tensor) and args[0].is_floating_point():
            args[0] += 1
        return result


class Flushes(Cpu):
    """The same answers, by other arithmetic."""

    flushes_subnormals = True


def run(known: Path | None, backend: Any = "cpu", workers: int = 1, **asked: Any) -> Any:
    return conform.check("core", backend=backend, known=known, workers=workers, **{**ASKED, **asked})


def known_of(found: Any) -> int:
    return found.record["environment"]["timings"]["answered_as_known"]


def without_times(record: dict) -> dict:
    return record | {"environment": record["environment"] | {"timings": None}}


@pytest.mark.parametrize(("workers", "ids"), [(1, ["*/float32/*"]), pytest.param(2, [], marks=pytest.mark.one_in(6))])
def test_the_record_is_the_same_and_every_answer_known(tmp_path: Path, workers: int, ids: list[str]) -> None:
    asked = {"ops": ["aten::neg", "aten::sum"], "workers": workers, "ids": ids}
    plain, first, again = (run(known, **asked) for known in (None, tmp_path / "kept", tmp_path / "kept"))
    assert without_times(plain.record) == without_times(first.record) == without_times(again.record)
    judged = [case for case in plain.cases if case["check"] in OF_ONE_ANSWER]
    assert {case["status"] for case in judged} == {"pass", "unspecified", "unjudged"}  # of which no bound holds
    assert (known_of(plain), known_of(first), known_of(again)) == (0, 0, len(judged))
    assert sum(1 for _ in (tmp_path / "kept").rglob("*.gz")) == workers  # what is known is not written again


@pytest.fixture(scope="module")
def of_cpu(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """What a run of torch kept, and the run."""
    kept = tmp_path_factory.mktemp("kept")
    return kept, run(kept, Cpu)


@pytest.mark.parametrize(("backend", "op"), [(WrongInOneElement, "aten::neg"), (ChangesItsOperand, "aten::cos")])
def test_an_answer_that_differs_is_judged(
    of_cpu: tuple[Path, Any], tmp_path: Path, backend: type[Cpu], op: str
) -> None:
    right = of_cpu[1]
    shutil.copytree(of_cpu[0], tmp_path, dirs_exist_ok=True)
    plain, found = run(None, backend), run(tmp_path, backend)
    assert without_times(plain.record) == without_times(found.record)
    failed = [case for case in found.cases if case["status"] == "fail"]
    assert failed
    assert {case["op"] for case in failed} == {op}
    assert 0 < known_of(found) <= len(right.cases) - len(failed)
    assert known_of(run(tmp_path, backend)) > known_of(found)  # what fails is known then


@pytest.mark.parametrize(
    ("backend", "asked"),
    [(Cpu, {"seed": 1}), (Cpu, {"contract": "cr"}), (Cpu, {"checks": "accuracy,special"}), (Flushes, {})],
)
def test_another_question_has_its_own_answers(of_cpu: tuple[Path, Any], backend: type[Cpu], asked: dict) -> None:
    assert known_of(run(of_cpu[0], backend, **asked)) == 0


def a_case() -> Case:
    ((case, *_), *_) = select(load(["core"], ops=["aten::neg"]), Selection(ops=["aten::neg"]))
    return case


CASE = a_case()
PASSED = Verdict(CASE.id, "t", CASE.op, "float32", "typical", "contiguous", "pass", compared=1)
OUTCOME = Outcome((Golden(FORMATS["float32"], np.float32([1.0])),))
ONE = Output(np.float32([1.0]), (1,))


def kept(directory: Path, reply: Reply, verdict: Verdict = PASSED, case: Case = CASE) -> Known:
    """What is read after one judgement was kept."""
    known = Known.of(directory, {})
    known.add(case, reply, OUTCOME, verdict)
    known.close()
    return Known.of(directory, {})


@pytest.mark.parametrize(
    "other",
    [
        Reply("ok", result=Output(np.float32([-1.0]), (1,))),
        Reply("ok", result=Output(np.float16([1.0]), (1,))),
        Reply("ok", result=Output(np.int32([0x3F800000]), (1,))),
        Reply("ok", result=Output(np.float32([[1.0]]), (1, 1))),
        Reply("ok", result=Output(np.float32([1.0]), (2,))),
        Reply("ok", result=(ONE,)), Reply("ok", result=[ONE]), Reply("ok", result=(ONE, None)), Reply("ok", result=1.0),
        Reply("ok", result=ONE, mutated=(0,)), Reply("ok", result=ONE, overrun=True),
        Reply("ok", result=ONE, aliases=((0, 0),)), Reply("ok", result=ONE, apart=(0,)),
        Reply("error", reason="none", result=ONE), Reply("crash", reason="none", result=ONE),
    ],
)  # fmt: skip
def test_an_answer_is_all_that_is_judged_of_it(tmp_path: Path, other: Reply) -> None:
    known = kept(tmp_path, Reply("ok", result=ONE))
    assert known.verdict(CASE, Reply("ok", result=ONE)) == PASSED
    assert known.verdict(CASE, other) is None


def test_zeros_and_nans_are_what_their_bits_are(tmp_path: Path) -> None:
    known = kept(tmp_path, Reply("ok", result=Output(np.float32([0.0, np.nan]), (1,))))
    assert known.verdict(CASE, Reply("ok", result=Output(np.float32([0.0, np.nan]), (1,)))) is not None
    assert known.verdict(CASE, Reply("ok", result=Output(np.float32([-0.0, np.nan]), (1,)))) is None


@pytest.mark.parametrize("status", ["unjudged", "error", "crash", "timeout", "unsupported"])
def test_what_time_or_the_machine_decided_is_not_kept(tmp_path: Path, status: str) -> None:
    known = kept(tmp_path, Reply("ok", result=ONE), replace(PASSED, status=status, reason="told"))
    assert known.on(CASE) is None


def test_a_file_without_its_end_has_what_was_whole(tmp_path: Path) -> None:
    kept(tmp_path, Reply("ok", result=ONE))
    (path,) = tmp_path.rglob("*.gz")
    text = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(text + text[:20]))
    assert Known.of(tmp_path, {}).verdict(CASE, Reply("ok", result=ONE)) == PASSED
    path.write_bytes(path.read_bytes()[:-12])  # its process was killed
    Known.of(tmp_path, {})
    path.write_bytes(b"")
    assert Known.of(tmp_path, {}).on(CASE) is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: b"[]\t" + text.partition(b"\t")[2], "it is not as conform wrote it"),
        (lambda text: b'["a",["x"],1,1]\t' + text.partition(b"\t")[2], "it is not as conform wrote it"),
        (lambda text: b'["a","x",Infinity,1]\t' + text.partition(b"\t")[2], "it is not as conform wrote it"),
        (lambda text: b"[" * 100_000 + b"\t" + text.partition(b"\t")[2], "it is not as conform wrote it"),
        (lambda text: text.partition(b"\t")[0] + b"\t" + b"[" * 100_000 + b"\n", "it is not as conform wrote it"),
        (lambda text: text.replace(b'"pass"', b'"past"'), "status"),
        (lambda text: text.replace(b"\t{", b"\t{{"), "it is not as conform wrote it"),
        (lambda text: b"\t".join([text.partition(b"\t")[0], text.partition(b"\t")[2].replace(b"neg", b"abs")]),
         "it is about"),
    ],
)  # fmt: skip
def test_what_no_run_wrote_is_told_with_its_place(
    tmp_path: Path, change: Callable[[bytes], bytes], says: str
) -> None:
    kept(tmp_path, Reply("ok", result=ONE))
    (path,) = tmp_path.rglob("*.gz")
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()))))
    with pytest.raises(UsageError, match=says) as told:
        Known.of(tmp_path, {}).verdict(CASE, Reply("ok", result=ONE))
    assert str(path.parent) in str(told.value)


PAIR = """
tests:
- id: halves
  op:
    type: template_compare_pair
    vars: {n: [3]}
    common: {args: [6, {var: n}]}
    a: {impl: one, type: module, path: torch.nn.Linear}
    b: {impl: other, type: module, path: torch.nn.Linear}
  in: [{type: tensor, shape: [2, 6], dtype: float32}]
"""


@pytest.mark.one_in(6)
def test_of_a_pair_and_of_gradients_nothing_is_kept(tmp_path: Path) -> None:
    suite = tmp_path / "pair.yaml"
    suite.write_text(PAIR)
    first, again = (conform.check([str(suite)], backend="cpu", known=tmp_path / "kept") for _ in range(2))
    assert [case["status"] for case in again.cases] == ["pass", "pass"]
    assert first.cases == again.cases
    assert all(case["pair"] for case in again.cases)
    assert known_of(again) == 0
    asked = {"ids": ["cos/dtype_float32/*"], "gradients": True}
    first, again = (run(tmp_path / "kept", **asked) for _ in range(2))
    assert without_times(first.record) == without_times(again.record)
    assert known_of(again) == sum(not case["id"].endswith(("gradients", "repeated")) for case in again.cases)


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="Not a directory"):
        run(tmp_path / "file" / "kept")
