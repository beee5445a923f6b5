"""The gradients of convolutions: by hand, then as differences of the convolution, then what is open or refused."""

import math
from fractions import Fraction

import pytest

from conform.refs import UNSPECIFIED, RefTensor
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan


def gradients(grad: RefTensor, x: RefTensor, weight: RefTensor, mask: tuple = (True, True, True), **options) -> tuple:
    plain = {"stride": [1], "padding": [0], "dilation": [1], "transposed": False, "output_padding": [0], "groups": 1}
    return call(
        "convolution_backward", grad_output=grad, input=x, weight=weight, bias_sizes=None, output_mask=list(mask),
        **{**plain, **options},
    )  # fmt: skip


X, W = tensor("float32", [[[1.0, 2.0, 3.0]]]), tensor("float32", [[[10.0, 100.0]]])
G = tensor("float32", [[[1.0, 5.0]]])


def test_one_channel() -> None:
    to_input, to_weight, to_bias = gradients(G, X, W)
    same(to_input, "float32", [[[10.0, 150.0, 500.0]]])
    same(to_weight, "float32", [[[11.0, 17.0]]])
    same(to_bias, "float32", [6.0])


def test_transposed_swaps_the_roles() -> None:
    to_input, to_weight, to_bias = gradients(X, G, W, transposed=True)
    same(to_input, "float32", [[[210.0, 320.0]]])
    same(to_weight, "float32", [[[11.0, 17.0]]])
    same(to_bias, "float32", [6.0])


def test_only_what_the_mask_wants() -> None:
    assert [gradient is None for gradient in gradients(G, X, W, (False, True, False))] == [True, False, True]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"stride": [2], "padding": [1], "dilation": [1], "groups": 1},
        {"stride": [1], "padding": [2], "dilation": [2], "groups": 2},
        {"stride": [3, 1], "padding": [0, 1], "dilation": [1, 2], "groups": 2},
    ],
)
def test_differences_of_the_convolution(options: dict, transposed: bool) -> None:
    """The convolution is linear in each operand: the gradient is the difference that one more makes, weighed."""
    shapes = ((2, 4, 7), (4, 4 // options["groups"], 3))
    shape, kernel = (s + s[2:] * (len(options["stride"]) - 1) for s in shapes)
    x, w = (RefTensor("float64", s, [float(i * i % 7 - 3) for i in range(math.prod(s))]) for s in (shape, kernel))
    common = {**options, "transposed": transposed, "output_padding": [0]}
    before = call("convolution", input=x, weight=w, bias=None, **common)
    grad = RefTensor("float64", before.shape, [float(i * 5 % 11 - 4) for i in range(len(before.data))])
    to_input, to_weight, _ = gradients(grad, x, w, **common)
    for operand, gradient in ((x, to_input), (w, to_weight)):
        for place in range(0, len(operand.data), 5):
            operand.data[place] += 1
            after = call("convolution", input=x, weight=w, bias=None, **common)
            operand.data[place] -= 1
            rows = zip(grad.data, after.data, before.data, strict=True)
            change = sum(Fraction(g) * Fraction(b - a) for g, b, a in rows)
            assert gradient.data[place] == change


def test_special_numbers_beside_padding_are_open() -> None:
    u = UNSPECIFIED
    weight = tensor("float32", [[[inf, 1.0]]])
    same(gradients(G, X, weight)[0], "float32", [[[inf, inf, u]]])  # the last input meets only the second weight
    grad = tensor("float32", [[[inf, 1.0, 1.0, 1.0]]])
    to_input, to_weight, to_bias = gradients(grad, X, W, padding=[1])
    same(to_input, "float32", [[[inf, 110.0, 110.0]]])
    same(to_weight, "float32", [[[u, inf]]])
    same(to_bias, "float32", [inf])
    same(gradients(G, tensor("float32", [[[1.0, 2.0, nan]]]), W)[1], "float32", [[[u, nan]]])


@pytest.mark.parametrize(
    ("grad", "x", "w", "options"),
    [
        (X, X, W, {}),
        (tensor("float64", [[[1.0, 5.0]]]), X, W, {}),
        (G, X, W, {"groups": 2}),
        (G, X, W, {"stride": [0]}),
        (G, tensor("float32", [[1.0, 2.0, 3.0]]), W, {}),
        (tensor("float32", [[[1.0, 5.0]], [[1.0, 5.0]]]), X, W, {}),
        (tensor("int64", [[[1, 5]]]), tensor("int64", [[[1, 2, 3]]]), tensor("int64", [[[1, 1]]]), {}),
    ],
)
def test_refused(grad: RefTensor, x: RefTensor, w: RefTensor, options: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        gradients(grad, x, w, **options)
