"""Large outputs are judged in blocks: what comes out is what the whole gives, and the work space does not grow."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from conform.api import error_of
from conform.call.bound import bound_call
from conform.contracts import indices
from conform.contracts.almost_eq import Tolerance
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.causes import cut
from conform.contracts.judge import Elements, judge
from conform.contracts.tables import Row
from conform.interp.blocks import blocks
from conform.interp.blocks.converted import Change, unchanged
from conform.interp.golden import Golden, Outcome, Ties
from conform.judging.products import in_mode, products_of
from conform.numerics import matmul
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to
from tests.contracts.test_accumulation import statistics, truncating
from tests.contracts.test_causes import cause

ULP_OF_1 = 2.0**-23
NORMAL = 2.0**-126  # the smallest normal number of float32
FLUSHING = Arithmetic(flushes_subnormals=True)
SIZES = (1 << 14, 1 << 16)


@dataclass(frozen=True)
class Call:
    """What a judge is asked."""

    golden: Golden
    actual: np.ndarray
    row: Row
    operands: dict[str, Any] = field(default_factory=dict)
    arithmetic: Arithmetic = IEEE

    def judged(self) -> Elements:
        return judge(self.golden, self.actual, self.row, self.operands, self.arithmetic)


def row(kind: str, bound: float | None = None, **rest: Any) -> Row:
    return Row(kind, bound, rest.pop("formula", None), "test", **rest)


def normal(size: int, *parts: int) -> np.ndarray:
    """[5, size / 5] (and parts), but for the order in memory, in which the first dim is the last."""
    rows = 16 if size % 16 == 0 else 5
    return np.asfortranarray(np.random.default_rng(size).normal(size=(rows, size // rows, *parts)))


def sprinkled(array: np.ndarray, every: int, value: float) -> np.ndarray:
    """With some elements replaced, all over the array."""
    array = np.array(array)
    array.flat[1::every] = value
    return array


def floats(size: int, **rest: Any) -> Golden:
    """With what a backend may or may not get right: zeros, infinities, NaN, open elements, free signs."""
    numbers = sprinkled(sprinkled(sprinkled(normal(size), 11, 0.0), 13, np.inf), 17, np.nan)
    marks = np.arange(size).reshape(numbers.shape, order="F")
    free, open_ = marks % 2 == 0, marks % 11 == 3
    fmt = FORMATS["float32"]
    freedoms = {"zero_sign_free": free, "open": open_, "open_rule": "P8"}
    return Golden(fmt, round_to(fmt, numbers), Real.exact(numbers), **freedoms, **rest)


def moved(golden: Golden) -> np.ndarray:
    """Results some of which are up to 4 ulps off, a few of another class."""
    steps = np.arange(golden.value.size).reshape(golden.value.shape) % 5
    with np.errstate(invalid="ignore"):
        actual = golden.value + (golden.value * ULP_OF_1 * steps).astype(golden.value.dtype)
    return sprinkled(sprinkled(actual, 19, -0.0), 29, np.nan)


def ulps(size: int) -> Call:
    golden = floats(size)
    other = replace(golden, value=-golden.value, real=-golden.real)
    third = replace(golden, value=2 * golden.value, real=golden.real.times_power_of_two(1))
    actual = np.where(np.arange(size).reshape(golden.value.shape) % 3 == 0, other.value, moved(golden))
    return Call(golden.or_else(other, third), actual, row("ulp", 2.0))


def rounded(size: int) -> Call:
    return Call(floats(size), moved(floats(size)), row("ulp_of_rounded", 2.0))


def exact(size: int) -> Call:
    golden = replace(floats(size), real=None)
    return Call(golden, moved(golden), row("exact"))


def near(size: int) -> Call:
    return Call(floats(size), moved(floats(size)), row("almost_eq", tolerance=Tolerance(2e-7, 1e-8)))


def sums(size: int) -> Call:
    numbers = normal(size)
    terms = np.broadcast_to(np.arange(numbers.shape[1]) % 4, numbers.shape)
    golden = floats(size, terms=terms, magnitude=np.abs(numbers) + 1)
    return Call(golden, moved(golden), row("accumulation"))


def derived(size: int) -> Call:
    golden = floats(size, budget=sprinkled(np.abs(normal(size)) * 2 * ULP_OF_1, 7, np.inf))
    return Call(golden, moved(golden), row("derived"))


def outside(size: int) -> Call:
    operand = normal(size)[0]  # to be broadcast
    return Call(floats(size), moved(floats(size)), row("ulp", 2.0, excluded=(-0.5, 0.5)), {"self": operand})


def exp_by_tosa(size: int) -> Call:
    operand = normal(size)[:, :1]
    return Call(floats(size), moved(floats(size)), row("tosa", formula="EXP"), {"self": operand})


def pow_by_tosa(size: int) -> Call:
    operands = {"self": normal(size), "exponent": 2}
    return Call(floats(size), moved(floats(size)), row("tosa", formula="POW"), operands)


def prod_by_tosa(size: int) -> Call:
    operands = {"self": np.ones((*normal(size).shape, 3), np.float32)}
    return Call(floats(size), moved(floats(size)), row("tosa", formula="REDUCE_PRODUCT"), operands)


def dot_product_by_tosa(size: int) -> Call:
    golden = floats(size, terms=3, magnitude=np.abs(normal(size)))
    operands = {"self": np.ones((3, 5)), "mat2": np.ones(2)}  # of other shapes than the output
    return Call(golden, moved(golden), row("tosa", formula="DOT_PRODUCT"), operands)


def flushed(size: int, kept: int | None = None) -> Call:
    """Zeros for subnormal results, but for that at index `kept`; and one wrong result."""
    numbers = normal(size) * NORMAL
    if kept is not None:
        numbers.flat[kept] = NORMAL / 2
    golden = Golden(FORMATS["float32"], round_to(FORMATS["float32"], numbers), Real.exact(numbers))
    actual = np.where(np.abs(golden.value) < NORMAL, np.copysign(np.float32(0), golden.value), golden.value)
    if kept is not None:
        actual.flat[kept] = NORMAL / 2
    actual.flat[np.argmax(numbers)] = 1.0
    return Call(golden, actual, row("ulp", 1.0), arithmetic=FLUSHING)


def all_but_one_flushed(size: int) -> Call:
    return flushed(size, kept=size - 2)


def complexes(size: int, kind: Row = row("ulp", 2.0), **rest: Any) -> Call:  # noqa: B008 - rows are frozen
    parts = sprinkled(normal(size, 2), 13, np.inf)
    values = np.asfortranarray(parts[..., 0].astype(np.float32)).astype(np.complex64)
    values.imag = parts[..., 1]
    open_ = np.arange(size).reshape(values.shape) % 11 == 3
    rounded_parts = parts.astype(np.float32).astype(np.float64)
    golden = Golden(FORMATS["complex64"], values, Real.exact(rounded_parts), open=open_, open_rule="P8", **rest)
    steps = np.arange(size).reshape(values.shape) % 5
    actual = values.copy()
    actual.imag = values.imag * (1 + steps.astype(np.float32) * np.float32(ULP_OF_1))
    return Call(golden.or_else(replace(golden, value=-values, real=-golden.real)), sprinkled(actual, 7, 0.0), kind)


def normwise(size: int) -> Call:
    return complexes(size, row("derived"), normwise=True, budget=np.abs(normal(size, 2)) * ULP_OF_1)


def by_modulus(size: int) -> Call:
    return complexes(size, row("almost_eq", tolerance=Tolerance(1e-7, 1e-8, modulus=True)))


def flushed_complexes(size: int) -> Call:
    call = complexes(size, row("ulp", 1.0))
    with np.errstate(invalid="ignore"):
        golden = replace(call.golden, value=call.golden.value * np.float32(NORMAL), alternatives=())
    parts = np.stack([golden.value.real, golden.value.imag], -1).astype(np.float64)
    golden = replace(golden, real=Real.exact(parts))
    return Call(golden, sprinkled(golden.value, 3, 0.0), call.row, arithmetic=FLUSHING)


def integers(size: int) -> Call:
    value = (normal(size) * 100).astype(np.int64)
    golden = Golden(FORMATS["int64"], value).or_else(Golden(FORMATS["int64"], value + 1))
    return Call(golden, value + np.arange(size).reshape(value.shape) % 3, row("exact"))


def bools(size: int) -> Call:
    golden = Golden(FORMATS["bool"], normal(size) > 0, open=normal(size) > 1.5, open_rule="P8")
    return Call(golden, normal(size) > 0.2, row("exact"))


def ties(size: int, dim: int = 0) -> Call:
    ranks = (normal(size) * 2).astype(np.int64)
    order = np.argsort(ranks, dim, kind="stable")
    golden = Golden(FORMATS["int64"], order, ties=Ties(dim, ranks))
    golden = golden.or_else(Golden(FORMATS["int64"], np.flip(order, dim), ties=Ties(dim, np.flip(ranks, dim))))
    return Call(golden, sprinkled(np.argsort(ranks, dim)[:: -1 if dim else 1], 7, 1), row("exact"))


def long_rows(size: int) -> Call:
    return ties(size, dim=1)


def one_row(size: int) -> Call:
    """Of which another place than the expected one is given, an index twice, and such as are none."""
    ranks = np.arange(size) // 3
    order = np.arange(size)[::-1]
    actual = sprinkled(sprinkled(sprinkled(order + 1 - 2 * (order % 3 > 0), 7, 1), 11, -1), 13, size)
    return Call(Golden(FORMATS["int64"], order, ties=Ties(0, ranks)), actual, row("exact"))


Kind = Callable[[int], Call]
KINDS: list[Kind] = [
    ulps, rounded, exact, near, sums, derived, outside, exp_by_tosa, pow_by_tosa, prod_by_tosa, dot_product_by_tosa,
    flushed, all_but_one_flushed, complexes, normwise, by_modulus, flushed_complexes, integers, bools, ties, long_rows,
    one_row,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_judged_as_the_whole_is(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    call = kind(85)
    whole = call.judged()
    assert whole.ok.any()
    assert not whole.ok.all()
    monkeypatch.setattr(blocks, "BLOCK", 8)
    monkeypatch.setattr(indices, "SHARE", 2)
    in_blocks = call.judged()
    for name, expected in vars(whole).items():
        np.testing.assert_array_equal(getattr(in_blocks, name), expected, strict=True, err_msg=name)


def test_one_kept_subnormal_takes_the_zeros_of_all_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 8)
    assert np.count_nonzero(flushed(85).judged().ok) == 84
    assert np.count_nonzero(all_but_one_flushed(85).judged().ok) < 40


# --- Work space -------------------------------------------------------------------------------------------------------


def work_space(function: Callable[[], Any]) -> int:
    """Bytes that numpy and Python had beyond the result when they had most."""
    tracemalloc.start()
    result = function()
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return peak - kept


def assert_does_not_grow(small: Callable[[], Any], large: Callable[[], Any]) -> None:
    small(), large()  # what is made once, and kept
    assert work_space(large) <= 1.2 * work_space(small)


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1 << 11)
    monkeypatch.setattr(indices, "SHARE", 2)


@pytest.mark.one_in(6)
@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("kind", KINDS)
def test_a_judge_takes_no_memory_that_grows_with_the_output(kind: Kind) -> None:
    small, large = (kind(size) for size in SIZES)
    assert_does_not_grow(small.judged, large.judged)


def many_sums(size: int) -> tuple[Golden, np.ndarray]:
    """Sums of one length whose errors have a mean and a variance, and results that are truncated."""
    numbers = np.abs(normal(size)) + 1
    golden = Golden(FORMATS["float32"], numbers.astype(np.float32), Real.exact(numbers), 16, numbers)
    toward_zero = np.nextafter(golden.value, np.float32(0))
    return golden, np.where(golden.value > numbers, toward_zero, golden.value)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(
    "asked",
    [
        lambda golden, actual: statistics(golden, actual, np.broadcast_to(True, actual.shape), IEEE),
        lambda golden, actual: cause(golden, actual, None),
        lambda golden, actual: error_of(golden, actual),
    ],
    ids=["statistics", "cause", "truth"],
)
def test_nor_does_what_is_said_of_all_sums(asked: Callable[[Golden, np.ndarray], Any]) -> None:
    small, large = (many_sums(size) for size in SIZES)
    assert_does_not_grow(lambda: asked(*small), lambda: asked(*large))


def test_what_is_said_of_all_sums_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    golden, actual = many_sums(3000)
    compared = np.arange(3000).reshape(actual.shape) % 7 > 0
    whole, errors_ulp = statistics(golden, actual, compared, IEEE), error_of(golden, actual)
    truncated = cause(golden, actual, None)
    assert truncated == "as if the sums were truncated (rounded toward zero)"
    monkeypatch.setattr(blocks, "BLOCK", 256)
    found = statistics(golden, actual, compared, IEEE)
    assert (found.sums, found.rms, found.mean) == (whole.sums, pytest.approx(whole.rms), pytest.approx(whole.mean))
    assert cause(golden, actual, None) == truncated
    np.testing.assert_array_equal(error_of(golden, actual), errors_ulp, strict=True)
    few_differ = replace(golden, real=Real.exact(np.round(golden.real.hi, 2)))
    assert statistics(few_differ, actual, compared, IEEE) is None


CONVOLVED = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)  # from stride to groups


def factors_of(op: str, size: int) -> list[Any]:
    """Arguments with `size` elements: many rows, many terms, or many columns."""
    many, wide = size // 4, size // 16
    lhs, rhs = {
        "rows": ((many, 4), (4, 3)), "terms": ((3, many), (many, 2)), "columns": ((3, 4), (4, many)),
        "images": ((1, 2, wide, 16), (2, 2, 3, 3)), "channels": ((1, wide, 3, 3), (2, wide, 3, 3)),
    }[op.partition(" ")[2]]  # fmt: skip
    rng = np.random.default_rng(size)
    args: list[Any] = [rng.normal(size=shape).astype(np.float32) for shape in (lhs, rhs)]
    if op.startswith("aten::addmm"):
        return [np.zeros(rhs[1], np.float32), *args]
    return [*args, None, *CONVOLVED] if op.startswith("aten::convolution") else args


def without_13_bits(x: np.ndarray) -> np.ndarray:
    return (np.ascontiguousarray(x).view(np.int32) & ~0x1FFF).view(np.float32)


OFF: list[tuple[str, Change | None]] = [
    ("as if the inputs were rounded to TF32 (10 bits)", partial(cut, bits=11)),
    ("as if the inputs were truncated to TF32 (10 bits)", without_13_bits),
    ("None", None),
]


@pytest.mark.parametrize("op", ["aten::mm rows", "aten::addmm columns", "aten::convolution images"])
@pytest.mark.parametrize(("words", "change"), OFF, ids=[words for words, _ in OFF])
def test_cut_factors_are_found_tile_by_tile(
    op: str, words: str, change: Change | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    products = products_of(bound_call(op.partition(" ")[0], factors_of(op, 128), {}))
    golden = products(unchanged, unchanged).golden()
    actual = products(change, change).golden().value if change else np.float32(golden.value * 1.5)
    assert str(cause(golden, actual, products)) == words
    monkeypatch.setattr(blocks, "BLOCK", 30)
    assert str(cause(golden, actual, products)) == words


def test_truncated_sums_are_found_tile_by_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    lhs, rhs = (np.random.default_rng(0).random(shape).astype(np.float32) for shape in ((13, 16), (16, 11)))
    products = products_of(bound_call("aten::mm", [lhs, rhs], {}))
    golden, actual = products(unchanged, unchanged).golden(), truncating(lhs, rhs, np.float32)
    for _ in range(2):
        assert cause(golden, actual, products) == "as if the sums were truncated (rounded toward zero)"
        monkeypatch.setattr(blocks, "BLOCK", 30)


@pytest.mark.one_in(6)
@pytest.mark.rotating(130)
@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(
    "op",
    [
        "aten::mm rows", "aten::mm terms", "aten::mm columns", "aten::addmm terms", "aten::convolution images",
        "aten::convolution channels",
    ],
)  # fmt: skip
def test_neither_causes_nor_modes_take_memory_that_grows_with_the_factors(
    op: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("TILE_ROWS", 32), ("TILE_COLUMNS", 32), ("TILE_ELEMENTS", 1 << 11)):
        monkeypatch.setattr(matmul, name, size)

    def asked(size: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
        products = products_of(bound_call(op.partition(" ")[0], factors_of(op, size), {}))
        golden = products(unchanged, unchanged).golden()
        rounded = partial(cut, bits=11)
        actual = products(rounded, rounded).golden().value
        tf32 = Arithmetic("tf32")
        return lambda: cause(golden, actual, products), lambda: in_mode(Outcome((golden,)), products, tf32)

    smaller, larger = asked(1 << 12), asked(1 << 14)
    assert larger[0]() == "as if the inputs were rounded to TF32 (10 bits)"
    for small, large in zip(smaller, larger, strict=True):
        assert_does_not_grow(small, large)
