"""Losses: hand-computed values, then the special ones, then the transcendental ones by mpmath."""

import math
import random

import mpmath
import pytest

from conform.refs import UNSPECIFIED, RefTensor
from conform.refs.exact.rounding import round_number
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan = math.inf, math.nan
NONE, MEAN, SUM = 0, 1, 2
LOG_2 = math.log(2)
X, Y = tensor("float64", [1.0, 2.0, 5.0]), tensor("float64", [1.5, 2.0, 1.0])  # distances 0.5, 0, 4


@pytest.mark.parametrize(
    ("op", "options", "expected"),
    [
        ("mse_loss", {}, [0.25, 0.0, 16.0]),
        ("l1_loss", {}, [0.5, 0.0, 4.0]),
        ("smooth_l1_loss", {}, [0.125, 0.0, 3.5]),
        ("smooth_l1_loss", {"beta": 4.0}, [0.03125, 0.0, 2.0]),
        ("smooth_l1_loss", {"beta": 0.0}, [0.5, 0.0, 4.0]),
        ("smooth_l1_loss", {"beta": inf}, [0.0, 0.0, 0.0]),
        ("huber_loss", {}, [0.125, 0.0, 3.5]),
        ("huber_loss", {"delta": 0.25}, [0.09375, 0.0, 0.96875]),
        ("huber_loss", {"delta": inf}, [0.125, 0.0, 8.0]),
    ],
)
def test_losses_of_distances(op: str, options: dict, expected: list[float]) -> None:
    same(call(op, self=X, target=Y, reduction=NONE, **options), "float64", expected)
    same(call(op, self=X, target=Y, reduction=SUM, **options), "float64", sum(expected))
    same(call(op, self=X, target=Y, **options), "float64", sum(expected) / 3)


@pytest.mark.parametrize(
    ("op", "options", "of_infinity"),
    [
        ("mse_loss", {}, inf),
        ("l1_loss", {}, inf),
        ("smooth_l1_loss", {}, inf),
        ("smooth_l1_loss", {"beta": inf}, nan),  # inf - inf / 2
        ("huber_loss", {}, inf),
        ("huber_loss", {"delta": inf}, nan),
    ],
)
def test_losses_of_infinite_distances(op: str, options: dict, of_infinity: float) -> None:
    x, y = tensor("float32", [inf, inf, nan]), tensor("float32", [1.0, inf, 1.0])
    same(call(op, self=x, target=y, reduction=NONE, **options), "float32", [of_infinity, nan, nan])


def test_losses_of_distances_round_once_broadcast_and_promote() -> None:
    x, y = tensor("float16", [[60000.0], [0.0]]), tensor("float16", [0.0, 60000.0])
    same(call("mse_loss", self=x, target=y, reduction=NONE), "float16", [[inf, 0.0], [0.0, inf]])
    same(call("l1_loss", self=x, target=y), "float16", 30000.0)  # the sum overflows, the mean does not
    same(call("l1_loss", self=x, target=tensor("float32", [1.0, 1.0]), reduction=SUM), "float32", 120000.0)
    same(call("mse_loss", self=tensor("float16", []), target=tensor("float16", [])), "float16", nan)
    same(call("mse_loss", self=tensor("float16", []), target=tensor("float16", []), reduction=SUM), "float16", 0.0)
    same(call("mse_loss", self=tensor("int64", [2]), target=tensor("float32", [0.5])), "float32", 2.25)


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("mse_loss", {"self": tensor("int8", [1]), "target": tensor("int8", [1])}),
        ("mse_loss", {"self": X, "target": Y, "reduction": 3}),
        ("l1_loss", {"self": X, "target": tensor("float64", [1.0, 2.0])}),
        ("smooth_l1_loss", {"self": X, "target": Y, "beta": -1.0}),
        ("smooth_l1_loss", {"self": X, "target": Y, "beta": nan}),
        ("huber_loss", {"self": X, "target": Y, "delta": 0.0}),
        ("binary_cross_entropy", {"self": tensor("float32", [1.5]), "target": tensor("float32", [1.0])}),
        ("binary_cross_entropy", {"self": tensor("float32", [0.5]), "target": tensor("float32", [nan])}),
        ("binary_cross_entropy", {"self": tensor("float32", [0.5]), "target": tensor("float64", [1.0])}),
        ("kl_div", {"self": tensor("float32", [0.5]), "target": tensor("int64", [1])}),
        ("nll_loss", {"self": tensor("float32", [[1.0]]), "target": tensor("int64", [1])}),
        ("nll_loss", {"self": tensor("float32", [[1.0]]), "target": tensor("int32", [0])}),
        ("nll_loss", {"self": tensor("float32", [[1.0]]), "target": tensor("int64", [0, 0])}),
        ("nll_loss", {"self": tensor("float32", [[[1.0]]]), "target": tensor("int64", [[0]])}),
        ("nll_loss", {"self": X, "target": tensor("int64", 0), "weight": tensor("float32", [1.0] * 3)}),
        ("cross_entropy_loss", {"self": tensor("float32", [[1.0]]), "target": tensor("int64", [[0]])}),
        ("cross_entropy_loss", {"self": tensor("float32", [[1.0]]), "target": tensor("int64", [1])}),
        ("cross_entropy_loss", {"self": X, "target": Y, "ignore_index": 0}),
        ("cross_entropy_loss", {"self": X, "target": Y, "label_smoothing": 1.5}),
        ("cross_entropy_loss", {"self": X, "target": Y, "weight": tensor("float64", [1.0])}),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)


# ---- binary cross entropy, kl_div --------------------------------------------------------------------------------


def test_binary_cross_entropy() -> None:
    x = tensor("float64", [0.5, 1.0, 0.0, 1.0, 0.0, 1e-50, 0.25])
    y = tensor("float64", [0.25, 1.0, 0.0, 0.0, 0.5, 1.0, 0.0])
    losses = [LOG_2, 0.0, 0.0, 100.0, 50.0, 100.0, 0.28768207245178092744]
    same(call("binary_cross_entropy", self=x, target=y, reduction=NONE), "float64", losses)
    weight = tensor("float64", 2.0)
    doubled = call("binary_cross_entropy", self=x, target=y, weight=weight, reduction=NONE)
    same(doubled, "float64", [2 * loss for loss in losses])
    half = tensor("float64", [0.5, 0.5])
    opposite = tensor("float64", [1.0, -1.0])
    same(call("binary_cross_entropy", self=half, target=half, weight=opposite, reduction=SUM), "float64", 0.0)
    same(call("binary_cross_entropy", self=half, target=half), "float64", LOG_2)
    infinite = tensor("float64", [inf, -inf])
    ones = tensor("float64", [0.0, 1.0])
    same(call("binary_cross_entropy", self=half, target=half, weight=infinite, reduction=NONE), "float64", [inf, -inf])
    same(call("binary_cross_entropy", self=ones, target=ones, weight=infinite, reduction=NONE), "float64", [nan, nan])


def test_binary_cross_entropy_with_logits() -> None:
    x, y = tensor("float64", [0.0, 0.0, 40.0, -1e308, 1e308]), tensor("float64", [0.25, 1.0, 1.0, 1.0, 1.0])
    losses = [LOG_2, LOG_2, 4.248354255291589e-18, 1e308, 0.0]
    op = "binary_cross_entropy_with_logits"
    same(call(op, self=x, target=y, reduction=NONE), "float64", losses)
    tripled = call(op, self=x, target=y, pos_weight=tensor("float64", 3.0), reduction=NONE)
    same(tripled, "float64", [1.5 * LOG_2, 3 * LOG_2, 1.2745062765874767e-17, inf, 0.0])
    x, y = tensor("float64", [inf, nan, 0.0]), tensor("float64", [1.0, 1.0, 1.0])
    same(call(op, self=x, target=y, reduction=NONE), "float64", [UNSPECIFIED, nan, LOG_2])
    same(call(op, self=x, target=y), "float64", UNSPECIFIED)
    same(call(op, self=y, target=y, weight=tensor("float64", inf), reduction=SUM), "float64", UNSPECIFIED)


def test_kl_div() -> None:
    x, y = tensor("float64", [0.0, 1.0, 3.0, 3.0]), tensor("float64", [0.5, 1.0, 0.0, -1.0])
    same(call("kl_div", self=x, target=y, reduction=NONE), "float64", [-LOG_2 / 2, -1.0, 0.0, nan])
    logs = call("kl_div", self=x, target=tensor("float64", [0.0, 1.0, 3.0, 0.0]), reduction=NONE, log_target=True)
    same(logs, "float64", [0.0, 0.0, 0.0, -3.0])
    x, y = tensor("float32", [-inf, nan, 0.0]), tensor("float32", [0.0, 1.0, inf])
    same(call("kl_div", self=x, target=y, reduction=NONE), "float32", [UNSPECIFIED, nan, UNSPECIFIED])
    same(call("kl_div", self=x, target=y), "float32", UNSPECIFIED)


# ---- losses of classes -------------------------------------------------------------------------------------------

LOGP = tensor("float32", [[-1.0, -2.0], [-3.0, -4.0], [nan, nan]])
TARGETS = tensor("int64", [1, 0, -100])
WEIGHT = tensor("float32", [3.0, 1.0])


@pytest.mark.parametrize(
    ("options", "output", "total_weight"),
    [
        ({"reduction": NONE}, [2.0, 3.0, 0.0], UNSPECIFIED),
        ({"reduction": SUM}, 5.0, 2.0),
        ({"reduction": MEAN}, 2.5, 2.0),
        ({"reduction": NONE, "weight": WEIGHT}, [2.0, 9.0, 0.0], UNSPECIFIED),
        ({"reduction": MEAN, "weight": WEIGHT}, 2.75, 4.0),
        ({"reduction": MEAN, "weight": tensor("float32", [1.0, -1.0])}, inf, 0.0),
        ({"reduction": MEAN, "weight": tensor("float32", [0.0, 0.0])}, nan, 0.0),
        ({"reduction": MEAN, "weight": tensor("float32", [inf, 1.0])}, nan, inf),
        ({"reduction": SUM, "ignore_index": 0, "target": tensor("int64", [0, 0, 0])}, 0.0, 0.0),
        ({"reduction": MEAN, "ignore_index": 0, "target": tensor("int64", [0, 0, 0])}, nan, 0.0),
        ({"reduction": MEAN, "target": tensor("uint8", [0, 0, 0])}, nan, 3.0),
    ],
)
def test_nll_loss(options: dict, output: object, total_weight: float) -> None:
    arguments = {"self": LOGP, "target": TARGETS, "weight": None, "ignore_index": -100, **options}
    actual, weight_sum = call("nll_loss_forward", **arguments)
    same(actual, "float32", output)
    same(weight_sum, "float32", total_weight)
    same(call("nll_loss", **arguments), "float32", output)


def test_nll_loss_of_one_sample() -> None:
    same(
        call("nll_loss", self=tensor("float32", [-1.0, -2.0]), target=tensor("int64", 1), reduction=NONE),
        "float32",
        2.0,
    )
    nothing = RefTensor("float32", (0, 2), [])
    same(call("nll_loss", self=nothing, target=tensor("int64", [])), "float32", nan)


def test_cross_entropy_of_classes() -> None:
    x = tensor("float64", [[0.0, 0.0], [5.0, 5.0], [0.0, 1.0]])
    y = tensor("int64", [0, 1, 1])
    last = 0.31326168751822283405  # log(1 + 1/e)
    same(call("cross_entropy_loss", self=x, target=y, reduction=NONE), "float64", [LOG_2, LOG_2, last])
    same(call("cross_entropy_loss", self=x, target=y, ignore_index=1), "float64", LOG_2)
    smooth = call("cross_entropy_loss", self=x, target=y, label_smoothing=0.5, reduction=NONE)
    same(smooth, "float64", [LOG_2, LOG_2, 0.56326168751822283405])  # half of (last + 1 / 2 + last)
    weight = tensor("float64", [3.0, 1.0])
    same(call("cross_entropy_loss", self=x, target=tensor("int64", [0, 1, 0]), weight=weight, ignore_index=-1,
              reduction=SUM), "float64", 6.71237378479444973982)  # fmt: skip
    one = tensor("float64", [[7.0], [nan], [-inf]])
    same(
        call("cross_entropy_loss", self=one, target=tensor("int64", [0, 0, 0]), reduction=NONE),
        "float64",
        [0.0, nan, nan],
    )
    same(call("cross_entropy_loss", self=tensor("float64", [0.0, 0.0]), target=tensor("int64", 1)), "float64", LOG_2)
    deep = RefTensor("float64", (1, 2, 3), [0.0] * 6)
    same(
        call("cross_entropy_loss", self=deep, target=tensor("int64", [[0, 1, 0]]), reduction=NONE),
        "float64",
        [[LOG_2] * 3],
    )


def test_cross_entropy_of_infinite_logits() -> None:
    x = tensor("float64", [[0.0, -inf], [0.0, inf]])
    arguments = {"self": x, "reduction": NONE}
    same(call("cross_entropy_loss", target=tensor("int64", [1, 0]), **arguments), "float64", [inf, nan])
    same(call("cross_entropy_loss", target=tensor("int64", [0, -100]), **arguments), "float64", [0.0, 0.0])
    smooth = call("cross_entropy_loss", target=tensor("int64", [0, -100]), label_smoothing=0.25, **arguments)
    same(smooth, "float64", [UNSPECIFIED, 0.0])
    shares = tensor("float64", [[1.0, 0.0], [1.0, 0.0]])
    same(call("cross_entropy_loss", target=shares, **arguments), "float64", [UNSPECIFIED] * 2)
    same(call("cross_entropy_loss", self=x, target=shares), "float64", UNSPECIFIED)


def test_cross_entropy_of_probabilities() -> None:
    x, shares = tensor("float64", [[0.0, 0.0], [5.0, 5.0]]), tensor("float64", [[0.25, 0.75], [2.0, 0.0]])
    same(call("cross_entropy_loss", self=x, target=shares, reduction=NONE), "float64", [LOG_2, 2 * LOG_2])
    same(call("cross_entropy_loss", self=x, target=shares), "float64", 1.5 * LOG_2)
    weight = tensor("float64", [4.0, 0.0])
    same(
        call("cross_entropy_loss", self=x, target=shares, weight=weight, reduction=NONE), "float64", [LOG_2, 8 * LOG_2]
    )
    smooth = call("cross_entropy_loss", self=x, target=shares, label_smoothing=0.5, reduction=NONE)
    same(smooth, "float64", [LOG_2, 1.5 * LOG_2])
    mixed = call("cross_entropy_loss", self=tensor("float16", [0.0, 0.0]), target=tensor("float32", [nan, 1.0]))
    same(mixed, "float32", nan)


# ---- a second opinion --------------------------------------------------------------------------------------------


def log_sigmoid(x: mpmath.mpf) -> mpmath.mpf:
    return -mpmath.log(1 + mpmath.exp(-x))


MPMATH = {
    "binary_cross_entropy": lambda x, y: -(y * mpmath.log(x) + (1 - y) * mpmath.log(1 - x)),
    "binary_cross_entropy_with_logits": lambda x, y: -(y * log_sigmoid(x) + (1 - y) * log_sigmoid(-x)),
    "kl_div": lambda x, y: y * (mpmath.log(y) - x),
    "cross_entropy_loss": lambda x, y: y * log_sigmoid(-x) * -1 + (1 - y) * log_sigmoid(x) * -1,
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", MPMATH)
def test_agrees_with_mpmath(op: str, dtype: str) -> None:
    """cross_entropy_loss of the logits (x, 0) and the probabilities (1 - y, y)."""
    draw = random.Random(op)
    xs, ys = ([round_number(dtype, draw.uniform(0.01, 0.99)) for _ in range(7)] for _ in range(2))
    if op == "cross_entropy_loss":
        ys = [round_number(dtype, draw.randint(1, 15) / 16) for _ in ys]  # 1 - y is exact
        operands = [[[x, 0.0] for x in xs], [[1 - y, y] for y in ys]]
    else:
        operands = [xs, ys]
    arguments = {name: tensor(dtype, values) for name, values in zip(("self", "target"), operands, strict=True)}
    with mpmath.workprec(300):
        losses = [MPMATH[op](mpmath.mpf(x), mpmath.mpf(y)) for x, y in zip(xs, ys, strict=True)]
        same(call(op, reduction=NONE, **arguments), dtype, [rounded_mpf(dtype, loss) for loss in losses])
        same(call(op, reduction=SUM, **arguments), dtype, rounded_mpf(dtype, mpmath.fsum(losses)))
        same(call(op, **arguments), dtype, rounded_mpf(dtype, mpmath.fsum(losses) / 7))
