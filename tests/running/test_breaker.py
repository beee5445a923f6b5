"""An op on which a backend hangs is given up, in the same place whatever was run first."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import conform
from conform.judging.verdict import Verdict
from conform.report import terminal
from conform.running.breaker import Breaker, counted


def verdict(number: int, status: str, op: str = "aten::neg") -> Verdict:
    return Verdict(f"t/{number}", "t", op, "float32", "typical", "contiguous", status, reason=status, compared=1)


def test_the_third_hang_is_the_last_call() -> None:
    breaker = Breaker()
    hung = [breaker.note(verdict(number, status)) for number, status in enumerate(("timeout", "pass") * 3)]
    assert hung == [False, False, False, False, True, False]
    assert breaker.has_given_up("aten::neg")
    assert not breaker.has_given_up("aten::abs")


def test_what_came_behind_it_in_the_suite_does_not_count_whatever_was_run_first() -> None:
    statuses = ["pass", "timeout", "timeout", "pass", "timeout", "pass", "timeout"]
    verdicts = [(number, verdict(number, status)) for number, status in enumerate(statuses)]
    verdicts.append((9, verdict(9, "pass", "aten::abs")))
    for some in list(permutations(verdicts))[::97]:
        stand, given_up = counted({one.id: (number, one) for number, one in some})
        assert sorted(one.id for one in stand) == ["t/0", "t/1", "t/2", "t/3", "t/4", "t/9"]
        assert given_up == ["aten::neg"]


HANGS = """
import time, conform, torch

class Hangs(conform.Backend):
    name = "hangs"
    def run(self, op, args, kwargs):
        if op == "aten::neg":
            with open({asked!r}, "a") as file:
                file.write("x")
            time.sleep(600)
        return torch.abs(*args)
"""


def test_a_backend_that_hangs_on_one_op_is_asked_three_times(tmp_path: Path) -> None:
    asked, kernels = tmp_path / "asked", tmp_path / "kernels.py"
    kernels.write_text(HANGS.format(asked=str(asked)))
    run = conform.check(
        "core", backend=f"{kernels}::Hangs", ops=["aten::neg", "aten::abs"], dtypes=["float32"], timeout_s=0.3
    )
    by_op = {op: {case["status"] for case in run.cases if case["op"] == op} for op in ("aten::neg", "aten::abs")}
    assert by_op == {"aten::neg": {"timeout"}, "aten::abs": {"pass"}}
    assert asked.read_text() == "xxx"
    assert run.summary["timeout"] == 3
    assert run.record["given_up"] == {"aten::neg": run.record["not_run"]}
    told = f"aten::neg: given up, for the backend hung on it again and again; cases not run: {run.record['not_run']}"
    assert told in terminal.render(run.record)
