"""group_norm, batch_norm, rms_norm: rational values by hand, irrational ones by mpmath, then the special ones."""

import math

import mpmath
import pytest

from conform.refs import UNSPECIFIED, RefTensor
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan = math.inf, math.nan


def group_norm(dtype: str, values: list, weight: list | None, bias: list | None, group: int, eps: float) -> tuple:
    x = tensor(dtype, values)
    own = [None if operand is None else tensor(dtype, operand) for operand in (weight, bias)]
    n, c = x.shape[:2]
    return call(
        "native_group_norm",
        input=x,
        weight=own[0],
        bias=own[1],
        N=n,
        C=c,
        HxW=math.prod(x.shape[2:]),
        group=group,
        eps=eps,
    )


def test_group_norm() -> None:
    """Two groups of two channels of two elements: mean 3, variance 5, eps 4: rstd 1/3; then all equal."""
    x = [[[0.0, 2.0], [4.0, 6.0], [5.0, 5.0], [5.0, 5.0]]]
    out, mean, rstd = group_norm("float32", x, [1.0, 3.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.25], 2, 4.0)
    third = 0.3333333432674408
    same(out, "float32", [[[-1.0, -third], [1.0, 3.0], [0.0, 0.0], [0.25, 0.25]]])
    same(mean, "float32", [[3.0, 5.0]])
    same(rstd, "float32", [[third, 0.5]])


def test_group_norm_special() -> None:
    out, mean, rstd = group_norm("float16", [[[1.0], [inf]], [[nan], [1.0]], [[1.0], [3.0]]], None, None, 1, 0.0)
    same(out, "float16", [[[nan], [nan]], [[nan], [nan]], [[-1.0], [1.0]]])
    same(mean, "float32", [[UNSPECIFIED], [nan], [2.0]])
    same(rstd, "float32", [[UNSPECIFIED], [nan], [1.0]])
    _, mean, rstd = group_norm("float64", [[[], []]], None, None, 2, 1.0)
    same(mean, "float64", [[nan, nan]])
    for group in (0, 2):
        with pytest.raises(ValueError, match="3 channels do not make"):
            group_norm("float32", [[[1.0]] * 3], None, None, group, 1.0)
    with pytest.raises(ValueError, match=r"weight of floats of shape \(3,\)"):
        group_norm("float32", [[[1.0]] * 3], [1.0], None, 1, 1.0)
    x = tensor("float32", [1.0] * 3)
    with pytest.raises(ValueError, match="does not have N"):
        call("native_group_norm", input=x, weight=None, bias=None, N=1, C=2, HxW=1, group=1, eps=1.0)


def test_batch_norm_of_the_batch() -> None:
    """Channel 0 holds 0, 2, 4, 6 (rstd 1/3 with eps 4), channel 1 only fives."""
    arguments = {"training": True, "momentum": 0.1, "eps": 4.0, "weight": None, "bias": tensor("float32", [0.0, 1.0])}
    x = tensor("float32", [[[0.0, 2.0], [5.0, 5.0]], [[4.0, 6.0], [5.0, 5.0]]])
    out, mean, rstd = call("_native_batch_norm_legit.no_stats", input=x, **arguments)
    third = 0.3333333432674408
    same(out, "float32", [[[-1.0, -third], [1.0, 1.0]], [[third, 1.0], [1.0, 1.0]]])
    same(mean, "float32", [3.0, 5.0])
    same(rstd, "float32", [third, 0.5])
    out, mean, rstd = call("_native_batch_norm_legit.no_stats", input=tensor("float32", [[inf, nan]]), **arguments)
    same(out, "float32", [[nan, nan]])
    same(mean, "float32", [UNSPECIFIED, nan])
    same(rstd, "float32", [UNSPECIFIED, nan])
    for wrong in (
        {"training": False},
        {"input": RefTensor("float32", (0, 2), [])},
        {"input": tensor("float32", [1.0])},
    ):
        with pytest.raises(ValueError, match="needs"):
            call("_native_batch_norm_legit.no_stats", **{"input": x, **arguments, **wrong})


def test_batch_norm_and_the_running_statistics_that_it_leaves() -> None:
    """0, 2, 4, 6 have the mean 3 and the variance 20/3 over n - 1: 3/4 of 8 and a quarter of 3, of 20/3."""
    name, eps = "_native_batch_norm_legit_functional", 4.0
    running = {"running_mean": tensor("float32", [8.0]), "running_var": tensor("float32", [8.0])}
    x = tensor("float32", [[0.0], [2.0], [4.0], [6.0]])
    given = {"weight": None, "bias": None, "momentum": 0.25, "eps": eps, **running}
    *_, mean, variance = call(name, input=x, training=True, **given)
    same(mean, "float32", [6.75])
    same(variance, "float32", [7.666666507720947])
    assert call(name, input=x, training=False, **given)[3:] == (running["running_mean"], running["running_var"])
    specials = ([inf, 1.0], UNSPECIFIED, nan), ([nan, 1.0], nan, nan), ([1.0], 6.25, UNSPECIFIED)
    for special, of_mean, of_variance in specials:
        *_, mean, variance = call(name, input=tensor("float32", [[x] for x in special]), training=True, **given)
        same(mean, "float32", [of_mean])
        same(variance, "float32", [of_variance])
    *_, mean, _ = call(name, input=x, training=True, **{**given, "running_mean": tensor("float32", [inf])})
    same(mean, "float32", [UNSPECIFIED])
    with pytest.raises(ValueError, match="running_mean of floats"):
        call(name, input=x, training=True, **{**given, "running_mean": tensor("int32", [1])})


@pytest.mark.parametrize(
    ("x", "mean", "variance", "eps", "weight", "bias", "expected"),
    [
        (7.0, 1.0, 5.0, 4.0, 0.5, 0.25, 1.25),
        (1.0, 1.0, 5.0, 4.0, 3.0, -2.0, -2.0),
        (inf, 1.0, 5.0, 4.0, -1.0, 0.0, -inf),
        (inf, inf, 5.0, 4.0, 1.0, 0.0, nan),
        (inf, 1.0, 5.0, 4.0, 0.0, 0.0, nan),
        (inf, 1.0, 5.0, 4.0, 1.0, -inf, nan),
        (7.0, 1.0, inf, 4.0, 1.0, 0.5, 0.5),
        (7.0, 1.0, inf, 4.0, inf, 0.5, nan),
        (inf, 1.0, inf, 4.0, 1.0, 0.5, nan),
        (7.0, 1.0, nan, 4.0, 1.0, 0.5, nan),
        (7.0, 1.0, -5.0, 4.0, 1.0, 0.5, nan),
        (7.0, 1.0, -4.0, 4.0, 1.0, 0.5, UNSPECIFIED),
        (7.0, 1.0, 5.0, 4.0, inf, 0.5, inf),
        (1.0, 1.0, 5.0, 4.0, inf, 0.5, nan),
        (1e308, -1e308, 0.25, 0.0, 0.25, 0.0, 1e308),  # no intermediate overflows
    ],
)
def test_batch_norm_by_running_statistics(
    x: float, mean: float, variance: float, eps: float, weight: float, bias: float, expected: float
) -> None:
    names = ("running_mean", "running_var", "weight", "bias")
    operands = {name: tensor("float64", [v]) for name, v in zip(names, (mean, variance, weight, bias), strict=True)}
    arguments = {"momentum": 0.1, "eps": eps, **operands}
    out, *empty = call("_native_batch_norm_legit_no_training", input=tensor("float64", [[x]]), **arguments)
    same(out, "float64", [[expected]])
    assert empty == [RefTensor("float64", (0,), [])] * 2


def test_batch_norm_operands_of_another_dtype() -> None:
    operands = {"weight": None, "bias": None, "momentum": 0.1, "eps": 0.0}
    statistics = {"running_mean": tensor("float32", [0.1]), "running_var": tensor("float32", [1.0])}
    x = tensor("float16", [[0.0999755859375]])  # float16(0.1): the float32 mean differs
    out, mean, _ = call("_native_batch_norm_legit_no_training", input=x, **operands, **statistics)
    same(out, "float16", [[-2.4437904357910156e-05]])
    assert mean.dtype == "float32"


def rms_norm(dtype: str, rows: list, weight: list | None, eps: float | None) -> tuple:
    own = None if weight is None else tensor(dtype, weight)
    return call("_fused_rms_norm", input=tensor(dtype, rows), normalized_shape=[len(rows[0])], weight=own, eps=eps)


def test_rms_norm() -> None:
    out, rstd = rms_norm("float32", [[1.0, 7.0], [3.0, -3.0]], [1.0, 2.0], 0.0)  # mean squares 25 and 9
    same(out, "float32", [[0.20000000298023224, 2.799999952316284], [1.0, -2.0]])
    same(rstd, "float32", [[0.20000000298023224], [0.3333333432674408]])
    out, rstd = rms_norm("float64", [[0.0, 0.0]], None, None)
    same(out, "float64", [[0.0, 0.0]])
    same(rstd, "float64", [[2.0**26]])  # 1 / sqrt(2^-52)
    out, rstd = rms_norm("float16", [[0.0]], None, None)
    same(rstd, "float32", [[32.0]])  # 1 / sqrt(2^-10)
    x = tensor("float32", [[[3.0, 3.0], [3.0, 3.0]]])
    weight = tensor("float32", [[1.0, 2.0], [1.0, 2.0]])
    same(call("rms_norm", input=x, normalized_shape=[2, 2], weight=weight, eps=0.0), "float32", [[[1.0, 2.0]] * 2])


def test_rms_norm_special() -> None:
    out, rstd = rms_norm("float64", [[1.0, inf], [nan, inf], [0.0, 0.0]], [1.0, inf], 0.0)
    same(out, "float64", [[0.0, nan], [nan, nan], [nan, nan]])
    same(rstd, "float64", [[0.0], [nan], [inf]])
    out, _ = rms_norm("float64", [[inf, 1.0]], [1.0, inf], 0.0)
    same(out, "float64", [[nan, nan]])
    out, rstd = rms_norm("float64", [[1.0, 1.0]], None, -2.0)
    same(out, "float64", [[nan, nan]])
    same(rstd, "float64", [[nan]])
    out, rstd = rms_norm("float64", [[2.0**600, 2.0**-600]], None, 0.0)  # the mean square overflows, its root does not
    same(rstd, "float64", [[math.sqrt(2) * 2.0**-600]])
    with pytest.raises(ValueError, match="is not the end of"):
        call("rms_norm", input=tensor("float32", [1.0, 2.0]), normalized_shape=[1], weight=None, eps=None)
    with pytest.raises(ValueError, match="weight of floats of shape"):
        rms_norm("float32", [[1.0, 2.0]], [1.0], None)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_rms_norm_agrees_with_mpmath(dtype: str) -> None:
    row, weight, eps = [1.0, 2.5, -3.0, 0.125, 7.0], [1.0, -2.0, 0.5, 3.0, 1.0], 1e-5
    out, rstd = rms_norm(dtype, [row], weight, eps)
    with mpmath.workprec(300):
        scale = 1 / mpmath.sqrt(sum(mpmath.mpf(x) ** 2 for x in row) / 5 + mpmath.mpf(eps))
        assert out.data == [rounded_mpf(dtype, scale * x * w) for x, w in zip(row, weight, strict=True)]
        assert rstd.data == [rounded_mpf(rstd.dtype, scale)]


@pytest.mark.parametrize("op", ["rms_norm", "native_group_norm"])
def test_integers_are_refused(op: str) -> None:
    x = tensor("int64", [[1]])
    arguments = {"normalized_shape": [1]} if op == "rms_norm" else {"N": 1, "C": 1, "HxW": 1, "group": 1, "bias": None}
    with pytest.raises(ValueError, match=f"{op} of int64"):
        call(op, input=x, weight=None, eps=1.0, **arguments)
