"""A subject on a backend: op by op, as a whole, and what each op has to do with the error of its results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conform.bisect.asking import Backend, arrays_of
from conform.bisect.subject import Subject
from conform.bisect.walk import Walk, errors_of, walked, without
from conform.errors import Unjudged
from conform.interp.program.form import Value

NEGLIGIBLE = 0.01  # of the squared error: less is not told


@dataclass(frozen=True)
class Bisection:
    """A walk, and the errors of the program's results, each the root mean square of the differences by that of the
    golden (inf where classes differ).

    error  op by op, in the chain of the backend's own numbers
    whole  of the module as a whole, or how that ended
    shares by the number of an op: the part of the squared error that is gone where the op is exact
    """

    subject: Subject
    walk: Walk
    error: float
    whole: float | str
    shares: dict[int, float]

    @property
    def exit_code(self) -> int:
        """1 where an op leaves its contract, else 0, or 3 where none could be judged."""
        if self.walk.first is not None:
            return 1
        return 0 if any(step.is_judged for step in self.walk.steps) else Unjudged.exit_code

    @property
    def source(self) -> int | None:
        """The number of the op where most of the error arises; None where there is none to speak of."""
        return max(self.shares, key=self.shares.__getitem__, default=None)


def bisected(subject: Subject, backend: Backend, on_step: Callable[[], None] = lambda: None) -> Bisection:
    """NoGolden where the module is no program, Unjudged where nothing tells what some op gives."""
    program, inputs = subject.program(), subject.inputs()
    walk = walked(program, inputs, backend, on_step)
    error = errors_of(walk.own, walk.goldens)
    shares = {}
    for part in walk.parts if error > 0 else ():
        left = without(program, inputs, walk, part.exact, backend)
        share = _share(left, error)
        if share >= NEGLIGIBLE:
            shares[part.number] = share
    return Bisection(subject, walk, error, _whole(subject, walk, backend), shares)


def _share(left: float, error: float) -> float:
    if error == float("inf"):
        return float(left < error)
    return 1 - min(left / error, 1.0) ** 2


def _whole(subject: Subject, walk: Walk, backend: Backend) -> float | str:
    reply = backend.whole(subject.module, subject.args, subject.kwargs)
    stated = [Value(str(at), one.dtype, one.shape) for at, one in enumerate(walk.goldens)]
    if reply.status != "ok":
        return f"{reply.status} ({reply.reason})"
    found = arrays_of(reply, stated)
    return "other outputs than the program states" if found is None else errors_of(found, walk.goldens)
