"""A program on a backend op by op: fed with the golden's numbers, and with the backend's own.

Every op is judged by itself on the operands that it got, so what went wrong before it does not count against it. The
golden's numbers are those of the program on exact numbers, rounded once where an op takes them; where the program has
no golden beyond an op (a comparison that an honest error turns), that op's own golden goes on, and where it has none,
what the backend gave.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conform import time_limit
from conform.backends.reply import Reply
from conform.bisect.asking import Answer, Backend
from conform.errors import Unjudged
from conform.interp.golden import Golden, Outcome
from conform.interp.program.aten import ASSERTIONS, aten
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Op, Program
from conform.interp.program.number import Number
from conform.interp.program.scope import Scope, Values
from conform.judging.verdict import FAILURES, JUDGED, Verdict
from conform.numerics.rounding import round_to

CANDIDATES = 8  # ops whose part in the error of the program's results is measured


@dataclass(frozen=True)
class Step:
    """An op on the backend: on the golden's operands (`alone`), and on the backend's own (`own`).

    error  of its results in the chain of the backend's own numbers, beside the program's golden: the root mean square
           of the differences by that of the golden; inf where their classes differ; None where it has no results
    """

    number: int
    op: Op
    alone: Verdict
    own: Verdict
    error: float | None

    @property
    def has_failed(self) -> bool:
        return self.alone.status in FAILURES or self.own.status in FAILURES

    @property
    def is_judged(self) -> bool:
        return self.alone.status in JUDGED or self.own.status in JUDGED


@dataclass(frozen=True)
class Part:
    """An op's own error on the operands that it got, by its size, and the results that it should have given there."""

    error: float
    number: int
    exact: Values


@dataclass
class Walk:
    """What was found on the way through a program.

    steps       one an op
    first       the first answer that left its contract
    parts       of the CANDIDATES ops with the largest errors of their own, the largest first
    goldens     the program's results; own: those that the backend's own numbers came to
    substitutes what stood in for results that the backend did not give
    """

    steps: list[Step] = field(default_factory=list)
    first: Answer | None = None
    parts: list[Part] = field(default_factory=list)
    goldens: tuple[Number, ...] = ()
    own: list[np.ndarray] = field(default_factory=list)
    substitutes: Values = field(default_factory=dict)


def walked(
    program: Program, inputs: Sequence[np.ndarray], backend: Backend, on_step: Callable[[], None] = lambda: None
) -> Walk:
    """Runs every op of `program` on the backend. Unjudged where nothing tells what an op gives, neither the kit nor the
    backend."""
    walker = _Walker(program, inputs, backend, on_step)
    walk = walker.walk
    walk.goldens = evaluate(program, walker, [Number.exact(array) for array in inputs])
    walk.own = [walker.own[name] for name in program.function.results]
    if walk.steps and (reply := backend.process.settle()) is not None:
        walker.blame(reply)
    return walk


def errors_of(outputs: Sequence[np.ndarray], goldens: Sequence[Number]) -> float:
    """The largest error of outputs beside their goldens, by the root mean square of each golden."""
    return max((relative_error(*pair) for pair in zip(outputs, goldens, strict=True)), default=0.0)


def without(program: Program, inputs: Sequence[np.ndarray], walk: Walk, exact: Values, backend: Backend) -> float:
    """The error of the program's results in the chain of the backend's own numbers, were some values `exact`."""
    scope = Scope(program, inputs)
    for op in program.function.ops:
        if op.name in ASSERTIONS:
            continue
        names = [value.name for value in op.results if value is not None]
        fixed = {**walk.substitutes, **exact}
        if all(name in fixed for name in names):
            found = [None if value is None else fixed[value.name] for value in op.results]
        else:
            found = backend.arrays(op, [scope.held(one) for one in op.operands])
        if found is None:
            return np.inf
        scope.take(op, found)
    return errors_of([scope.values[name] for name in program.function.results], walk.goldens)


@dataclass
class _Asked:
    """A call of step number `step`, whose verdicts `parts` are on its answer."""

    step: int
    parts: tuple[str, ...]
    answer: Answer


class _Walker(Scope):
    """The op set that also asks the backend; `values` are the backend's own."""

    def __init__(
        self, program: Program, inputs: Sequence[np.ndarray], backend: Backend, on_step: Callable[[], None]
    ) -> None:
        super().__init__(program, inputs)
        self.backend, self.on_step, self.walk = backend, on_step, Walk()
        self._past: deque[_Asked] = deque()  # the last calls, of which the next reply may take one back

    @property
    def own(self) -> Values:
        return self.values

    def __call__(self, op: Op, operands: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Number]:
        if op.name in ASSERTIONS:
            return aten(op, operands, attributes)
        rounded, own_operands = [_rounded(one) for one in operands], [self.held(one) for one in op.operands]
        is_one = _are_equal(rounded, own_operands)
        alone = self._asked(op, rounded, ("alone", "own") if is_one else ("alone",))
        own = alone if is_one else self._asked(op, own_operands, ("own",))
        results = self._results(op, operands, attributes, alone.answer)
        self._note(op, alone.answer, own.answer, results)
        self.on_step()
        return results

    def _asked(self, op: Op, operands: Sequence[Any], parts: tuple[str, ...]) -> _Asked:
        """What the backend answered to the next step, as which of its parts."""
        answer = self.backend.answered(op, operands)
        if answer.before is not None:
            self.blame(answer.before)
        self._past.append(_Asked(len(self.walk.steps), parts, answer))
        while len(self._past) > max(self.backend.process.suspected, 1):
            self._past.popleft()
        return self._past[-1]

    def blame(self, reply: Reply) -> None:
        """An answer that was given before ended so after all."""
        if reply.calls_before > len(self._past):
            return
        asked = self._past[-reply.calls_before]
        asked.answer = asked.answer.ended_by(reply)
        self.walk.first = self.walk.first or asked.answer
        if asked.step < len(self.walk.steps):
            ended = dict.fromkeys(asked.parts, asked.answer.verdict)
            self.walk.steps[asked.step] = replace(self.walk.steps[asked.step], **ended)

    def _results(
        self, op: Op, operands: Sequence[Any], attributes: Mapping[str, Any], alone: Answer
    ) -> Sequence[Number]:
        """The op's results on exact numbers; where there are none, its golden on the rounded operands."""
        try:
            return time_limit.or_unjudged(
                f"the golden of {op.name}", self.backend.golden_timeout_s, lambda: aten(op, operands, attributes)
            )
        except Unjudged as error:
            dict(attributes)  # the op's own golden has read them
            if isinstance(alone.outcome, Outcome):
                if alone.outcome.given is not None:
                    raise  # chance has a part in it: what the answer shows is no truth
                return [Number.exact(golden.value) for golden in alone.outcome.goldens]
            if (found := alone.arrays(op.results)) is not None:
                return [Number.exact(np.zeros(0) if array is None else array) for array in found]
            raise Unjudged(f"{error}; and the backend does not tell ({alone.verdict.reason})") from None

    def _note(self, op: Op, alone: Answer, own: Answer, results: Sequence[Number]) -> None:
        found = own.arrays(op.results)
        if found is None:
            found = [array_of(number) for number in results]
            named = zip(op.results, found, strict=True)
            self.walk.substitutes |= {value.name: array for value, array in named if value is not None}
        used = [at for at, value in enumerate(op.results) if value is not None]
        error = errors_of([found[at] for at in used], [results[at] for at in used]) if used else None
        self._note_part(op, own, found, used)
        self.walk.steps.append(Step(len(self.walk.steps), op, alone.verdict, own.verdict, error))
        self.walk.first = self.walk.first or next((one for one in (alone, own) if one.has_failed), None)
        self.take(op, found)

    def _note_part(self, op: Op, own: Answer, found: Sequence[np.ndarray | None], used: Sequence[int]) -> None:
        if not isinstance(own.outcome, Outcome) or own.reply.status != "ok":
            return
        goldens = own.outcome.goldens
        error = max((_own_error(found[at], goldens[at]) for at in used), default=0.0)
        if error > 0:
            exact = {op.results[at].name: np.asarray(goldens[at].value) for at in used}
            parts = [*self.walk.parts, Part(error, len(self.walk.steps), exact)]
            self.walk.parts = sorted(parts, key=lambda one: -one.error)[:CANDIDATES]


# --- Numbers ----------------------------------------------------------------------------------------------------------


def _rounded(operand: Any) -> Any:
    if isinstance(operand, list | tuple):
        return [_rounded(one) for one in operand]
    return None if operand is None else array_of(operand)


def array_of(number: Number) -> np.ndarray:
    """The numbers rounded once to their dtype; as operands either neighbour will do where that is not decided."""
    if number.array is not None:
        return number.array
    if number.allowed:
        return number.allowed[0]
    with np.errstate(all="ignore"):
        return round_to(number.format, number.real.hi, number.real.lo)


def _are_equal(lhs: Sequence[Any], rhs: Sequence[Any]) -> bool:
    """Whether two lists of operands are equal bit for bit."""
    return all(
        _are_equal(a, b) if isinstance(a, list) else a is b or (a is not None and a.tobytes() == b.tobytes())
        for a, b in zip(lhs, rhs, strict=True)
    )


def relative_error(array: np.ndarray, golden: Number) -> float:
    """The root mean square of the differences by that of the golden; of what is no float the share that differs."""
    if not golden.format.is_float:
        return float(np.mean(array != array_of(golden))) if array.size else 0.0
    return _relative(array, golden.real.hi, golden.real.lo)


def _own_error(array: np.ndarray, golden: Golden) -> float:
    if not golden.format.is_float:
        return float(np.mean(array != golden.value)) if array.size else 0.0
    if golden.real is None:
        return _relative(array, np.asarray(golden.value).astype(np.float64), np.float64(0))
    return _relative(array, golden.real.hi, golden.real.lo)


@np.errstate(all="ignore")
def _relative(array: np.ndarray, hi: np.ndarray, lo: np.ndarray) -> float:
    actual = array.astype(np.float64)
    alike = (actual == hi) | (np.isnan(actual) & np.isnan(hi))
    off = np.where(alike, 0.0, (actual - hi) - lo)
    if not np.isfinite(off).all():
        return np.inf
    finite = np.where(np.isfinite(hi), hi, 0.0)
    largest = max(float(np.abs(off).max(initial=0.0)), float(np.abs(finite).max(initial=0.0)))
    if largest == 0:
        return 0.0
    size = np.sqrt(np.mean((finite / largest) ** 2))
    return float(np.sqrt(np.mean((off / largest) ** 2)) / size) if size else np.inf
