"""A piece's tally: one wrong result at a time in literals, then the same figures as a check's own judge gives on all
inputs of the 16-bit formats, of results that are spoiled in every way."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from conform.backends.reply import Output
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.comparison import Comparison
from conform.contracts.judge import judged
from conform.contracts.tables import contract_table, names
from conform.domains.engine.dtypes import FLOATS
from conform.interp.evaluate import evaluate
from conform.judging.judgement import Result
from conform.selftest.agreement.exhaustion import HALVES, exhausted_ops
from conform.sweep.judged import Judge
from conform.sweep.record import Writer, histogram
from conform.sweep.space import PIECE, Codes
from conform.sweep.subject import Subject, subject_of
from conform.sweep.tally import Tally, from_json, to_json, whole

ONE = 0x3F800000
PIECE_OF_ONE = Codes(ONE, ONE + PIECE - 1)


def judge(subject: Subject, contract: str = "opencl", arithmetic: Arithmetic | None = None) -> Judge:
    tables = tuple(map(contract_table, names()))
    return Judge(subject, tables, contract, *([arithmetic] if arithmetic else []))


def golden(subject: Subject, codes: Codes) -> np.ndarray:
    return subject.outcome(subject.call(codes)).goldens[0].value


def tally(subject: Subject, codes: Codes, actual: np.ndarray, **others) -> Tally:
    with np.errstate(all="ignore"):
        return judge(subject, **others).tally(codes, Output(actual, (1,)))


def test_correctly_rounded_results():
    subject = subject_of("sqrt")
    found = tally(subject, PIECE_OF_ONE, golden(subject, PIECE_OF_ONE))
    assert (found.inputs, found.compared, found.right, found.open) == (PIECE, PIECE, PIECE, 0)
    assert 0.4999 < found.worst.error_ulp <= found.at_most_ulp == 0.5
    assert {name for name, one in found.tables.items() if one.judges} == set(names()) - {"tosa"}  # which has no sqrt
    assert not any(one.failed.count for one in found.tables.values())
    assert (found.wrong_classes, found.lost) == ({}, ())


def test_one_result_that_is_four_ulps_off():
    """sqrt(1 + 1000 u) = 1 + 500 u - 125000 u^2 and a little more, u = 2^-23: 504 u is off by 4 u + 125000 u^2."""
    subject = subject_of("sqrt")
    actual = golden(subject, PIECE_OF_ONE).copy()
    actual.view(np.uint32)[1000] += 4
    found = tally(subject, PIECE_OF_ONE, actual)
    assert (found.compared, found.right, found.worst.code) == (PIECE, PIECE - 1, ONE + 1000)
    assert (found.worst.actual, found.worst.expected) == (ONE + 504, ONE + 500)
    assert found.worst.error_ulp == pytest.approx(4 + 125_000 * 2.0**-23, abs=1e-5)
    assert found.binades[0][127] == found.worst.error_ulp == found.binades[0].max()
    assert {name for name, one in found.tables.items() if one.failed.count} == {"cr", "cuda", "opencl"}
    assert found.tables["opencl"].failed.first.code == ONE + 1000


@pytest.mark.parametrize(
    ("op", "code", "actual", "kind"),
    [
        ("exp", 0x3F800000, np.nan, "NaN where a number is expected"),
        ("log", 0xBF800000, 1.0, "a number where NaN is expected"),
        ("sin", 0x80000000, 0.0, "wrong sign of zero"),
        ("log", 0x00000000, np.inf, "wrong infinity"),
        ("reciprocal", 0x80000000, -1.0, "wrong infinity"),
    ],
)
def test_wrong_classes(op, code, actual, kind):
    subject, codes = subject_of(op), Codes(code, code + 3)
    results = golden(subject, codes).copy()
    results[0] = actual
    found = tally(subject, codes, results)
    assert {name: (one.count, one.first.code) for name, one in found.wrong_classes.items()} == {kind: (1, code)}
    assert found.tables["opencl"].failed.count == 1
    assert found.worst is None or np.isfinite(found.worst.error_ulp)


def test_any_nan_is_as_good_as_another():
    subject, codes = subject_of("log"), Codes(0xFFC00000, 0xFFC0000F)
    actual = np.arange(0xFF800001, 0xFF800011, dtype=np.uint32).view(np.float32)
    assert tally(subject, codes, actual).right == 16


def test_what_is_open_is_not_compared():
    subject = subject_of("silu", "float16")
    codes = Codes(0xFC00, 0xFC00)
    found = tally(subject, codes, np.array([3.0], np.float16))
    assert (found.inputs, found.compared, found.open) == (1, 0, 1)
    assert not any(one.failed.count or one.judges for one in found.tables.values())


def test_errors_by_size():
    """1 + k 2^-23 to float16, whose ulp is 2^-10: k 2^-13 ulps; the smallest bin reaches to 2^-9."""
    subject, codes = subject_of("_to_copy", "float32", {"dtype": "float16"}), Codes(ONE, ONE + 7)
    found = tally(subject, codes, np.array([1.0] * 8, np.float16))
    bins = {each["to_ulp"]: each["count"] for each in histogram(found.histogram)}
    assert bins == {0.0: 1, 2.0**-9: 7}
    assert found.worst.code == ONE + 7
    assert found.worst.error_ulp == 7 * 2.0**-13


def test_binades_are_told_from_the_smallest_number_to_the_largest():
    """By sign and exponent field: 127 is that of 1, 256 + 128 that of -2."""
    largest = np.full(512, -1.0)
    largest[[127, 128, 256 + 127, 256 + 128]] = [0.5, 1.0, 2.0, 3.0]
    told = [(float.fromhex(one["from"]), one["max_error_ulp"]) for one in Writer(subject_of("exp")).binades(largest)]
    assert told == [(-2.0, 3.0), (-1.0, 2.0), (1.0, 0.5), (2.0, 1.0)]


def test_a_wrong_dtype_is_lost():
    subject, codes = subject_of("exp"), Codes(ONE, ONE + 1)
    found = tally(subject, codes, np.ones(2, np.float64))
    assert [(lost.codes, lost.status, lost.reason) for lost in found.lost] == [
        (codes, "fail", "dtype float64 instead of float32")
    ]
    assert (found.inputs, found.compared) == (2, 0)


def test_a_backend_that_flushes_as_it_says():
    subject, codes = subject_of("sqrt"), Codes(1, 4)
    zeros = np.zeros(4, np.float32)
    flushing = Arithmetic(flushes_subnormals=True)
    for arithmetic, failed in ((None, 4), (flushing, 0)):
        assert tally(subject, codes, zeros, arithmetic=arithmetic).tables["opencl"].failed.count == failed


def spoiled(right: np.ndarray, seed: int) -> np.ndarray:
    """A result in ten is another: by one code or a few, its negative, NaN, an infinity, zero, any code."""
    rng = np.random.default_rng(seed)
    codes = np.ascontiguousarray(right).copy().view(f"u{right.itemsize}")
    places = rng.choice(codes.size, codes.size // 10, replace=False)
    kinds = np.array_split(places, 6)
    codes[kinds[0]] += rng.integers(1, 4, kinds[0].size).astype(codes.dtype)
    codes[kinds[1]] -= rng.integers(1, 40, kinds[1].size).astype(codes.dtype)
    codes[kinds[2]] ^= codes.dtype.type(1 << (8 * codes.itemsize - 1))
    codes[kinds[3]] = rng.integers(0, np.iinfo(codes.dtype).max, kinds[3].size, endpoint=True).astype(codes.dtype)
    found = codes.view(right.dtype)
    found[kinds[4]] = right.dtype.type("nan")
    found[kinds[5][::2]] = right.dtype.type("-inf")
    found[kinds[5][1::2]] = 0
    return found


def gives_floats(op, keywords):
    return evaluate(op, (np.float16([1]),), keywords).goldens[0].format.is_float


# What rounds to a float of 16 bits, or to float32. The angle of a real number is one of two values, for
# which no table has a bound.
OF_ONE_OPERAND = [
    pytest.param(op.removeprefix("aten::"), keywords, marks=pytest.mark.rotating(8))
    for op, several in exhausted_ops().items()
    for keywords in several
    if keywords.get("dtype") in (None, *FLOATS[:3]) and op != "aten::angle" and gives_floats(op, keywords)
]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("op", "keywords"), [*OF_ONE_OPERAND, ("softplus", {"beta": 0.3}), ("add", {"other": 0.1})])
def test_the_same_as_a_check_says(op, keywords, dtype):
    """All 65,536 inputs: how many fail each table, and what a verdict would tell of the rest."""
    subject = subject_of(op, dtype, keywords)
    codes = subject.space.codes
    call = subject.call(codes)
    expected = subject.outcome(call).goldens[0]
    actual = spoiled(expected.value, seed=3)
    found = tally(subject, codes, actual)
    with np.errstate(all="ignore"):
        comparison = Comparison(expected, actual, call.arguments)
        rows = {name: contract_table(name).row(subject.op, expected.format.name) for name in names()}
        failed = {name: int(sum((~each.ok).sum() for _, each in judged(comparison, row))) for name, row in rows.items()}
        one = Result(0, subject.op, comparison, rows["opencl"], independent=False).judgement
        ((_, elements),) = judged(comparison, rows["opencl"])
    assert {name: standing.failed.count for name, standing in found.tables.items()} == failed
    assert (found.compared, found.open) == (one.compared, one.open)
    errors = np.where(np.isfinite(elements.error_ulp) & ~elements.open, elements.error_ulp, -1.0)
    assert found.worst.error_ulp == pytest.approx(errors.max(), rel=1e-9)
    assert errors[found.worst.code] == pytest.approx(errors.max(), rel=1e-9)
    assert int(found.histogram.sum()) == np.count_nonzero(errors >= 0)
    assert sum(count.count for count in found.wrong_classes.values()) == np.count_nonzero(elements.wrong_class)


def test_pairs_are_the_same_as_a_check_says():
    subject = subject_of("atan2", "bfloat16")
    codes = Codes(0x3F810000, 0x3F81FFFF)
    call = subject.call(codes)
    expected = subject.outcome(call).goldens[0]
    actual = spoiled(expected.value, seed=4)
    found = tally(subject, codes, actual)
    with np.errstate(all="ignore"):
        row = contract_table("opencl").row("aten::atan2", "bfloat16")
        ((_, elements),) = judged(Comparison(expected, actual, call.arguments), row)
    assert found.tables["opencl"].failed.count == np.count_nonzero(~elements.ok)
    rhs = (np.arange(65536) >> 7) & 0x1FF
    errors = np.where(np.isfinite(elements.error_ulp), elements.error_ulp, -1.0)
    np.testing.assert_allclose(found.binades[1], [errors[rhs == at].max() for at in range(512)], rtol=1e-6)
    assert np.flatnonzero(found.binades[0] >= 0).tolist() == [127]


def _equal(one: Tally, other: Tally) -> bool:
    return json.dumps(to_json(one)) == json.dumps(to_json(other))


@pytest.mark.parametrize("seed", range(5))
def test_a_whole_is_the_same_from_any_parts(seed):
    """Any order and grouping of parts, among them lost ones; and through JSON."""
    subject = subject_of("tanh", "bfloat16")
    actual = spoiled(golden(subject, subject.space.codes), seed=5)
    parts = []
    for codes in subject.space.codes.cut(4096):
        wrong = actual[codes.first : codes.last + 1]
        parts.append(tally(subject, codes, wrong.astype(np.float32) if codes.first in (8192, 12288) else wrong))
    expected = whole(subject.space, parts)
    assert [(lost.codes, lost.status) for lost in expected.lost] == [(Codes(8192, 16383), "fail")]
    shuffled = random.Random(seed)
    while len(parts) > 1:
        one, other = (parts.pop(shuffled.randrange(len(parts))) for _ in range(2))
        parts.append(from_json(subject.space, json.loads(json.dumps(to_json(one)))).merged(other))
    assert _equal(parts[0], expected)


def test_of_equal_errors_the_first_is_told():
    """-1.5 for -1 and -3 for -2 are 2^22 ulps off: the smaller code is told, whichever comes first."""
    subject, codes = subject_of("neg"), (Codes(0x3F800000, 0x3F800000), Codes(0x40000000, 0x40000000))
    parts = [tally(subject, one, golden(subject, one) * np.float32(1.5)) for one in codes]
    assert [(part.worst.code, part.worst.error_ulp) for part in parts] == [(0x3F800000, 2**22), (0x40000000, 2**22)]
    for one, other in (parts, parts[::-1]):
        both = one.merged(other)
        assert both.worst.code == both.tables["cr"].failed.first.code == 0x3F800000
        assert (both.tables["cr"].failed.count, both.inputs, both.right) == (2, 2, 0)


def test_more_equal_errors_than_are_asked_again():
    """e^x of x around 2^-60 is 1: 65,536 errors of one ulp, less than what float64 tells apart."""
    subject, codes = subject_of("exp"), Codes(0x21800000, 0x2180FFFF)
    found = tally(subject, codes, np.full(PIECE, np.nextafter(np.float32(1), np.float32(2))))
    assert found.worst.error_ulp == pytest.approx(1.0, abs=1e-9)
    assert found.worst.error_ulp < found.at_most_ulp <= 1 + 2.0**-16


def test_an_error_by_another_reading_is_not_asked_again():
    """0.3 as float16 has it is as right as the double (P30): results of that are off by no more than half an ulp."""
    subject = subject_of("softplus", "float16", {"beta": 0.3})
    first = subject.outcome(subject.call(subject.space.codes)).goldens[0]
    actual = first.alternatives[-1].value
    assert np.count_nonzero(actual != first.value) > 1000
    found = tally(subject, subject.space.codes, actual, contract="cr")
    assert found.tables["cr"].failed.count == 0
    assert found.worst.error_ulp <= 0.5


def test_the_largest_error_is_asked_again_in_float64():
    """The exact error of float32's 1.0 as sin(1.5707964) is known to far more than what float64 gives."""
    subject, codes = subject_of("sin"), Codes(0x3FC90FDB, 0x3FC90FDB)
    found = tally(subject, codes, np.array([np.nextafter(np.float32(1), np.float32(0))]))
    assert found.worst.radius_ulp < 1e-15
    # sin(1.57079637050628662109375) = 1 - 9.555e-16; below 1 an ulp is 2^-24
    assert found.worst.error_ulp == pytest.approx(1 - 9.5549e-16 * 2**24, abs=1e-9)
    assert found.at_most_ulp == found.worst.error_ulp + found.worst.radius_ulp
