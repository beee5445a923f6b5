"""What a verdict says in words, for every way to be wrong, in real and complex results; and its defaults."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.tables import Row
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Golden, Outcome
from conform.judging import products
from conform.judging.case import verdict_of
from conform.judging.errors_of_sums import ErrorsOfSums, errors_together
from conform.judging.likely import LikelyErrors, likely_errors
from conform.judging.verdict import FLUSHED, Verdict
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from tests.judging.test_case import OPENCL, case, returned, verdict

F32 = np.float32
INF, NAN = np.inf, np.nan
F = FORMATS["float32"]


def told(real: list[float], actual: list[float]) -> tuple[str | None, tuple[int, ...]]:
    """The reason for a result that the op gives of these numbers, and the place of the worst element."""
    numbers = np.array(real, np.float64)
    golden = Golden(F, numbers.astype(F32), Real.exact(numbers))
    found = verdict("aten::exp", [F32(np.zeros(len(real)))], returned(F32(actual)), Outcome((golden,)))
    return found.reason, found.worst.index


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        (1.0, NAN, "NaN where a number is expected"),
        (INF, NAN, "NaN where a number is expected"),
        (NAN, 1.0, "a number where NaN is expected"),
        (NAN, INF, "a number where NaN is expected"),
        (NAN, 0.0, "a number where NaN is expected"),
        (0.0, -0.0, "wrong sign of zero"),
        (INF, 0.0, "wrong infinity"),
        (INF, -INF, "wrong infinity"),
        (INF, 3e38, "wrong infinity"),
        (1.0, INF, "error above the bound"),
        (1.0, 0.0, "error above the bound"),
        (0.0, 1.0, "error above the bound"),
        (0.0, INF, "error above the bound"),
    ],
)
def test_real_numbers_and_their_mirror_images(expected: float, actual: float, reason: str, sign: int) -> None:
    assert told([1.0, sign * expected, 1.0], [1.0, sign * actual, 1.0]) == (reason, (1,))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("part", ["real", "imag"])
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [(NAN, "NaN where a number is expected"), (INF, "error above the bound")],
)
def test_a_part_of_a_complex_number(place: int, part: str, wrong: float, reason: str) -> None:
    x = np.complex64([1 + 2j, 3 + 4j, 5 + 6j])
    actual = (x * 1).copy()
    setattr(actual[place : place + 1], part, F32(wrong))
    found = verdict("aten::mul", [x, np.complex64([1])], returned(actual))
    assert (found.reason, found.worst.index, found.failed) == (reason, (place,), 1)


def test_why_nothing_was_judged() -> None:
    vague = Golden(F, F32([1.0]), Real.exact(np.array([1.0])), budget=np.array([INF]))
    vacuous = verdict("aten::gelu", [F32([1.0])], returned(F32([7.0])), Outcome((vague,)))
    assert (vacuous.reason, vacuous.rule) == (
        "the bound is vacuous: none, or beyond 1e-2 of the scale", "vacuous bound",
    )  # fmt: skip
    call = bound_call("aten::lgamma", [F32([3.0])], {})
    table = SimpleNamespace(name="mine", row_of=lambda *_: Row("unbounded", None, None, "no source"))
    unbounded = verdict_of(case(call.op), call, evaluate_call(call), returned(F32([7.0])), table)
    assert unbounded.reason.startswith("no bound: ")
    assert unbounded.rule == "no contract with a source"
    neither = Golden(F, F32([1.0]), Real.exact(np.array([1.0])))
    unknown = verdict("aten::gelu", [F32([1.0])], returned(F32([7.0])), Outcome((neither,)))
    assert (unknown.reason, unknown.rule) == ("no table bounds the op's error", "no contract with a source")


def test_a_verdict_counts_nothing_unless_it_is_told() -> None:
    bare = Verdict("i", "t", "aten::exp", "float32", "typical", "contiguous", "crash", "SIGSEGV")
    assert (bare.compared, bare.checks, bare.failed, bare.open, bare.log) == (0, 0, 0, 0, "")
    with pytest.raises(ValueError, match="status 'fail' without a reason"):
        Verdict("i", "t", "aten::exp", "float32", "typical", "contiguous", "fail")
    with pytest.raises(ValueError, match="pass with 0 elements compared, 0 checks, 0 failed"):
        Verdict("i", "t", "aten::exp", "float32", "typical", "contiguous", "pass")
    with pytest.raises(ValueError, match="pass with 3 elements compared, 0 checks, 1 failed"):
        Verdict("i", "t", "aten::exp", "float32", "typical", "contiguous", "pass", compared=3, failed=1)


@pytest.mark.parametrize("index", [-1, 3, 2**40, -(2**40)])
def test_an_index_outside_of_its_dim_fails_where_operands_may_be_flushed(index: int) -> None:
    x = F32([[2.0**-130, 1.0, 2.0**-131]])
    call = bound_call("aten::sort", [x], {})
    reply = returned(F32([[2.0**-131, 2.0**-130, 1.0]]), np.int64([[2, 0, index]]))
    found = verdict_of(case(call.op), call, evaluate_call(call), reply, OPENCL, Arithmetic(flushes_subnormals=True))
    assert (found.status, found.reason, found.worst.output) == ("fail", "wrong value", 1)


@pytest.mark.parametrize(
    ("values", "layout"), [("special", "contiguous"), ("typical", "expanded.0"), ("ties", "offset.0")]
)
@pytest.mark.parametrize("op", ["aten::exp", "aten::sum", "aten::sort"])
def test_a_case_whose_terms_are_not_independent_is_judged_by_the_bounds_of_its_elements(
    op: str, values: str, layout: str
) -> None:
    call = bound_call(op, [F32([0.0, 1.0, 2.0])], {})
    outcome = evaluate_call(call)
    asked = replace(case(call.op), values=values, layout=layout)
    assert not asked.has_independent_terms
    right = returned(*(golden.value for golden in outcome.goldens))
    assert verdict_of(asked, call, outcome, right, OPENCL).status == "pass"
    wrong = returned(*(golden.value + 1 for golden in outcome.goldens))
    assert verdict_of(asked, call, outcome, wrong, OPENCL).status == "fail"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_lost_subnormal_result_of_normal_operands_looks_like_flushing(sign: int) -> None:
    args = [F32([sign * 2.0**-100]), F32([2.0**-30])]
    flushed = verdict("aten::mul", args, returned(F32([sign * 0.0])))
    assert (flushed.reason, flushed.causes) == ("not the correctly rounded result", {FLUSHED: 1})
    other = verdict("aten::mul", args, returned(F32([sign * 2.0**-131])))
    assert (other.reason, other.causes) == ("not the correctly rounded result", {})


# --- Which rule for many errors ---------------------------------------------------------------------------------------


def of_sums(size: int, dtype: str = "float32", **rest: object) -> Golden:
    numbers = np.linspace(1, 2, size)
    return Golden(FORMATS[dtype], numbers.astype(FORMATS[dtype].storage), Real.exact(numbers), **rest)


SUMS = {"terms": 10, "magnitude": np.full(1000, 4.0)}


@pytest.mark.parametrize(
    ("kind", "golden", "likely", "expected"),
    [
        ("accumulation", of_sums(1000, **SUMS), None, ErrorsOfSums),
        ("tosa", of_sums(1000, **SUMS), None, ErrorsOfSums),
        ("derived", of_sums(1000, **SUMS), None, ErrorsOfSums),
        ("derived", of_sums(1000, budget=np.ones(1000), **SUMS), None, None),
        ("accumulation", of_sums(1000), None, None),
        ("accumulation", of_sums(999, terms=10, magnitude=np.full(999, 4.0)), None, None),
        *((kind, of_sums(1000, **SUMS), None, None) for kind in ("exact", "ulp", "ulp_of_rounded", "almost_eq")),
        ("unbounded", of_sums(1000, **SUMS), None, None),
        ("derived", of_sums(3, budget=np.ones(3)), of_sums(3, budget=np.ones(3)), LikelyErrors),
        *((kind, of_sums(3, budget=np.ones(3)), of_sums(3, budget=np.ones(3)), None)
          for kind in ("exact", "ulp", "ulp_of_rounded", "almost_eq", "unbounded", "tosa", "accumulation")),
    ],
)  # fmt: skip
def test_the_rule_follows_from_the_row_and_the_golden(
    kind: str, golden: Golden, likely: Golden | None, expected: type | None
) -> None:
    found = errors_together(golden, golden.value, Row(kind, None, None, "test"), likely)
    assert type(found) is (type(None) if expected is None else expected)


@pytest.mark.parametrize(
    ("op", "args", "applies"),
    [
        ("aten::var", [np.linspace(0, 1, 2048, dtype=F32), None], True),
        ("aten::var", [np.linspace(0, 1, 1023, dtype=F32), None], False),  # shorter than 1024
        ("aten::var", [np.linspace(0, 1, 1024, dtype=F32), None], True),
        ("aten::var", [np.linspace(0, 1, 2048, dtype=F32).reshape(2, 1024), [1]], True),
        ("aten::var", [np.linspace(0, 1, 2048, dtype=F32).reshape(4, 512), [1]], False),
        ("aten::sum", [np.linspace(0, 1, 2048, dtype=F32)], False),  # a sum has a bound of its own
        ("aten::logsumexp", [np.linspace(0, 1, 2048, dtype=F32), [0]], False),  # exponentials may all err alike
        ("aten::exp", [np.linspace(0, 1, 2048, dtype=F32)], False),
    ],
)
def test_the_limit_for_independent_roundings_is_for_long_sums_without_exponentials(
    op: str, args: list, applies: bool
) -> None:
    call = bound_call(op, args, {})
    found = likely_errors(call, evaluate_call(call))
    assert [each is not None for each in found] == [applies] * len(found)


# --- A compute mode near zero and at its largest numbers --------------------------------------------------------------


def in_mode(mode: str, x: float, y: float) -> Golden:
    call = bound_call("aten::mm", [F32([[x]]), F32([[y]])], {})
    return products.in_mode(evaluate_call(call), products.products_of(call), Arithmetic(mode)).goldens[0]


NEARLY_2_TO_128 = 2.0**128 * (1 - 2.0**-13)  # rounded to 11 bits it is infinite
TF32_ERROR = 2 * 2.0**-10 + 2.0**-20


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("x", "y", "lost"),
    [
        (2.0**-127, 3.0, 2.0**-136 * 3),  # a step of 2^-136: 11 bits of the smallest normal number
        (3.0, 2.0**-127, 2.0**-136 * 3),
        (2.0**-104, 3.0, 0.0),  # 2^-126 * 2^22: converted without loss beyond its relative error
        (float(np.nextafter(F32(2.0**-104), F32(0))), 3.0, 2.0**-136 * 3),
        (0.0, 3.0, 0.0),
        (1.0, 3.0, 0.0),
    ],
)
def test_what_converted_factors_lose_below_the_normal_range(x: float, y: float, lost: float, sign: int) -> None:
    golden = in_mode("tf32", sign * x, y)
    assert golden.magnitude.item() == pytest.approx(x * y + lost / TF32_ERROR, rel=1e-12, abs=0)
    assert golden.open is None


@pytest.mark.parametrize(
    ("mode", "x", "y", "is_open"),
    [
        ("tf32", INF, 1.0, False), ("bf16x3", INF, 1.0, True),  # an infinity has no second half
        ("tf32", NEARLY_2_TO_128, 1.0, True), ("tf32", -NEARLY_2_TO_128, 1.0, True),
        ("tf32", 3.4e38, 1.0, False), ("tf32", 1.0, 1.0, False), ("bf16x3", 1.0, 1.0, False),
        ("ieee", INF, 1.0, False), ("ieee", NEARLY_2_TO_128, 1.0, False),
    ],
)  # fmt: skip
def test_where_converted_factors_change_the_class_the_sum_is_open(mode: str, x: float, y: float, is_open: bool) -> None:
    golden = in_mode(mode, x, y)
    assert (golden.open is not None, golden.open_rule) == ((True, "P35") if is_open else (False, None))


# --- Alternatives of another dtype ------------------------------------------------------------------------------------


def test_every_alternative_of_the_output_s_dtype_is_as_right() -> None:
    def of(dtype: str, number: float) -> Golden:
        return Golden(FORMATS[dtype], np.array([number], FORMATS[dtype].storage))

    golden = of("float32", 1.0).or_else(of("float16", 2.0), of("float16", 3.0), of("float32", 4.0))
    for dtype, right in ((np.float32, (1.0, 4.0)), (np.float16, (2.0, 3.0))):
        for number in (1.0, 2.0, 3.0, 4.0, 5.0):
            found = verdict("aten::neg", [F32([1.0])], returned(np.array([number], dtype)), Outcome((golden,)))
            assert (found.status == "pass") == (number in right), (dtype, number)
