"""A backend that is a function of the call's number, in the place of its process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from conform.backends.call import Call
from conform.backends.reply import Output, Reply
from conform.report.record import Run
from tests.tiny import negatives

SUITE = negatives("a", "b", "c", "d")


class Fake:
    """In the place of a BackendProcess: replies from a function of the call's number, which may raise."""

    def __init__(self, reply: Callable[[int, Call], Reply]) -> None:
        self.reply, self.calls = reply, deque()
        self.number = 0
        self.at_the_end: Reply | None = None
        self.left_running: list[str] = []
        self.suspected, self.submitted = 3, 0

    def __call__(self, name: str, **options: object) -> Fake:
        return self

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def describe(self) -> dict[str, Any]:
        return {"name": "fake", "device": "cpu", "exports": False, "numerics": {}}

    def submit(self, call: Call) -> None:
        self.submitted += 1
        self.calls.append(call)

    def settle(self) -> Reply | None:
        return self.at_the_end

    def receive(self, most: object = None) -> Reply:
        self.number += 1
        return self.reply(self.number, self.calls.popleft())


def right(call: Call) -> Reply:
    return Reply("ok", result=Output(-call.args[0], (1,)))


def statuses(run: Run) -> list[str]:
    return [case["status"] for case in run.cases]
