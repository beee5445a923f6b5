"""Errors together: the limit for independent roundings, and which cases have independent terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

import conform
from conform.call.bound import bound_call
from conform.contracts.accumulation import ErrorsOfSums
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.comparison import Comparison
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate, evaluate_call
from conform.interp.golden import Golden
from conform.interp.gradients.evaluation import gradient_call
from conform.judging.judgement import Judgement, Result
from conform.judging.likely import TOLD, LikelyErrors, likely_errors
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to
from conform.selftest.plants.products import rounded_to_tf32
from conform.suites import load
from conform.suites.cases import Selection
from conform.suites.nodes import Draw
from conform.suites.sample import draw_array
from conform.suites.select import select

F32 = np.float32

# --- Honest orders of summation, in float32 over the last axis --------------------------------------------------------


def sequential(x: np.ndarray) -> np.ndarray:
    return np.add.accumulate(x, axis=-1, dtype=F32)[..., -1]


def reversed_(x: np.ndarray) -> np.ndarray:
    return sequential(x[..., ::-1])


def pairwise(x: np.ndarray) -> np.ndarray:
    while x.shape[-1] > 1:
        x = np.concatenate([x, np.zeros((*x.shape[:-1], x.shape[-1] % 2), F32)], axis=-1)
        x = x[..., ::2] + x[..., 1::2]
    return x[..., 0]


def strided(x: np.ndarray) -> np.ndarray:
    """Eight lanes of a vector."""
    x = np.concatenate([x, np.zeros((*x.shape[:-1], -x.shape[-1] % 8), F32)], axis=-1)
    return sequential(sequential(x.reshape(*x.shape[:-1], -1, 8).swapaxes(-1, -2)))


def compensated(x: np.ndarray) -> np.ndarray:
    total = correction = np.zeros(x.shape[:-1], F32)
    for term in np.moveaxis(x, -1, 0):
        y = term - correction
        t = total + y
        total, correction = t, (t - total) - y
    return total


ORDERS = (sequential, reversed_, pairwise, strided, compensated)

# --- Many sums --------------------------------------------------------------------------------------------------------

WIDE = [
    Draw("normal"), Draw("normal", std=1e-3), Draw("normal", mean=1.0), Draw("normal", mean=-2.0),
    Draw("normal", std=1e10), Draw("uniform"), Draw("uniform", -1, 1), Draw("uniform", 1, 2),
    Draw("uniform", -1, -0.5), Draw("uniform", -3, 1), Draw("uniform", 2.0, 8.0), Draw("uniform", 0, 1e-20),
]  # fmt: skip
NARROW = [
    Draw("uniform", 0.1, 0.100001), Draw("uniform", 0.3, 0.3001), Draw("uniform", 3, 4), Draw("uniform", 2, 2),
    Draw("normal", mean=5.0), Draw("normal", mean=100.0), Draw("normal", mean=1.0, std=0.0), Draw("randint", -10, 10),
    Draw("ones"), Draw("bernoulli"),
]  # fmt: skip


def found(draw: Draw, order: object, seed: int = 0) -> str | None:
    """What the rules for many sums say of 1200 sums of 1000 numbers, whether they are for the draw or not."""
    x = np.asarray(draw_array(draw, FORMATS["float32"], (1200, 1000), Stream(seed, "draw", 0, "x")))
    golden = evaluate("aten::sum.dim_IntList", [x, [1]], {}).goldens[0]
    errors = ErrorsOfSums(golden, order(x))
    errors.add(slice(0, 1200), np.ones(1200, bool))
    return errors.statistics(IEEE).violation()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("draw", WIDE, ids=str)
def test_honest_sums_of_wide_draws_pass_the_rules_in_five_orders(draw: Draw) -> None:
    assert draw.has_random_digits
    assert [found(draw, order) for order in ORDERS] == [None] * 5


@pytest.mark.long
@pytest.mark.parametrize("draw", WIDE, ids=str)
def test_they_pass_with_forty_seeds(draw: Draw) -> None:
    assert not any(found(draw, order, seed) for order in (sequential, strided) for seed in range(1, 41))


@pytest.mark.parametrize("draw", NARROW, ids=str)
def test_the_rules_are_not_for_narrow_draws(draw: Draw) -> None:
    assert not draw.has_random_digits


def test_the_rules_would_accuse_an_honest_sum_of_a_narrow_draw() -> None:
    assert found(NARROW[0], sequential) == "root mean square of the errors 107.3 u S, above 40.0 (1200 sums)"


CASES = """
tests:
  - id: wide
    op: aten::sum
    in: [{type: tensor, kind: float, shape: [9, 9], low: 1.0, high: 2.0}]
  - id: narrow
    op: aten::sum
    in: [{type: tensor, kind: float, shape: [9, 9], low: 0.1, high: 0.100001}]
  - id: written
    op: aten::mm
    in:
      - {type: tensor, kind: float, shape: [2, 2]}
      - {type: const_tensor, kind: float, shape: [2, 2], value: [[1.0, 2.0], [3.0, 4.0]]}
"""


def test_which_cases_have_independent_terms(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(CASES, encoding="utf-8")
    groups = select(load([str(path)]), Selection(values="all", layouts="all"))
    named = {case.id: case.has_independent_terms for group in groups for case in group}
    independent = {name for name, independent in named.items() if independent}
    assert {"wide/float32/typical/contiguous", "wide/float32/typical/strided.0"} <= independent
    assert all(name.startswith("wide/float32/typical") for name in independent)
    assert not any("expanded" in name for name in independent)


# --- Independent roundings --------------------------------------------------------------------------------------------


def two_passes(x: np.ndarray, order: object, divisor: float) -> np.ndarray:
    centred = x - (order(x) / F32(x.shape[-1]))[..., None]
    return order(centred * centred) / F32(divisor)


def updates(x: np.ndarray, divisor: float) -> np.ndarray:
    """Welford's."""
    mean = squares = np.zeros(x.shape[:-1], F32)
    for number, term in enumerate(np.moveaxis(x, -1, 0), 1):
        delta = term - mean
        mean = mean + delta / F32(number)
        squares = squares + delta * (term - mean)
    return squares / F32(divisor)


def judged(x: np.ndarray, actual: np.ndarray, flushing: bool = False) -> Judgement:
    """`flushing`: the golden has a second reading, as of a backend that flushes operands."""
    call = bound_call("aten::var.correction", [x, [1]], {})
    outcome = evaluate_call(call)
    golden, (likely,) = outcome.goldens[0], likely_errors(call, outcome)
    golden = replace(golden, alternatives=(golden,)) if flushing else golden
    row = contract_table("opencl").row(call.op, golden.format.name)
    comparison = Comparison(golden, actual.astype(golden.value.dtype), call.arguments)
    return Result(0, call.op, comparison, row, independent=True, likely=likely).judgement


def drawn(mean: float, terms: int = 4096) -> np.ndarray:
    return (mean + np.random.default_rng(0).standard_normal((64, terms))).astype(F32)


@pytest.mark.parametrize("mean", [0.0, 1.0, 2.0**14])
def test_honest_variances_are_within_the_limit(mean: float) -> None:
    x = drawn(mean)
    for actual in (*(two_passes(x, order, 4095) for order in ORDERS), updates(x, 4095)):
        judgement = judged(x, actual)
        assert (judgement.failed, judgement.violation) == (0, None)


@pytest.mark.parametrize("divisor", [4094, 4096])
def test_another_divisor_is_not_though_the_bound_allows_it(divisor: int) -> None:
    x = drawn(0.0)
    judgement = judged(x, two_passes(x, pairwise, divisor))
    assert judgement.failed == 0
    assert judgement.violation.words == "error above 8 times what independent roundings come to"
    assert "Higham and Mary" in judgement.violation.source


@pytest.mark.parametrize("row", [0, 41, 63])
def test_the_element_that_is_shown_is_the_one_beyond_the_limit(row: int) -> None:
    """Not the one that spends most of its bound, within which all of them are."""
    x = drawn(0.0)
    actual = two_passes(x, pairwise, 4095)
    actual[row] = two_passes(x, pairwise, 4096)[row]
    judgement = judged(x, actual)
    shown = judgement.furthest
    assert (judgement.failed, shown.number) == (0, row)
    assert shown.figure == pytest.approx(shown.error_ulp / shown.bound_ulp)
    assert shown.error_ulp > shown.bound_ulp


def test_one_pass_is_not_where_the_bound_says_nothing() -> None:
    x = drawn(2.0**14)
    mean = pairwise(x) / F32(4096)
    judgement = judged(x, pairwise(x * x) / F32(4096) - mean * mean)
    assert judgement.violation.words == "error above 8 times what independent roundings come to"
    assert judged(x, np.full(64, np.nan)).failed or judged(x, np.full(64, np.nan)).violation


@pytest.mark.parametrize(("divisor", "words"), [(4095, None), (4096, TOLD)])
def test_a_reading_of_flushed_operands_has_the_limit_of_the_first(divisor: int, words: str | None) -> None:
    x = drawn(0.0)
    violation = judged(x, two_passes(x, pairwise, divisor), flushing=True).violation
    assert (violation and violation.words) == words


def test_short_rows_and_other_ops_have_no_such_limit() -> None:
    rows = drawn(0.0)[:3]
    calls = [("aten::var.correction", [rows[:, :1023], [1]]), ("aten::_softmax", [rows, 1, False])]
    for op, args in (*calls, ("aten::sum.dim_IntList", [rows, [1]])):
        call = bound_call(op, args, {})
        assert likely_errors(call, evaluate_call(call)) == (None,)


# --- Of a module ------------------------------------------------------------------------------------------------------


def encoder(activation: object = torch.nn.functional.gelu, eps: float = 1e-5) -> torch.nn.Module:
    torch.manual_seed(0)
    with torch.no_grad():
        layer = torch.nn.TransformerEncoderLayer(16, 4, 32, 0.0, activation, eps, batch_first=True)
    return layer.eval().requires_grad_(False)


def tf32(linear: torch.nn.Linear) -> None:
    """Both factors of its products are rounded to 11 bits."""
    weight = rounded_to_tf32(linear.weight)
    linear.forward = lambda x: torch.nn.functional.linear(rounded_to_tf32(x), weight, linear.bias)


DRAWN = torch.randn(2, 6, 16, generator=torch.Generator().manual_seed(5))


def judges(arithmetic: Arithmetic = IEEE) -> Callable[[torch.nn.Module], float]:
    """Tells the largest error of what another layer makes of drawn numbers, over what independent roundings come to."""
    truth = conform.golden(encoder(), DRAWN)
    (golden,), (likely,) = truth.outcome.goldens, likely_errors(truth.call, truth.outcome, arithmetic)

    def share(other: torch.nn.Module) -> float:
        torch.backends.mha.set_fastpath_enabled(False)  # whose kernel has no gelu but its own
        try:
            actual = other(DRAWN).numpy()
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
        errors = LikelyErrors(golden, likely, actual)
        errors.add(slice(0, actual.size), np.ones(actual.size, bool))
        return errors.furthest[0].share

    return share


def test_another_eps_or_gelu_and_undeclared_tf32_in_an_encoder_layer_are_no_roundings() -> None:
    in_tf32 = encoder()
    tf32(in_tf32.linear1)
    approximate = encoder(partial(torch.nn.functional.gelu, approximate="tanh"))
    share = judges()
    assert share(encoder()) < 0.2
    assert min(map(share, (in_tf32, approximate, encoder(eps=1e-4)))) > 5
    assert judges(Arithmetic("tf32"))(in_tf32) < 0.2


def test_a_module_of_a_narrow_bound_has_no_such_limit() -> None:
    truth = conform.golden(torch.nn.Linear(16, 16), torch.ones(3, 16))
    assert likely_errors(truth.call, truth.outcome) == (None,)


# --- Of gradients -----------------------------------------------------------------------------------------------------


def of_gradient(op: str, args: list[np.ndarray], g: np.ndarray, **kwargs: object) -> tuple[object, ...]:
    call = gradient_call(bound_call(op, args, kwargs), [g])
    return likely_errors(call, evaluate_call(call))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_gradients_of_nothing_and_of_zeros_have_no_such_limit(dtype: type) -> None:
    """Each output is seen by itself: those beside it are of no account."""
    assert of_gradient("aten::add.Tensor", [np.ones((), dtype), np.ones(0, dtype)], np.ones(0, dtype)) == (None, None)
    assert of_gradient("aten::mul.Tensor", [np.ones(9, dtype)] * 2, np.zeros(9, dtype)) == (None, None)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_gradient_has_such_a_limit_by_itself(dtype: type) -> None:
    """That of self adds up many products; that of other has one rounding, or is zero."""
    g, other = np.random.default_rng(0).standard_normal((2, 4096)).astype(dtype)
    for self in (np.ones(1), np.zeros(1)):
        of_self, of_other = of_gradient("aten::mul.Tensor", [self.astype(dtype), other], g)
        assert of_self is not None
        assert of_other is None


@pytest.mark.parametrize("alpha", [-float(np.finfo(np.float32).max), 0.1])
def test_gradients_that_are_rounded_to_half_types_have_no_such_limit(alpha: float) -> None:
    """Few roundings to 11 bits are as wide as many to 24, and may overflow."""
    g = np.random.default_rng(0).standard_normal((6, 13)).astype(F32)
    operands = [np.ones(13, F32), np.ones((6, 13), np.float16)]
    assert of_gradient("aten::add.Tensor", operands, g, alpha=alpha) == (None, None)


@pytest.mark.parametrize("fmt", ["float16", "float32"])
def test_what_may_overflow_has_no_such_limit(fmt: str) -> None:
    """An infinity beside a number that rounds to one, or may, is none of this rule's; elsewhere it is beyond it."""
    largest, storage = FORMATS[fmt].max_finite, FORMATS[fmt].storage
    exact, budget = np.array([2 * largest, largest, -largest, largest / 2]), np.full(4, largest * 2.0**-11)
    golden = Golden(FORMATS[fmt], round_to(FORMATS[fmt], exact), Real.exact(exact), budget=budget)
    for actual, share in ((np.array([np.inf, np.inf, -np.inf, largest / 2]), 0), (np.full(4, np.inf), np.inf)):
        errors = LikelyErrors(golden, golden, actual.astype(storage))
        errors.add(slice(0, 4), np.ones(4, bool))
        assert [one.share for one in errors.furthest] == [share]
