"""The running statistics that batch norm leaves: by hand, at the range's ends, and of honest implementations."""

from __future__ import annotations

import itertools
from math import inf, nan

import numpy as np
import pytest

from conform.errors import Unjudged
from conform.interp.evaluate import evaluate
from conform.numerics.formats import FORMATS
from tests.interp.ops.literal import check, f32, f64, goldens
from tests.judging.test_case import returned, verdict

OP = "aten::_native_batch_norm_legit_functional"
THIRD = 0.3333333432674408


def test_by_hand() -> None:
    """0, 2, 4, 6 have the mean 3, and the variance 5, over n - 1 20/3: 3/4 of 8 and a quarter of 3, of 20/3."""
    x, eight = f32([[0.0], [2.0], [4.0], [6.0]]), f32([8.0])
    output, mean, rstd = f32([[-1.0], [-THIRD], [THIRD], [1.0]]), f32([3.0]), f32([THIRD])
    left = f32([6.75]), f32([7.666666507720947])
    check(OP, x, None, None, eight, eight, True, 0.25, 4.0, gives=(output, mean, rstd, *left))
    check(OP, x, None, None, eight, eight, True, 0.0, 4.0, gives=(output, mean, rstd, eight, eight))
    check(OP, x, None, None, eight, eight, True, 1.0, 4.0, gives=(output, mean, rstd, mean, f32([6.6666665077209473])))


def test_where_no_result_shows_them() -> None:
    """They stand behind the results, of the statistics that there are."""
    x, eight = f32([[0.0], [2.0], [4.0], [6.0]]), f32([8.0])
    output, mean, rstd = f32([[-1.0], [-THIRD], [THIRD], [1.0]]), f32([3.0]), f32([THIRD])
    left = f32([6.75]), f32([7.666666507720947])
    for op in ("aten::native_batch_norm", "aten::_native_batch_norm_legit"):
        check(op, x, None, None, eight, eight, True, 0.25, 4.0, gives=(output, mean, rstd, *left))
    check("aten::native_batch_norm", x, None, None, None, None, True, 0.25, 4.0, gives=(output, mean, rstd))
    check("aten::batch_norm", x, None, None, eight, eight, True, 0.25, 4.0, False, gives=(output, *left))
    outcome = evaluate("aten::batch_norm", [x, None, None, eight, eight, True, 0.25, 4.0, False], {})
    assert (len(outcome.results), [*outcome.left]) == (1, ["running_mean", "running_var"])


def test_of_instance_norm_the_means_over_the_samples() -> None:
    """0, 2 and 4, 8 have the means 1 and 6, and the variances 2 and 8: 3/4 of 8 and a quarter of 3.5, of 5."""
    x, eight = f32([[[0.0, 2.0]], [[4.0, 8.0]]]), f32([8.0])
    result = f32([[[-1.0, 1.0]], [[-1.0, 1.0]]])
    given = (x, None, None, eight, eight)
    check("aten::instance_norm", *given, True, 0.25, 0.0, False, gives=(result, f32([6.875]), f32([7.25])))
    check("aten::instance_norm", x, None, None, None, None, True, 0.25, 0.0, False, gives=(result,))
    one = f32([[[1.0], [inf]]])  # a single place has no unbiased variance, an infinity no mean
    *_, mean, variance = goldens("aten::instance_norm", one, None, None, *[f32([8.0, 8.0])] * 2, True, 0.5, 1.0, True)
    assert (mean.open.tolist(), mean.value[0], variance.open.tolist()) == ([False, True], 4.5, [True, True])


def test_samples_far_apart_keep_the_digits_of_their_mean() -> None:
    """2^600 in one sample and 2^-600 in another: variances of 2^1201 and 2^-1199, times a momentum of 2^-400."""
    x = f64([[[2.0**600, -(2.0**600)]], [[2.0**-600, -(2.0**-600)]]])
    ones = f64([1.0])
    *_, mean, variance = goldens("aten::instance_norm", x, None, None, ones, ones, True, 2.0**-400, 0.5, False)
    assert (mean.value.tolist(), variance.value.tolist()) == ([1.0], [2.0**800])


def test_both_or_none() -> None:
    x, ones = f32([[1.0], [2.0]]), f32([1.0])
    for pair in ((ones, None), (None, ones)):
        with pytest.raises(Unjudged, match="torch documents both running statistics, or none"):
            evaluate("aten::native_batch_norm", [x, None, None, *pair, True, 0.25, 0.5], {})


def test_without_training_they_stay_as_they_are() -> None:
    running = f32([-0.0, nan, inf]), f32([1.0, 0.0, inf])
    found = goldens(OP, f32([[1.0, 2.0, 3.0]]), None, None, *running, False, 0.25, 0.5)[3:]
    for golden, before in zip(found, running, strict=True):
        assert golden.value.tobytes() == before.tobytes()
        assert golden.open is None


def test_a_variance_beyond_the_range_may_leave_a_number() -> None:
    """2^600 and -2^600: a variance of 2^1201, times a momentum of 2^-400."""
    x = f64([[2.0**600], [-(2.0**600)]])
    *_, mean, variance = goldens(OP, x, None, None, f64([1.0]), f64([1.0]), True, 2.0**-400, 0.5)
    assert (mean.value.tolist(), variance.value.tolist()) == ([1.0], [2.0**801])
    x = f64([[2.0**-600], [-(2.0**-600)]])  # of 2^-1199, times 2^300
    *_, mean, variance = goldens(OP, x, None, None, f64([0.0]), f64([0.0]), True, 2.0**300, 0.5)
    assert (mean.value.tolist(), variance.value.tolist()) == ([0.0], [2.0**-899])


@pytest.mark.parametrize(
    ("x", "before", "momentum", "of_mean", "of_variance"),
    [
        ([1.0, inf], 1.0, 0.5, None, nan), ([1.0, nan], 1.0, 0.5, nan, nan), ([1.0, 2.0], inf, 0.5, None, None),
        ([1.0, 2.0], nan, 0.5, nan, nan), ([1.0, 2.0], 1.0, inf, None, None), ([3.0], 1.0, 0.5, 2.0, None),
    ],
)  # fmt: skip
def test_special_values(
    x: list, before: float, momentum: float, of_mean: float | None, of_variance: float | None
) -> None:
    """None: open (P192)."""
    column, running = np.float32(x)[:, None], f32([before])
    *_, mean, variance = goldens(OP, column, None, None, running, running, True, momentum, 0.5)
    for golden, expected in ((mean, of_mean), (variance, of_variance)):
        assert (golden.open is not None and golden.open.all()) == (expected is None)
        assert expected is None or repr(golden.value.tolist()) == repr([expected])


HONEST = {
    "as documented": lambda r, b, m: (1 - m) * r + m * b,
    "by the difference": lambda r, b, m: r + m * (b - r),
    "with the other share first": lambda r, b, m: m * b + (np.float32(1) - m) * r,
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_honest_implementations_pass(dtype: str) -> None:
    """In float32, two passes or products of them, on near and far statistics and momenta of any size."""
    rng = np.random.default_rng(7)
    for _ in range(30):
        n = int(rng.integers(2, 70))
        x = rng.normal(rng.normal() * 10, 10 ** rng.uniform(-2, 2), (n, 1)).astype(FORMATS[dtype].storage)
        momentum = float(rng.choice([0.1, 0.01, 0.9, 1.0, -1.5, 2.0, rng.normal()]))
        running = np.float32(np.abs(rng.normal(size=1)) * 10 ** rng.uniform(-2, 2))
        args = [x, None, None, running, running, True, momentum, 1e-5]
        outcome = evaluate(OP, args, {})
        results = [golden.value for golden in outcome.goldens[:3]]
        wide, share = x.astype(np.float32), np.float32(momentum)
        mean = wide.sum(0) / np.float32(n)
        squares = ((wide - mean) ** 2).sum(0)
        biased = squares / np.float32(n)
        variances = [biased * np.float32(n / (n - 1)), squares / np.float32(n - 1)]
        shows_bias = abs(momentum) > 0.05 and n < 30 and running < 10 * variances[0]
        for how, variance in itertools.product(HONEST.values(), variances):
            left = [np.float32(how(running, batch, share)) for batch in (mean, variance)]
            assert verdict(OP, args, returned(*results, *left), outcome).status == "pass"
            wrong = [left[0], np.float32(how(running, biased, share))]
            assert not shows_bias or verdict(OP, args, returned(*results, *wrong), outcome).status == "fail"


def test_honest_implementations_of_instance_norm_pass() -> None:
    """In float32: the mean of what each sample leaves, or what the mean of their statistics leaves."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        samples, n = (int(rng.integers(*ends)) for ends in ((1, 9), (2, 40)))
        x = rng.normal(rng.normal() * 10, 10 ** rng.uniform(-2, 2), (samples, 1, n)).astype(np.float32)
        momentum, running = float(rng.choice([0.1, 0.9, -1.5])), np.float32(np.abs(rng.normal(size=1)) * 10)
        args = [x, None, None, running, running, True, momentum, 1e-5, False]
        each = x.mean(2)[:, 0], ((x - x.mean(2, keepdims=True)) ** 2).sum(2)[:, 0] / np.float32(n - 1)
        share, count = np.float32(momentum), np.float32(samples)
        outcome = evaluate("aten::instance_norm", args, {})
        for how in HONEST.values():
            averaged_first = [how(running, of_each.sum(keepdims=True) / count, share) for of_each in each]
            averaged_last = [how(running, of_each, share).sum(keepdims=True) / count for of_each in each]
            for left in (averaged_first, averaged_last):
                reply = returned(outcome.goldens[0].value, *map(np.float32, left))
                assert verdict("aten::instance_norm", args, reply, outcome).status == "pass"
