"""A search for slow inputs: what the golden of an element costs at worst, op by op and dtype by dtype.

Calls are drawn from the op's spec with the tensors that I8 draws (value classes, special values, all magnitudes). Some
get other tensors: numbers of one binade or two anywhere in the format's range, of full or short significands, so that
results at the range's ends, subnormal results and ties fill a whole tensor; some get Python numbers at which ops go
wrong. Then the search climbs: the slowest calls are changed a little, and the slower one stays.

A call costs CPU time, of which the constant cost of a call is taken off: that of the cheapest call of the op and dtype
that the search met. What is left is divided by the elements of the results or of the operands, whichever are more, at
least LEAST. The slowest call is timed twice. The ratio is over mpmath's exp of as many numbers, 53 bits, in the same
run.

    python benchmarks/slow_inputs.py 'aten::exp*' --seconds 5 --limit-us 20

A call that ends neither in a golden nor in a refusal is listed too, and makes the exit code 1 with --limit-us.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import count

import click
import mpmath
import numpy as np
from tabulate import tabulate

from conform.call.schemas import schema
from conform.errors import ConformError
from conform.interp.evaluate import evaluate
from conform.numerics.formats import Format, format_of
from conform.selftest.agreement.agreement import ops_and_dtypes
from conform.selftest.agreement.calls import Call, derived

LEAST = 256  # elements of a call that is timed
CLIMBERS = 6  # slowest calls that are changed
PATIENCE_S = 5  # wall time after which a call is given up and counts as this slow
NUMBERS = (
    0.0, 1.0, -1.0, 0.5, 0.7, 2.5, -3.0, 20.0, 1e5, 1e6, 1e300, -1e300, 1e-300, 5e-324, -1e-3, 2.0**24 + 1, math.inf,
    1 / 3, 1e-12, 2.0**-1000, 700.0, 2.0**1000,
)  # fmt: skip
INTEGERS = (0, 1, -1, 2, 3, 7, -7, 16, 22, 23, 100, 308, 323, -308, 1074, 2**24 + 1, 2**40)


@dataclass(frozen=True, eq=False)
class Timed:
    """A call, the CPU time of its golden, and how many elements it has; error: what it ended in instead, if wrong."""

    call: Call
    cpu_s: float
    elements: int
    error: str | None = None


@dataclass
class Search:
    """The calls of one op and dtype that were timed, by what changes them."""

    op: str
    dtype: str
    random: np.random.Generator
    timed: list[Timed] = field(default_factory=list)
    constant_s: float = math.inf

    def us(self, one: Timed) -> float:
        """Microseconds an element, without the constant cost of a call."""
        return 1e6 * max(one.cpu_s - self.constant_s, 0.0) / one.elements

    def slowest(self) -> list[Timed]:
        return sorted(self.timed, key=self.us, reverse=True)

    def confirmed(self) -> Timed:
        """The slowest call by the better of two times: a first one reads tables, and the machine does other things."""
        again: dict[int, Timed] = {}
        while (one := self.slowest()[0]) and id(one) not in again:
            place = self.timed.index(one)
            self._try(one.call)
            self.timed[place] = min(one, self.timed.pop(), key=lambda timed: timed.cpu_s)
            again[id(self.timed[place])] = self.timed[place]
        return one

    def run(self, seed: int, seconds: float) -> Search:
        """Half of the time for calls that are drawn, half to climb."""
        stop = time.monotonic() + seconds
        for drawn in self._drawn(seed):
            if drawn is not None:
                self._try(drawn)
                self._try(self._refilled(drawn))
            if time.monotonic() > stop - seconds / 2:
                break
        while self.timed and time.monotonic() < stop:
            best = self.slowest()[:CLIMBERS]
            self._try(self._changed(best[self.random.integers(len(best))].call))
        return self

    def _drawn(self, seed: int) -> Iterator[Call | None]:
        for round_ in count(1 + seed * 1000):
            for witness in derived(self.op, self.dtype, round_):
                is_large = witness.is_valid and sum(map(np.size, _tensors(witness.call).values())) >= LEAST
                yield witness.call if is_large else None

    def _try(self, call: Call) -> None:
        with _Patience(PATIENCE_S):
            start = time.process_time()
            error = None
            try:
                outcome = evaluate(self.op, [], call)
            except ConformError:
                return
            except _OutOfPatience:
                outcome, error = None, None
            except Exception as defect:
                outcome, error = None, f"{type(defect).__name__}: {defect}"
            cpu_s = time.process_time() - start
        results = 0 if outcome is None else sum(golden.value.size for golden in outcome.goldens)
        elements = max(results, sum(tensor.size for tensor in _tensors(call).values()))
        if outcome is not None:
            self.constant_s = min(self.constant_s, cpu_s)
        if error or elements >= LEAST:
            self.timed.append(Timed(call, cpu_s, max(elements, 1), error))

    # -- calls from calls

    def _refilled(self, call: Call) -> Call:
        """Every float tensor of other numbers, and every Python number another at about every second place."""
        tensors = {name: self._numbers(value) for name, value in _tensors(call).items() if _is_float(value)}
        chosen = {name: self._other_number(name) for name in self._number_names(call) if self.random.integers(2)}
        return {**call, **tensors, **chosen}

    def _changed(self, call: Call) -> Call:
        """One tensor or number of the call is another, or one tensor moves by some binades."""
        tensors = [name for name, value in _tensors(call).items() if _is_float(value)]
        names = [*tensors, *self._number_names(call)]
        if not names:
            return call
        name = names[self.random.integers(len(names))]
        if name not in tensors:
            return {**call, name: self._other_number(name)}
        change = (self._numbers, self._moved, self._moved, self._shuffled)[self.random.integers(4)]
        return {**call, name: change(call[name])}

    def _number_names(self, call: Call) -> list[str]:
        types = {argument.name: argument.type for argument in schema(self.op).arguments}
        numbers = [name for name in call if types[name] in ("Scalar", "float") and isinstance(call[name], int | float)]
        return numbers + [name for name in call if name == "decimals"]

    def _other_number(self, name: str) -> int | float:
        pool = INTEGERS if name == "decimals" else NUMBERS
        return pool[self.random.integers(len(pool))]

    def _numbers(self, like: np.ndarray) -> np.ndarray:
        """Numbers of one binade or of two, of any place in the range, of full or short significands, of one or both
        signs; or all special: equal, or next to a power of two."""
        fmt = _component(format_of(like))
        exponent = self.random.integers(fmt.emin - fmt.mantissa_bits, fmt.emax + 1)
        if self.random.integers(3) == 0:  # small and moderate numbers are where most functions bend
            exponent = self.random.integers(-12, 25)
        bits = (fmt.mantissa_bits, fmt.mantissa_bits // 2, 2, 0)[self.random.integers(4)]
        steps = self.random.integers(0, 1 << bits, _real_shape(like))
        numbers = np.ldexp(1.0 + steps * 2.0**-bits, exponent - self.random.integers(0, 2, steps.shape))
        signs = (np.ones(steps.shape), -np.ones(steps.shape), self.random.choice([-1.0, 1.0], steps.shape))
        return _stored(numbers * signs[self.random.integers(3)], like)

    def _moved(self, tensor: np.ndarray) -> np.ndarray:
        """Times a power of two."""
        with np.errstate(all="ignore"):
            return _stored(np.ldexp(_as_float64(tensor), int(self.random.integers(-40, 41))), tensor)

    def _shuffled(self, tensor: np.ndarray) -> np.ndarray:
        """One of its numbers everywhere, and its neighbours beside it."""
        numbers = _as_float64(tensor)
        if not numbers.size:
            return tensor
        one = self.random.choice(numbers.ravel())
        with np.errstate(all="ignore"):
            step = np.spacing(np.asarray(one, _component(format_of(tensor)).storage)).astype(np.float64)
            return _stored(one + step * self.random.integers(-3, 4, numbers.shape), tensor)


def _component(fmt: Format) -> Format:
    return fmt.component if fmt.is_complex else fmt


def _is_float(value: np.ndarray) -> bool:
    fmt = format_of(value)
    return fmt.is_float or fmt.is_complex


def _real_shape(tensor: np.ndarray) -> tuple[int, ...]:
    return (*tensor.shape, 2) if format_of(tensor).is_complex else tensor.shape


def _as_float64(tensor: np.ndarray) -> np.ndarray:
    """The numbers, of complex ones both parts."""
    if format_of(tensor).is_complex:
        return np.stack([tensor.real, tensor.imag], -1).astype(np.float64)
    return tensor.astype(np.float64)


def _stored(numbers: np.ndarray, like: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        if format_of(like).is_complex:
            return (numbers[..., 0] + 1j * numbers[..., 1]).astype(like.dtype)
        return numbers.astype(like.dtype)


def _tensors(call: Call) -> dict[str, np.ndarray]:
    return {name: value for name, value in call.items() if isinstance(value, np.ndarray)}


class _OutOfPatience(Exception):
    """Raised in a call that takes too long."""


class _Patience:
    """A context in which _OutOfPatience is raised after so many seconds of wall time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self._raise)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    @staticmethod
    def _raise(*_: object) -> None:
        raise _OutOfPatience


def mpmath_us() -> float:
    """What mpmath's exp takes for one number of 53 bits."""
    numbers = [mpmath.mpf(x) for x in np.linspace(-5, 5, 4000).tolist()]
    start = time.process_time()
    for x in numbers:
        mpmath.exp(x)
    return 1e6 * (time.process_time() - start) / len(numbers)


def row(search: Search, one: Timed, yardstick_us: float) -> list[object]:
    us = search.us(one)
    return [search.op, search.dtype, us, us / yardstick_us, one.elements, one.error or _told(one.call)]


def _told(call: Call) -> str:
    """The call in short: of a tensor its shape and ends."""

    def value(argument: object) -> str:
        if not isinstance(argument, np.ndarray):
            return repr(argument)
        if not argument.size or not _is_float(argument):
            return f"{argument.dtype}{list(argument.shape)}"
        numbers = _as_float64(argument)
        return f"{list(argument.shape)} of {np.nanmin(numbers):.3g} to {np.nanmax(numbers):.3g}"

    return ", ".join(f"{name}={value(argument)}" for name, argument in call.items())[:150]


@click.command()
@click.argument("ops", nargs=-1)
@click.option("--dtype", "dtypes", multiple=True, help="Of these dtypes alone.")
@click.option("--seed", default=0, show_default=True, help="What is drawn.")
@click.option("--seconds", default=2.0, show_default=True, help="For each op and dtype.")
@click.option("--share", default="1/1", show_default=True, help="k/n: every n-th op and dtype, from the k-th on.")
@click.option("--limit-us", type=float, help="List what is above, and end with 1 if anything is.")
@click.option("--most", default=40, show_default=True, help="Rows of the table without a limit.")
def main(
    ops: tuple[str, ...], dtypes: tuple[str, ...], seed: int, seconds: float, share: str, limit_us: float | None,
    most: int,
) -> None:  # fmt: skip
    """The slowest calls of the ops (globs; all by default), one row for each op and dtype."""
    part, parts = map(int, share.split("/"))
    pairs = [
        (op, dtype) for op, dtype in ops_and_dtypes()
        if any(fnmatch(op, glob) for glob in ops or ("*",)) and dtype in (dtypes or (dtype,))
    ][part - 1 :: parts]  # fmt: skip
    if not pairs:
        raise click.UsageError("no op and dtype has such a name")
    yardstick_us, rows = mpmath_us(), []
    for number, (op, dtype) in enumerate(pairs):
        search = Search(op, dtype, np.random.default_rng((seed, number))).run(seed, seconds)
        rows += [row(search, one, yardstick_us) for one in search.timed if one.error][:1]
        rows += [row(search, search.confirmed(), yardstick_us)] if search.timed else []
    above = [one for one in rows if limit_us is not None and (one[2] > limit_us or "Error" in str(one[5]))]
    told = sorted(rows if limit_us is None else above, key=lambda one: -one[2])[: most if limit_us is None else None]
    headers = ["op", "dtype", "us an element", "over mpmath's exp", "elements", "slowest call"]
    print(tabulate(told, headers=headers, tablefmt="github", floatfmt=".3g"))
    print(f"{len(pairs)} ops and dtypes, seed {seed}; mpmath's exp takes {yardstick_us:.3g} us")
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
