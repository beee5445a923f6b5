"""Losses of margins, counts and distances: hand-computed values, then the special ones and what is open."""

import math

import mpmath
import pytest

from conform.refs import UNSPECIFIED
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan = math.inf, math.nan
NONE, MEAN, SUM = 0, 1, 2
u = UNSPECIFIED


@pytest.mark.parametrize(
    ("op", "operands", "options", "expected"),
    [
        ("soft_margin_loss", {"self": [0.0, 2.0, inf, -inf, inf], "target": [1.0, 0.0, 1.0, 1.0, 0.0]}, {},
         [math.log(2), math.log(2), 0.0, inf, nan]),
        ("hinge_embedding_loss", {"self": [3.0, 0.25, 3.0, inf, 1.0], "target": [1.0, -1.0, -1.0, -1.0, 0.0]}, {},
         [3.0, 0.75, 0.0, 0.0, u]),
        ("margin_ranking_loss", {"input1": [1.0, 1.0, nan], "input2": [3.0, 3.0, 1.0], "target": [1.0, -1.0, 1.0]},
         {"margin": 0.5}, [2.5, 0.0, nan]),
        ("poisson_nll_loss", {"input": [0.0, 0.0, nan, inf], "target": [3.0, 0.5, 1.0, 1.0]},
         {"log_input": True, "full": False, "eps": 1e-8}, [1.0, 1.0, nan, u]),
        ("poisson_nll_loss", {"input": [0.5, -0.5, 0.75, -1.0], "target": [3.0, 3.0, 0.0, 1.0]},
         {"log_input": False, "full": False, "eps": 0.5}, [0.5, inf, 0.75, nan]),
    ],
)  # fmt: skip
def test_elements(op: str, operands: dict, options: dict, expected: list) -> None:
    own = {name: tensor("float64", values) for name, values in operands.items()}
    same(call(op, **own, **options, reduction=NONE), "float64", expected)
    finite = {name: tensor("float64", values[:2]) for name, values in operands.items()}
    same(call(op, **finite, **options, reduction=SUM), "float64", sum(expected[:2]))


def test_poisson_with_stirling_s_formula() -> None:
    out = call(
        "poisson_nll_loss", input=tensor("float64", [1.5, 1.5]), target=tensor("float64", [3.0, 1.0]), log_input=True,
        full=True, eps=0.0, reduction=NONE,
    )  # fmt: skip
    with mpmath.workprec(200):
        plain = [mpmath.exp(1.5) - y * mpmath.mpf(1.5) for y in (3, 1)]
        stirling = 3 * mpmath.log(3) - 3 + mpmath.log(2 * mpmath.pi * 3) / 2
        assert out.data == [rounded_mpf("float64", plain[0] + stirling), rounded_mpf("float64", plain[1])]


def test_nll_loss2d() -> None:
    x = tensor("float32", [[[[1.0, 2.0]], [[3.0, 5.0]]]])
    arguments = {"self": x, "target": tensor("int64", [[[1, 0]]]), "weight": tensor("float32", [2.0, 4.0])}
    out, total = call("nll_loss2d_forward", **arguments, reduction=MEAN, ignore_index=-100)
    same(out, "float32", -2.6666667461395264)  # -(4 * 3 + 2 * 2) / 6
    same(total, "float32", 6.0)
    out, total = call("nll_loss2d_forward", **arguments, reduction=NONE, ignore_index=0)
    same(out, "float32", [[[-12.0, 0.0]]])
    same(total, "float32", u)


def test_multi_margin() -> None:
    x, target = tensor("float32", [[1.0, 0.5, 3.0], [nan, 0.0, 0.0]]), tensor("int64", [0, 1])
    same(call("multi_margin_loss", self=x, target=target, reduction=NONE), "float32", [1.1666666269302368, u])
    first = {"self": tensor("float32", [1.0, 0.5, 2.5]), "target": tensor("int64", [0])}
    same(call("multi_margin_loss", **first, p=2, margin=2, reduction=SUM), "float32", 4.833333492279053)
    weight = tensor("float32", [2.0, 1.0, 1.0])
    same(call("multi_margin_loss", **first, weight=weight, reduction=SUM), "float32", 2.0)
    same(call("multi_margin_loss", **first, weight=weight, p=2, reduction=SUM), "float32", u)


def test_multilabel_margin() -> None:
    """Targets 2 and 0; the others 1: 1 - 4 + 3.5 and 1 - 2 + 3.5, over 3."""
    x, target = tensor("float64", [2.0, 3.5, 4.0]), tensor("int64", [2, 0, -1])
    same(call("multilabel_margin_loss", self=x, target=target), "float64", 1.0)


@pytest.mark.parametrize(
    ("x1", "x2", "options", "expected"),
    [
        ([[3.0, 4.0]], [[4.0, 3.0]], {}, [0.96]),
        ([[1.0, 1.0]], [[1.0, 0.0]], {}, [0.7071067811865476]),
        ([[1.0, -1.0]], [[1.0, 1.0]], {}, [0.0]),
        ([[0.0, 0.5]], [[0.0, 2.0]], {"eps": 1.0}, [0.5]),
        ([[0.0]], [[0.0]], {"eps": 0.0}, [u]),
        ([[nan]], [[0.0]], {}, [nan]),
        ([[inf]], [[1.0]], {}, [u]),
        ([1.0, 1.0], [[-1.0], [2.0]], {"dim": 0}, [0.31622776601683794, 0.31622776601683794]),
    ],
)
def test_cosine_similarity(x1: list, x2: list, options: dict, expected: list) -> None:
    out = call("cosine_similarity", x1=tensor("float64", x1), x2=tensor("float64", x2), **options)
    same(out, "float64", expected)


@pytest.mark.parametrize(
    ("p", "expected"), [(2.0, [5.0, inf, nan]), (1.0, [7.0, inf, nan]), (inf, [4.0, inf, nan]), (0.0, [2.0, 1.0, 1.0])]
)
def test_pairwise_distance(p: float, expected: list) -> None:
    x1 = tensor("float32", [[3.0, 0.0], [inf, 1.0], [inf, 1.0]])
    x2 = tensor("float32", [[1.0, 5.0], [1.0, 2.0], [inf, 2.0]])
    same(call("pairwise_distance", x1=x1, x2=x2, p=p, eps=1.0), "float32", expected)


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("soft_margin_loss", {"self": tensor("int64", [1]), "target": tensor("int64", [1])}),
        ("multi_margin_loss", {"self": tensor("float32", [1.0]), "target": tensor("int64", [1])}),
        ("multi_margin_loss", {"self": tensor("float32", [1.0]), "target": tensor("int64", [0]), "p": 3}),
        ("multilabel_margin_loss", {"self": tensor("float32", [1.0]), "target": tensor("int64", [1])}),
        ("cosine_similarity", {"x1": tensor("float32", [1.0]), "x2": tensor("float32", [1.0])}),
        ("pairwise_distance", {"x1": tensor("int64", [1]), "x2": tensor("int64", [1])}),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)


def test_other_names_of_attention() -> None:
    """Of one key its value; nothing is documented of the other results."""
    q = tensor("float32", [[[[1.0, 2.0]]]])
    out, sums = call("_scaled_dot_product_flash_attention_for_cpu", query=q, key=q, value=q)
    same(out, "float32", [[[[1.0, 2.0]]]])
    assert sums is u
    out, weights = call("_scaled_dot_product_attention_math", query=q, key=q, value=q)
    same(out, "float32", [[[[1.0, 2.0]]]])
    assert weights is u


def test_attention_by_kernels_of_devices() -> None:
    """Of one key its value, with whatever bias; of two, the one that is not masked by -inf."""
    q = tensor("float32", [[[[1.0, 2.0]]]])
    for op, rest, count in (
        ("flash_attention", {}, 9),
        ("efficient_attention", {"attn_bias": None, "compute_log_sumexp": True}, 4),
        ("cudnn_attention", {"attn_bias": None, "compute_log_sumexp": False}, 9),
        ("fused_attention_overrideable", {"attn_bias": tensor("float32", [[[[9.0]]]])}, 9),
    ):
        out, *others = call(f"_scaled_dot_product_{op}", query=q, key=q, value=q, **rest)
        same(out, "float32", [[[[1.0, 2.0]]]])
        assert others == [u] * (count - 1)
    two = tensor("float32", [[[[5.0, 6.0], [7.0, 8.0]]]])
    bias = tensor("float32", [[[[-inf, 0.0]]]])
    given = {"query": q, "key": two, "value": two, "attn_bias": bias, "compute_log_sumexp": False}
    same(call("_scaled_dot_product_efficient_attention", **given)[0], "float32", [[[[7.0, 8.0]]]])
    with pytest.raises(ValueError, match="efficient attention"):
        call("_scaled_dot_product_efficient_attention", **{**given, "value": q})
