"""Writes catches.yaml: for every planted class and every overload it touches, a case that fails under it.

    python tests/planted/find_catches.py

A case is named only if torch on the CPU and the interpreter pass it. The plainest comes first: valid calls before those
that a backend must refuse, contiguous before other layouts, typical before special values, then the shortest id.
Exits with 1 and lists the holes if a plant survives.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from conform.backends.client import BackendProcess  # noqa: E402
from conform.backends.launcher import Template  # noqa: E402
from conform.suites.cases import Case  # noqa: E402
from tests.instruction_sets import PINS, usual  # noqa: E402
from tests.planted.catalogue import backend_name, planted  # noqa: E402
from tests.planted.trial import Trial  # noqa: E402

CATCHES = Path(__file__).parent / "catches.yaml"
HEADING = "# Planted class: {overload: a case that fails under it}. Written by find_catches.py.\n"
_BATCH = 24


class Search:
    """Looks for cases that fail under a planted class; knows which cases the unplanted backends pass."""

    def __init__(self, trial: Trial, template: Template, unplanted: list[BackendProcess]) -> None:
        self.trial, self.template, self.unplanted = trial, template, unplanted
        self._passes: dict[str, bool] = {}

    def catch(self, name: str, op: str) -> str | None:
        """The plainest case of `op` that fails under planted class `name`, None if it survives them all."""
        candidates = sorted((case for case in self.trial.cases.values() if case.op == op), key=_plainness)
        failing = self._failing_alone if not planted()[name].remembers else self._failing_after_others
        return next((case.id for case in failing(name, candidates) if self._passes_unplanted(case)), None)

    def _failing_alone(self, name: str, candidates: list[Case]) -> Iterator[Case]:
        with BackendProcess(backend_name(name), template=self.template) as process:
            for start in range(0, len(candidates), _BATCH):
                batch = candidates[start : start + _BATCH]
                verdicts = list(self.trial.verdicts(process, batch))
                yield from (case for case, verdict in zip(batch, verdicts, strict=True) if verdict.status == "fail")

    def _failing_after_others(self, name: str, candidates: list[Case]) -> Iterator[Case]:
        for case in candidates:
            with BackendProcess(backend_name(name), template=self.template) as process:
                verdict = self.trial.verdict_after_others(process, case)
            if verdict.status == "fail":
                yield case

    def _passes_unplanted(self, case: Case) -> bool:
        if case.id not in self._passes:
            verdicts = [next(self.trial.verdicts(process, [case])) for process in self.unplanted]
            self._passes[case.id] = all(verdict.status == "pass" for verdict in verdicts)
        return self._passes[case.id]


def _plainness(case: Case) -> tuple:
    return "refuses_" in case.id, case.layout != "contiguous", case.values != "typical", len(case.id), case.id


def main(names: list[str]) -> int:
    """Searches for all planted classes, or for those named; writes the file; the exit code."""
    os.environ.update(PINS[usual()])  # the kernels that the tests meet
    catches = yaml.safe_load(CATCHES.read_text()) if names else {}
    holes = []
    with ExitStack() as stack:
        template = stack.enter_context(Template())
        unplanted = [stack.enter_context(BackendProcess(name, template=template)) for name in ("cpu", "self")]
        trial = Trial()
        search = Search(trial, template, unplanted)
        for name in names or planted():
            found = {op: search.catch(name, op) for op in trial.ops() if planted()[name].touches(op)}
            holes += [f"{name} survives {op}" for op, case_id in found.items() if case_id is None]
            catches[name] = {op: case_id for op, case_id in found.items() if case_id is not None}
    ordered = {name: catches[name] for name in planted() if name in catches}
    CATCHES.write_text(HEADING + yaml.safe_dump(ordered, sort_keys=False, width=200))
    count = sum(map(len, ordered.values()))
    print("\n".join([*holes, f"{count} catches of {len(ordered)} classes, {len(holes)} holes"]))
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
