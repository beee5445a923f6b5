"""From what the command line asks to what was found: subject, backend, bisection, and the op as a suite file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conform import kit
from conform.backends.client import BackendProcess
from conform.bisect.asking import Backend
from conform.bisect.found import write
from conform.bisect.run import Bisection, bisected
from conform.bisect.subject import subject_of
from conform.contracts.tables import contract_table
from conform.straight_line import check_timeout


@dataclass(frozen=True)
class Asked:
    """The arguments of `conform bisect`; `backend` with its options."""

    name: str
    backend: str
    imports: tuple[str, ...]
    suites: tuple[str, ...]
    dtype: str | None
    seed: int
    contract: str
    timeout_s: float
    golden_timeout_s: float
    out: Path | None


def bisect_on(asked: Asked, on_step: Callable[[], None]) -> tuple[Bisection, Path | None]:
    """What was found, and the file that was written of it. Raises what the command ends with."""
    check_timeout("timeout", asked.timeout_s)
    check_timeout("golden timeout", asked.golden_timeout_s)
    kit.load()
    table = contract_table(asked.contract)
    subject = subject_of(asked.name, asked.suites, asked.seed, asked.dtype)
    with BackendProcess(asked.backend, timeout_s=asked.timeout_s, imports=asked.imports) as process:
        backend = Backend(process, table, asked.golden_timeout_s)
        found = bisected(subject, backend, on_step)
        if asked.out is None or found.walk.first is None:
            return found, None
        told = f"Found by conform bisect {asked.name}, seed {asked.seed}."
        return found, write(found.walk.first, backend, asked.backend, asked.contract, told, asked.out, on_step)
