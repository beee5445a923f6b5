"""Where a backend says that it lacks an op, no golden is made for nothing."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import conform
from conform.running import judge


class OfFloats(conform.Backend):
    """Has exp, of float32 alone."""

    name = "of floats"

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op != "aten::exp" or args[0].dtype != torch.float32:
            raise conform.Unsupported(f"no {op} of {args[0].dtype}")
        return torch.exp(*args)


def test_one_golden_of_what_the_backend_lacks_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def evaluated(call: Any, *rest: Any) -> Any:
        made.append(call.op)
        return original(call, *rest)

    original = judge.evaluated
    monkeypatch.setattr(judge, "evaluated", evaluated)
    run = conform.check("core", backend=OfFloats(), ops=["aten::exp", "aten::sinh"], workers=1, layouts="as-written")
    statuses = {(case["op"], case["dtype"] == "float32", case["status"]) for case in run.cases}
    assert statuses == {
        ("aten::exp", True, "pass"), ("aten::exp", False, "unsupported"), ("aten::sinh", True, "unsupported"),
        ("aten::sinh", False, "unsupported"),
    }  # fmt: skip
    assert made.count("aten::sinh") == 1
    judged = sum(case["status"] == "pass" for case in run.cases)
    assert judged <= made.count("aten::exp") <= 2 * judged  # one more after each case that it has
