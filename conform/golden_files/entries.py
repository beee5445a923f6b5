"""What a set holds of each case: its part of the manifest, and tensors by key. Writing and verifying begin here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.call.arguments import Arguments, is_tensor
from conform.call.bound import Bound, bound_call
from conform.call.families import FAMILIES
from conform.contracts.components import components
from conform.contracts.judge import allowances, bounds_ulp, possible_kind, zero_sign_is_free
from conform.contracts.tables import Row, Table
from conform.documents.limits import Limits
from conform.errors import InvalidArguments, KitDefect, Unjudged
from conform.foreign import line
from conform.golden_files.encoding import one_nan
from conform.inputs.layouts import dense, logical
from conform.interp import semantics
from conform.interp.golden import Golden, Outcome
from conform.judging.case import domain_of
from conform.judging.ended import defect
from conform.numerics.formats import format_of
from conform.numerics.real import Real
from conform.numerics.ulp import ulp
from conform.running.truth import evaluated
from conform.straight_line import MAX_TIMEOUT_S
from conform.suites.cases import Case, beyond_the_kit, too_large
from conform.suites.test import Domain

EXACT_INTEGERS = 2**53  # those up to here are numbers of JSON: every reader that has doubles has them
OWN = "own"  # the family of ops that are a user's own
EXACT = ("hi", "lo", "rest")  # the parts of the exact result; `rest` counts in units of 2^-1074
NO_MODULES = "a module's golden hangs on its parameters, which golden files do not hold"


@dataclass(frozen=True)
class Tensor:
    """One tensor of a case. `part` is what it is: input, golden, or what stands beside a golden (`bound`, `hi`, `lo`,
    ...); `place` names it for people: `bound of output 0`."""

    key: str
    part: str
    place: str
    array: np.ndarray
    unit: np.ndarray | None = None  # of a part of the exact result: what an ulp of it is, in units of the part


@dataclass(frozen=True)
class Entry:
    """One case: `told` is its part of the manifest (docs/golden.md), but for the file that holds `tensors`. Those that
    another case of the same draw brought are named in `told` alone."""

    id: str
    family: str | None
    told: dict[str, Any]
    tensors: tuple[Tensor, ...]
    defect: KitDefect | None = None


@dataclass(frozen=True)
class _Known:
    """What cases of a draw that have the same values share: the prefix of their keys, and what is expected."""

    prefix: str
    expected: dict[str, Any]


def entries_of(group: Sequence[Case], table: Table, limits: Limits) -> Iterator[Entry]:
    """The entry of each case of one draw. What fails in the kit is a defect in that case, and the others go on."""
    known: dict[tuple[str, str], _Known] = {}
    try:
        typical: Arguments | Exception = _typical(group[0], limits)
    except Exception as error:
        typical = error
    for case in group:
        try:
            if isinstance(typical, Exception):
                raise typical
            yield _entry(case, typical, known, table)
        except Unjudged as error:
            yield _without_tensors(case, error)
        except Exception as error:
            yield _without_tensors(case, defect(error))


def _typical(case: Case, limits: Limits) -> Arguments:
    test = case.draw.test
    if (reason := beyond_the_kit(test)) is not None:
        raise Unjudged(reason)
    if test.is_module:
        raise Unjudged(NO_MODULES)
    if problem := too_large(test, case.op, arguments := case.draw.arguments(), limits):
        raise Unjudged(problem)
    return arguments


def _without_tensors(case: Case, reason: Unjudged) -> Entry:
    told = {"op": case.op, "dtype": case.dtype, **_unjudged(reason)}
    return Entry(case.id, None, told, (), reason if isinstance(reason, KitDefect) else None)


def _unjudged(reason: Unjudged) -> dict[str, Any]:
    return {"status": "unjudged", "reason": line(reason)}


def _entry(case: Case, typical: Arguments, known: dict[tuple[str, str], _Known], table: Table) -> Entry:
    found = semantics.find(case.op)
    if found is None:
        raise Unjudged(f"no semantics for {case.op}")
    arguments = case.arguments(typical)
    key = (case.values, case.layout if case.layout.startswith("expanded") else "")
    tensors: tuple[Tensor, ...] = ()
    if key not in known:
        plain = logical(arguments)
        call = bound_call(case.op, plain.args, plain.kwargs)
        expected, outputs = _expected(case, call, table)
        known[key] = _Known(case.id, expected)
        tensors = (*_inputs(case.id, call), *outputs)
    shared = known[key]
    written = bound_call(case.op, arguments.args, arguments.kwargs, is_tensor).arguments
    told = {
        "op": case.op, "dtype": case.dtype, **shared.expected,
        "arguments": {name: _argument(value, f"{shared.prefix}#{name}") for name, value in written.items()},
    }  # fmt: skip
    return Entry(case.id, found.family if found.family in FAMILIES else OWN, told, tensors)


# --- Arguments --------------------------------------------------------------------------------------------------------


def _inputs(prefix: str, call: Bound) -> Iterator[Tensor]:
    for name, value in call.arguments.items():
        for key, place, array in _arrays(value, f"{prefix}#{name}", f"input {name}"):
            yield Tensor(key, "input", place, array)


def _arrays(value: Any, key: str, place: str) -> Iterator[tuple[str, str, np.ndarray]]:
    if is_tensor(value):
        yield key, place, value
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _arrays(item, f"{key}.{number}", f"{place}[{number}]")


def _argument(value: Any, key: str) -> Any:
    """A value as JSON: what JSON has no exact form for is an object with one key that says what it is."""
    if is_tensor(value):
        told = {"tensor": key, "dtype": format_of(value).name, "shape": list(dense(value).shape)}
        if not isinstance(value, np.ndarray):
            told |= {"strides": list(value.strides), "offset": value.offset, "storage": value.storage.size}
        return told
    if isinstance(value, list | tuple):
        return [_argument(item, f"{key}.{number}") for number, item in enumerate(value)]
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT_INTEGERS:
        return {"int": str(value)}
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(f"no JSON for an argument of type {type(value).__name__}")


# --- What is expected -------------------------------------------------------------------------------------------------


def _expected(case: Case, call: Bound, table: Table) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    """The status with what belongs to it, and the tensors of the outputs."""
    domain = domain_of(case, call)
    if domain and domain.broken:
        return _demand(domain), ()
    outcome = evaluated(call, MAX_TIMEOUT_S)  # what is in a file must not hang on the speed of a machine
    if isinstance(outcome, InvalidArguments):
        if domain:
            raise KitDefect(f"defect of the kit: the spec of {case.op} allows what is refused here: {outcome}")
        return {"status": "refused", "reason": line(outcome)}, ()
    if isinstance(outcome, KitDefect):
        raise outcome
    if not isinstance(outcome, Outcome):
        return _unjudged(outcome), ()
    outputs = [_Output(case, call, table, golden, number) for number, golden in enumerate(outcome.goldens)]
    told: dict[str, Any] = {"status": "golden", "outputs": [output.told() for output in outputs]}
    for number, entry in enumerate(told["outputs"]):
        if (holder := outcome.holder_of(number)) is not None:
            entry["holder"] = holder
    if outcome.refusal:
        told["may_refuse"] = outcome.refusal
    return told, tuple(tensor for output in outputs for tensor in output.tensors())


def _demand(domain: Domain) -> dict[str, Any]:
    reason = f"breaks {domain.broken}"
    if domain.lenience:
        return {"status": "unspecified", "reason": f"{reason} ({domain.lenience})"}
    return {"status": "refused", "reason": reason}


class _Output:
    """One output of a case, or an alternative of it: what stands in the manifest, and its tensors."""

    def __init__(self, case: Case, call: Bound, table: Table, golden: Golden, number: int, reading: int = 0) -> None:
        self._golden = golden
        self._key = f"{case.id}#out.{number}" + (f".or.{reading}" if reading else "")
        self._place = f"output {number}" + (f", alternative {reading}" if reading else "")
        self._row: Row = table.row_of(call.op, golden)
        self._kind = possible_kind(golden, self._row)
        self._parts = dict(self._of_golden(call))
        self._others = [
            _Output(case, call, table, other, number, place) for place, other in enumerate(golden.alternatives, 1)
        ]

    def _of_golden(self, call: Bound) -> Iterator[tuple[str, np.ndarray]]:
        """The tensors beside the value that this golden has, by the last word of their keys."""
        golden = self._golden
        with np.errstate(all="ignore"):
            bound = np.asarray(bounds_ulp(golden, self._row, call.arguments))
        yield "bound", bound
        if np.isnan(bound).any():
            yield "absolute", _full(allowances(golden, self._row), golden, np.float64)
        if golden.real is not None:
            yield "hi", _full(golden.real.hi, golden, np.float64)
            for name, part in (("lo", golden.real.lo), ("rest", golden.real.rest)):
                if part is not None and np.any(part != 0):
                    yield name, _full(part, golden, np.float64)
        if golden.open is not None and golden.open.any():
            yield "open", _full(golden.open, golden, bool)
        if (free := self._free_zeros()) is not None and free.any():
            yield "zero_sign_free", free
        if golden.ties is not None:
            yield "ranks", np.ascontiguousarray(golden.ties.ranks)

    def _free_zeros(self) -> np.ndarray | None:
        """Which zeros may have either sign; of complex numbers which parts."""
        golden, fmt = self._golden, self._golden.format
        if not (fmt.is_float or fmt.is_complex):
            return None
        value = components(fmt, golden.value) if fmt.is_complex else golden.value
        real = Real.exact(value.astype(np.float64)) if golden.real is None else golden.real
        return (value == 0) & zero_sign_is_free(golden, real, self._kind)

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor(self._key, "golden", self._place, one_nan(self._golden.value))
        for name, array in self._parts.items():
            yield Tensor(self._of(name), name, f"{name} of {self._place}", one_nan(array), self._unit(name))
        for other in self._others:
            yield from other.tensors()

    def _unit(self, name: str) -> np.ndarray | None:
        if name not in EXACT:
            return None
        fmt = self._golden.format
        unit = ulp(fmt.component if fmt.is_complex else fmt, self._parts["hi"])
        with np.errstate(over="ignore"):  # beside a large number `rest` is nothing
            return np.ldexp(unit, 1074) if name == "rest" else unit

    def told(self) -> dict[str, Any]:
        golden = self._golden
        told: dict[str, Any] = {
            "tensor": self._key, "dtype": golden.format.name, "shape": list(golden.value.shape),
            "bound": self._of("bound"), "kind": self._kind, "source": self._row.source,
        }  # fmt: skip
        told |= {name: self._of(name) for name in self._parts if name not in ("bound", "ranks")}
        if "open" in self._parts:
            told["open_rule"] = golden.open_rule
        if golden.normwise:
            told["normwise"] = True
        if golden.ties is not None:
            told["ties"] = {"dim": golden.ties.dim, "ranks": self._of("ranks")}
        if self._others:
            told["or"] = [other.told() for other in self._others]
        return told

    def _of(self, name: str) -> str:
        return f"{self._key}.{name}"


def _full(array: Any, golden: Golden, dtype: Any) -> np.ndarray:
    """In the shape of the output; what has parts of complex numbers keeps them, in a last axis of two."""
    found = np.asarray(array, dtype)
    parts = 1 if golden.format.is_complex and found.ndim > golden.value.ndim else 0
    return np.broadcast_to(found, (*golden.value.shape, *([2] * parts)))
