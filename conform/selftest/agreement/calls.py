"""The calls that I8 compares: meta tuples from the op's spec, their tensors filled by value classes.

A round of an op and dtype is a pure function of the three. Half of its tuples are large, so that many results stand
beside sums of few terms; the others are small, and are filled again and again where the op gives a number or two a
call. Round 0 has a tuple that breaks each constraint, too. What no spec can know is in
`patterns.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from conform.call.arguments import map_tensors
from conform.domains.engine.argument_generator import arguments
from conform.domains.engine.coverage import Coverage
from conform.domains.engine.generator import Limits
from conform.domains.engine.meta_argument import tensor_metas
from conform.domains.engine.meta_tuple import MetaTuple, invalid_tuples, results, valid_tuples
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import spec_of
from conform.numerics.draws import Stream
from conform.selftest.agreement.fills import filled
from conform.selftest.agreement.numbers import with_interesting_numbers

Call = dict[str, Any]  # every argument by its name in the schema

LARGE = Limits(numel=1600, size_of_rank=(1, 1600, 200, 60, 20), short=4)
SMALL = Limits(numel=12, size_of_rank=(1, 9, 4, 3, 2))
TUPLES = 48  # of a round
MOST_RESULTS, MOST_READ = 3200, 4800  # elements of the results and of the operands of one call
READ_A_RESULT, READ_FOR_ONE = 24, 100  # of the operands, beside many results and beside one
CANDIDATES = 4  # large tuples of which one is taken
TIMES = 16  # that a tuple is filled, if an op gives a few numbers a call and no more
FEW = 4


class Witness(NamedTuple):
    """A call, and whether it must have a result (True), must not (False), or is for both sides to say (None)."""

    call: Call
    is_valid: bool | None = True


def derived(op: str, dtype: str, round_: int) -> Iterator[Witness]:
    """The witnesses of one round that follow from the op's spec."""
    spec = spec_of(op)
    stream = Stream(0, f"i8 {op} {dtype}", round_, "calls")
    (seed,) = stream.integers(0, 2**62, 1).tolist()
    tuples = list(itertools.islice(_valid(spec, dtype, seed), TUPLES))
    times = TIMES if max(_counts(spec, one)[0] for one in tuples) <= FEW else 1
    for tuple_ in tuples:
        for call in _calls(spec, with_interesting_numbers(spec, tuple_, stream), times, stream):
            yield Witness(call)
    if round_ == 0:
        broken = invalid_tuples(spec, seed, dtype=dtype)
        for tuple_ in itertools.islice(broken, len(spec.constraints)):
            for call in _calls(spec, tuple_, 1, stream):
                yield Witness(call, None if tuple_.lenience else False)


def _valid(spec: OpSpec, dtype: str, seed: int) -> Iterator[MetaTuple]:
    """Large ones whose other operands have any dtype and the same one, and small ones, in turn."""
    coverage = Coverage()

    def tuples(number: int, limits: Limits, every: bool) -> Iterator[MetaTuple]:
        return valid_tuples(spec, seed + number, dtype=dtype, every=every, coverage=coverage, limits=limits)

    large = [_with_many_results(spec, tuples(number, LARGE, every)) for number, every in enumerate((False, True))]
    small = [_affordable(spec, tuples(number + 2, SMALL, every)) for number, every in enumerate((False, True))]
    for each in itertools.cycle((*large, *small)):
        yield next(each)


def _with_many_results(spec: OpSpec, tuples: Iterator[MetaTuple]) -> Iterator[MetaTuple]:
    """From every few tuples the one with the most results."""
    affordable = _affordable(spec, tuples)
    while True:
        yield max(itertools.islice(affordable, CANDIDATES), key=lambda one: _counts(spec, one)[0])


def _affordable(spec: OpSpec, tuples: Iterator[MetaTuple]) -> Iterator[MetaTuple]:
    """The tuples that read few elements for a result, and have not too many."""
    for tuple_ in tuples:
        given, read = _counts(spec, tuple_)
        if given <= MOST_RESULTS and read <= min(MOST_READ, READ_A_RESULT * given + READ_FOR_ONE):
            yield tuple_


def _counts(spec: OpSpec, tuple_: MetaTuple) -> tuple[int, int]:
    """How many elements the results have, and how many the operands."""
    tensors = [part for meta in tuple_.arguments.values() for part in tensor_metas(meta)]
    return sum(one.numel for one in results(spec, tuple_.arguments)), sum(one.numel for one in tensors)


def _calls(spec: OpSpec, tuple_: MetaTuple, times: int, stream: Stream) -> Iterator[Call]:
    """The call, as often, with other elements each time."""
    kwarg_only = {one.name for one in spec.schema.arguments if one.kwarg_only}
    positional = [name for name in tuple_.arguments if name not in tuple_.omitted and name not in kwarg_only]
    stacked = map_tensors(arguments(spec, tuple_, stream), lambda _, tensor: np.stack([tensor] * times))
    made = filled(stacked, spec, tuple_, stream)
    for number in range(times):
        one = map_tensors(made, lambda _, tensor, number=number: np.asarray(tensor[number]))
        yield dict(zip(positional, one.args, strict=True)) | one.kwargs
