"""Gradients of softmax and the norms: rational ones by hand, others by mpmath, then what is open or refused."""

import math

import mpmath
import pytest

from conform.refs import UNSPECIFIED, RefTensor
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan = math.inf, math.nan
u = UNSPECIFIED


def of_softmax(op: str, grad: list, output: list, dtype: str = "float32", into: str = "float32") -> object:
    return call(
        f"{op}_backward_data", grad_output=tensor(dtype, grad), output=tensor(dtype, output), dim=0, input_dtype=into
    )


@pytest.mark.parametrize(
    ("op", "grad", "output", "expected"),
    [
        ("_softmax", [1.0, 2.0], [0.5, 0.25], [0.0, 0.25]),  # 1 - (1 * 0.5 + 2 * 0.25) is 0
        ("_softmax", [1.0, nan], [0.5, 0.25], [nan, nan]),
        ("_softmax", [inf, 1.0], [0.5, 0.25], [u, u]),
        ("_log_softmax", [1.0, 2.0], [0.0, -inf], [-2.0, 2.0]),
        ("_log_softmax", [1.0, -1.0], [-0.5, -0.75], [1.0, -1.0]),
        ("_log_softmax", [1.0, 0.0], [-1.0, nan], [0.6321205496788025, nan]),
        ("_log_softmax", [1.0, 0.0], [-1e30, inf], [1.0, u]),
        ("_log_softmax", [0.0, 1.0], [-1e30, -1.0], [-0.0, 0.6321205496788025]),
    ],
)
def test_softmax(op: str, grad: list, output: list, expected: list) -> None:
    same(of_softmax(op, grad, output), "float32", expected)


def test_softmax_of_a_half_input() -> None:
    same(of_softmax("_softmax", [[1.0], [3.0]], [[0.5], [0.5]], into="float16"), "float16", [[-0.5], [0.5]])
    with pytest.raises(ValueError, match="no input of float32"):
        of_softmax("_softmax", [1.0], [1.0], dtype="float64", into="float32")


X = tensor("float32", [[0.0, 2.0, 4.0, 6.0]])
G = tensor("float32", [[1.0, 0.0, 0.0, 3.0]])
MEAN, RSTD = tensor("float32", [[3.0]]), tensor("float32", [[0.5]])
WEIGHT = tensor("float32", [1.0, 1.0, 1.0, 2.0])


def layer(grad: RefTensor = G, x: RefTensor = X, weight: RefTensor | None = WEIGHT, mask: tuple = (True,) * 3) -> tuple:
    return call(
        "native_layer_norm_backward", grad_out=grad, input=x, normalized_shape=[4], mean=MEAN, rstd=RSTD, weight=weight,
        bias=weight, output_mask=list(mask),
    )  # fmt: skip


def test_layer_norm() -> None:
    """g = [1, 0, 0, 6], mean 7/4; z = [-1.5, -0.5, 0.5, 1.5], mean of g z 7.5/4."""
    to_input, to_weight, to_bias = layer()
    same(to_input, "float32", [[1.03125, -0.40625, -1.34375, 0.71875]])
    same(to_weight, "float32", [-1.5, 0.0, 0.0, 4.5])
    same(to_bias, "float32", [1.0, 0.0, 0.0, 3.0])


def test_layer_norm_gives_what_is_wanted_and_there() -> None:
    assert [x is None for x in layer(mask=(False, True, False))] == [True, False, True]
    assert [x is None for x in layer(weight=None)] == [False, True, True]


@pytest.mark.parametrize(("number", "row", "own"), [(nan, nan, nan), (inf, u, u)])
def test_layer_norm_of_special_numbers(number: float, row: object, own: object) -> None:
    to_input, to_weight, to_bias = layer(x=tensor("float32", [[number, 2.0, 4.0, 6.0]]))
    same(to_input, "float32", [[row] * 4])
    same(to_weight, "float32", [own, 0.0, 0.0, 4.5])
    same(to_bias, "float32", [1.0, 0.0, 0.0, 3.0])
    assert layer(grad=tensor("float32", [[number, 0.0, 0.0, 3.0]]))[2].data[1:] == [0.0, 0.0, 3.0]


def test_group_norm_with_one_group_is_layer_norm_with_a_weight_by_channel() -> None:
    to_input, to_weight, to_bias = call(
        "native_group_norm_backward", grad_out=G, input=X, mean=MEAN, rstd=RSTD, weight=WEIGHT, N=1, C=4, HxW=1,
        group=1, output_mask=[True] * 3,
    )  # fmt: skip
    assert (to_input, to_weight, to_bias) == layer()
    two = call(
        "native_group_norm_backward", grad_out=G, input=X, mean=MEAN, rstd=RSTD, weight=None, N=1, C=2, HxW=2, group=1,
        output_mask=[False, True, True],
    )  # fmt: skip
    same(two[1], "float32", [-1.5, 4.5])
    same(two[2], "float32", [1.0, 3.0])


def batch(train: bool, eps: float = 0.0, scale: float = 0.5) -> tuple:
    statistics = tensor("float32", [3.0]), tensor("float32", [scale])
    names = ("save_mean", "save_invstd") if train else ("running_mean", "running_var")
    own = dict.fromkeys(("save_mean", "save_invstd", "running_mean", "running_var"))
    own |= dict(zip(names, statistics, strict=True))
    column = [RefTensor("float32", (4, 1), t.data) for t in (G, X)]
    return call(
        "native_batch_norm_backward", grad_out=column[0], input=column[1], weight=tensor("float32", [2.0]), **own,
        train=train, eps=eps, output_mask=[True] * 3,
    )  # fmt: skip


def test_batch_norm() -> None:
    """By train as layer norm with one weight: g = [2, 0, 0, 6], mean 2; mean of g z 1.5."""
    to_input, to_weight, to_bias = batch(train=True)
    same(to_input, "float32", [[1.125], [-0.625], [-1.375], [0.875]])
    same(to_weight, "float32", [3.0])
    same(to_bias, "float32", [4.0])


def test_batch_norm_by_running_statistics() -> None:
    to_input, to_weight, _ = batch(train=False, eps=3.5)
    same(to_input, "float32", [[1.0], [0.0], [0.0], [3.0]])
    same(to_weight, "float32", [3.0])
    same(batch(train=False, eps=1.5)[1], "float32", [4.242640495300293])  # 6 / sqrt 2
    same(batch(train=False, eps=-0.5)[1], "float32", [u])
    same(batch(train=False, eps=-1.0)[1], "float32", [nan])


def test_gradients_are_derivatives() -> None:
    """The gradient of layer norm by mpmath's differences."""
    xs, gs = [0.5, -1.25, 3.0, 0.75], [1.0, -2.0, 0.5, 4.0]

    def loss(*values: mpmath.mpf) -> mpmath.mpf:
        mean = mpmath.fsum(values) / 4
        deviation = mpmath.sqrt(mpmath.fsum((x - mean) ** 2 for x in values) / 4)
        return mpmath.fsum(g * (x - mean) / deviation for g, x in zip(gs, values, strict=True))

    with mpmath.workprec(200):
        mean = mpmath.fsum(xs) / 4
        rstd = 1 / mpmath.sqrt(mpmath.fsum((x - mean) ** 2 for x in xs) / 4)
        expected = [mpmath.diff(loss, tuple(xs), tuple(int(i == j) for j in range(4))) for i in range(4)]
    statistics = [RefTensor("float64", (1, 1), [rounded_mpf("float64", x)]) for x in (mean, rstd)]
    out = call(
        "native_layer_norm_backward", grad_out=tensor("float64", [gs]), input=tensor("float64", [xs]),
        normalized_shape=[4], mean=statistics[0], rstd=statistics[1], weight=None, bias=None,
        output_mask=[True, False, False],
    )[0]  # fmt: skip
    assert out.data == pytest.approx([float(x) for x in expected], rel=1e-14)


def test_refused() -> None:
    with pytest.raises(ValueError, match="normalized_shape"):
        layer(x=tensor("float32", [[1.0, 2.0]]))
    with pytest.raises(ValueError, match="grad_out"):
        layer(grad=tensor("float32", [1.0, 2.0]))
    with pytest.raises(ValueError, match="not defined"):
        layer(x=tensor("int64", [[0, 2, 4, 6]]))


# ---- the names that people call ----------------------------------------------------------------------------------


def test_composites() -> None:
    x = tensor("float64", [[1.0, 3.0], [5.0, 5.0]])
    same(call("layer_norm", input=x, normalized_shape=[2], eps=0.5625), "float64", [[-0.8, 0.8], [0.0, 0.0]])
    same(call("group_norm", input=x, num_groups=1, eps=0.5625), "float64", [[-0.8, 0.8], [0.0, 0.0]])
    same(call("softmax.int", self=tensor("int64", [3, 3]), dim=0, dtype="float32"), "float32", [0.5, 0.5])
    same(call("log_softmax.int", self=tensor("float32", [3.0]), dim=-1), "float32", [0.0])
    with pytest.raises(ValueError, match="int64"):
        call("softmax.int", self=tensor("int64", [3, 3]), dim=0)


def test_batch_and_instance_norm() -> None:
    x = tensor("float64", [[[1.0, 3.0]], [[5.0, 7.0]]])
    plain = {"input": x, "weight": None, "bias": None, "momentum": 0.5, "eps": 4.0}
    running = {"running_mean": tensor("float64", [1.0]), "running_var": tensor("float64", [12.0])}
    common = {**plain, **running}
    third = 1 / 3
    of_batch, by_running = (call("batch_norm", **common, training=t, cudnn_enabled=False) for t in (True, False))
    result, mean, variance = of_batch
    same(result, "float64", [[[-1.0, -third]], [[third, 1.0]]])
    same(mean, "float64", [2.5])
    same(variance, "float64", [28 / 3])
    same(by_running, "float64", [[[0.0, 0.5]], [[1.0, 1.5]]])
    own = {**plain, "eps": 0.0, "running_mean": None, "running_var": None, "cudnn_enabled": True}
    same(call("instance_norm", **own, use_input_stats=True), "float64", [[[-1.0, 1.0]]] * 2)
    with pytest.raises(ValueError, match="running"):
        call("instance_norm", **own, use_input_stats=False)
