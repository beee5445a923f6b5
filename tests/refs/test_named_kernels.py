"""Distinct slices, fake quantization, quantiles, quantized weights, triplets, angles, alignments: literal results."""

import math

import pytest

from conform.refs import UNSPECIFIED
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan
u = UNSPECIFIED
NONE, MEAN, SUM = 0, 1, 2


def test_unique_dim() -> None:
    x = tensor("int64", [[2, 1], [1, 9], [2, 1]])
    values, inverse, counts = call("unique_dim", self=x, dim=0, return_inverse=True, return_counts=True)
    same(values, "int64", [[1, 9], [2, 1]])
    same(inverse, "int64", [1, 0, 1])
    same(counts, "int64", [1, 2])
    assert call("unique_dim", self=tensor("float32", [[nan]]), dim=0) == (u, None, None)
    assert call("unique_dim", self=x, dim=0, sorted=False)[0].data == [u] * 4
    with pytest.raises(ValueError, match="no elements"):
        call("unique_dim", self=tensor("int64", [[], []]), dim=0)


def test_unique_consecutive() -> None:
    x = tensor("float32", [1.0, 1.0, nan, nan, 1.0])
    values, inverse, counts = call("unique_consecutive", self=x, return_inverse=True, return_counts=True)
    same(values, "float32", [1.0, nan, nan, 1.0])
    same(inverse, "int64", [0, 0, 1, 2, 3])
    same(counts, "int64", [2, 1, 1, 1])
    same(call("unique_dim_consecutive", self=tensor("int64", [[1, 1, 2]]), dim=1)[0], "int64", [[1, 2]])


def test_fake_quantization() -> None:
    ends = {"quant_min": 0, "quant_max": 4}
    x = tensor("float32", [0.25, 0.75, 9.0, -inf, nan])
    arguments = {"self": x, "scale": 0.5, "zero_point": 1, **ends}
    output, mask = call("fake_quantize_per_tensor_affine_cachemask", **arguments)
    same(output, "float32", [0.0, 1.0, 1.5, -0.5, u])
    same(mask, "bool", [True, True, False, False, u])
    rows = {"self": tensor("float32", [[1.0, 1.0]]), "scale": tensor("float32", [0.5, 4.0]), "axis": 1}
    same(
        call("fake_quantize_per_channel_affine", **rows, zero_point=tensor("int32", [0, 0]), **ends),
        "float32",
        [[1.0, 0.0]],
    )
    with pytest.raises(ValueError, match="zero_point"):
        call("fake_quantize_per_tensor_affine", **arguments | {"zero_point": 5})


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [("linear", 2.5), ("lower", 2.0), ("higher", 4.0), ("midpoint", 3.0), ("nearest", 2.0)],
)
def test_quantiles(interpolation: str, expected: float) -> None:
    """The index 1.25 into 1, 2, 4, 8, 16, and the ends."""
    x = tensor("float64", [[8.0, 1.0, 16.0, 2.0, 4.0]])
    q = tensor("float64", [0.3125, 1.0])
    same(call("quantile", self=x, q=q, dim=1, interpolation=interpolation), "float64", [[expected], [16.0]])


def test_quantiles_of_special_numbers() -> None:
    x = tensor("float32", [nan, 1.0, inf])
    same(call("quantile.scalar", self=x, q=0.5), "float32", nan)
    same(call("nanquantile.scalar", self=x, q=0.5), "float32", u)
    same(call("nanquantile", self=x, q=tensor("float32", 1.0)), "float32", inf)


def test_quantized_weights() -> None:
    x, weights = tensor("float32", [[0.5, 3.0]]), tensor("int8", [[2, -1], [127, -128]])
    same(
        call("_weight_int8pack_mm", self=x, mat2=weights, scales=tensor("float32", [0.25, 2.0])),
        "float32",
        [[-0.5, -641.0]],
    )


def test_scaled_products() -> None:
    left, right = tensor("float8_e4m3fn", [[1.5, 448.0]]), tensor("float8_e5m2", [[2.0, 0.5], [-1.0, 2.0**-9]])
    scales = {"scale_a": tensor("float32", [[3.0]]), "scale_b": tensor("float32", [[0.5, 2.0]])}
    given = {"self": left, "mat2": right, "out_dtype": "float32"}
    same(call("_scaled_mm", **given, **scales), "float32", [[-667.5, 9.75]])
    one = {"scale_a": tensor("float32", 1.0), "scale_b": tensor("float32", [0.5])}
    bias = tensor("float32", [0.5, nan])
    same(call("_scaled_mm", **given, **one, bias=bias), "float32", [[-222.0, nan]])


def test_products_of_groups() -> None:
    rows, experts = tensor("float32", [[1, 2], [3, 4], [5, 6]]), tensor("float32", [[[1], [10]], [[2], [0.5]]])
    ends = tensor("int32", [1, 2])
    same(call("_grouped_mm", self=rows, mat2=experts, offs=ends), "float32", [[21.0], [8.0], [u]])
    of_terms = call("_grouped_mm", self=tensor("float32", [[1, 2, 4]]), mat2=rows, offs=tensor("int32", [2, 2, 3]))
    same(of_terms, "float32", [[[7.0, 10.0]], [[0.0, 0.0]], [[20.0, 24.0]]])
    of_columns = call("_grouped_mm", self=tensor("float32", [[[1, 1, 1]], [[2, 2, 2]]]), mat2=rows, offs=ends)
    same(of_columns, "float32", [[9.0, 24.0]])
    with pytest.raises(ValueError, match="expected int32"):
        call("_grouped_mm", self=rows, mat2=experts, offs=tensor("int32", [1, 4]))


def test_complex_numbers_of_parts() -> None:
    pairs = tensor("float64", [[1.0, -2.0], [-0.0, inf]])
    same(call("view_as_complex", self=pairs), "complex128", [1 - 2j, complex(-0.0, inf)])
    same(call("complex", real=tensor("float32", [1.0, 2.0]), imag=tensor("float32", [[-0.0]])), "complex64",
         [[complex(1.0, -0.0), complex(2.0, -0.0)]])  # fmt: skip


def test_triplets() -> None:
    lines = {"anchor": [[0.0, 0.0]], "positive": [[3.0, 4.0]], "negative": [[6.0, 8.0]]}
    own = {name: tensor("float64", line) for name, line in lines.items()}
    same(call("triplet_margin_loss", **own, margin=7.0, eps=0.0, reduction=NONE), "float64", [2.0])
    same(call("triplet_margin_loss", **own, margin=7.0, eps=0.0, swap=True), "float64", 7.0)
    same(call("triplet_margin_loss", **own, margin=1.0, p=1.0, eps=0.0, reduction=SUM), "float64", 0.0)
    root = call("triplet_margin_loss", **own | {"positive": tensor("float64", [[1.0, 1.0]])}, margin=10.0, eps=0.0)
    same(root, "float64", math.sqrt(2))


def test_angles() -> None:
    x, y = (
        tensor("float64", [[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]]),
        tensor("float64", [[3.0, -4.0], [1.0, 1.0], [-1.0, 0.0]]),
    )
    signs = tensor("float64", [1.0, 1.0, -1.0])
    out = call("cosine_embedding_loss", input1=x, input2=y, target=signs, margin=0.0, reduction=NONE)
    same(out, "float64", [1.28, u, 0.0])


def test_alignments() -> None:
    """One path of -1 - 2; three of e^-2 each; none; one by a label that is no label."""
    numbers = tensor("float64", [[[-1.0, -1.0]] * 4, [[-2.0, -1.0]] * 4])
    arguments = {"log_probs": numbers, "blank": 0, "reduction": NONE}
    out = call("ctc_loss.IntList", **arguments, targets=tensor("int64", [1, 1, 1, 0]), input_lengths=[2, 1, 2, 1],
               target_lengths=[0, 1, 2, 1])  # fmt: skip
    same(out, "float64", [3.0, 1.0, inf, u])
    half = tensor("float64", [[[-1.0, -1.0]], [[-1.0, -1.0]]])
    out = call(
        "ctc_loss.IntList", log_probs=half, targets=tensor("int64", [[1]]), input_lengths=[2], target_lengths=[1]
    )
    assert abs(out.data[0] - (2 - math.log(3))) < 1e-15
