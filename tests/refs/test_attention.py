"""scaled_dot_product_attention: rational values by hand, masks and special values, the irrational ones by mpmath."""

import math
import random

import mpmath
import pytest

from conform.refs import UNSPECIFIED, RefTensor
from conform.refs.exact.rounding import round_number
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan = math.inf, math.nan
OP = "scaled_dot_product_attention"
Q = tensor("float64", [[1.0, 0.0], [0.0, 1.0]])
K = tensor("float64", [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]])  # all scores of a query are equal
V = tensor("float64", [[1.0], [2.0], [6.0]])
INFINITE_KEY = tensor("float64", [[2.0, 2.0], [-inf, 2.0], [2.0, 2.0]])


def test_equal_scores_give_the_mean() -> None:
    same(call(OP, query=Q, key=K, value=V), "float64", [[3.0], [3.0]])
    same(call(OP, query=Q, key=K, value=V, is_causal=True), "float64", [[1.0], [1.5]])
    mask = tensor("bool", [[True, True, False], [False, True, True]])
    same(call(OP, query=Q, key=K, value=V, attn_mask=mask), "float64", [[1.5], [4.0]])
    added = tensor("float64", [0.0, -inf, 0.0])
    same(call(OP, query=Q, key=K, value=V, attn_mask=added), "float64", [[3.5], [3.5]])
    far = tensor("float64", [0.0, -5000.0, 0.0])
    same(call(OP, query=Q, key=K, value=V, attn_mask=far), "float64", [[3.5], [3.5]])


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (0.0, 0.5),
        (1.0, 0.73105857863000487926),  # e / (1 + e)
        (-1.0, 0.26894142136999512075),
        (None, 0.73105857863000487926),
        (1e300, 1.0),
        (inf, nan),
        (nan, nan),
    ],
)
def test_scale(scale: float | None, expected: float) -> None:
    arguments = {"query": tensor("float64", [[1.0]]), "value": tensor("float64", [[1.0], [0.0]])}
    same(call(OP, key=tensor("float64", [[1.0], [0.0]]), scale=scale, **arguments), "float64", [[expected]])


def test_heads_and_batches() -> None:
    query = RefTensor("float16", (2, 4, 1, 1), [1.0] * 8)
    key = RefTensor("float16", (1, 2, 1, 1), [1.0] * 2)
    value = RefTensor("float16", (1, 2, 1, 1), [5.0, 7.0])
    result = call(OP, query=query, key=key, value=value, enable_gqa=True)
    same(result, "float16", [[[[5.0]], [[5.0]], [[7.0]], [[7.0]]]] * 2)
    pair = RefTensor("float16", (1, 2, 1, 1), [1.0] * 2)
    same(call(OP, query=pair, key=pair, value=RefTensor("float16", (1, 1), [3.0])), "float16", [[[[3.0]], [[3.0]]]])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"attn_mask": tensor("bool", [False, False, False])}, [UNSPECIFIED] * 2),
        ({"value": tensor("float64", [[1.0], [inf], [6.0]])}, [UNSPECIFIED] * 2),
        ({"value": tensor("float64", [[1.0], [nan], [6.0]])}, [nan] * 2),
        ({"value": tensor("float64", [[1.0], [nan], [6.0]]), "is_causal": True}, [UNSPECIFIED, nan]),
        ({"query": tensor("float64", [[nan, 0.0], [0.0, 1.0]])}, [nan, 3.0]),
        ({"query": tensor("float64", [[inf, 0.0], [0.0, 1.0]])}, [nan, 3.0]),
        ({"key": INFINITE_KEY}, [3.5, nan]),  # 0 * -inf is NaN
        (
            {"key": INFINITE_KEY, "attn_mask": tensor("float64", [nan])},
            [nan] * 2,
        ),
        ({"key": INFINITE_KEY, "attn_mask": tensor("bool", [True, False, True])}, [UNSPECIFIED] * 2),
        ({"attn_mask": tensor("float64", [0.0, inf, 0.0])}, [nan] * 2),
    ],
)
def test_special(arguments: dict, expected: list) -> None:
    result = call(OP, **{"query": Q, "key": K, "value": V, **arguments})
    same(result, "float64", [[x] for x in expected])


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": tensor("float32", [[1.0, 0.0]])},
        {"query": tensor("float64", [1.0, 0.0])},
        {"query": tensor("float64", [[1.0]])},
        {"value": tensor("float64", [[1.0], [2.0]])},
        {"attn_mask": tensor("bool", [True] * 3), "is_causal": True},
        {"attn_mask": tensor("int64", [1] * 3)},
        {"attn_mask": tensor("bool", [True] * 2)},
        {"enable_gqa": True},
    ],
)
def test_refused(arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(OP, **{"query": Q, "key": K, "value": V, **arguments})
    integers = tensor("int64", [[1]])
    with pytest.raises(ValueError, match="one float dtype"):
        call(OP, query=integers, key=integers, value=integers)
    with pytest.raises(NotImplementedError, match="dropout"):
        call(OP, query=Q, key=K, value=V, dropout_p=0.5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 3, 4])
def test_agrees_with_mpmath(dtype: str, size: int) -> None:
    draw = random.Random(size)
    query, keys, values = (
        [[round_number(dtype, draw.gauss(0, 2)) for _ in range(size)] for _ in range(count)] for count in (1, 5, 5)
    )
    mask = [round_number(dtype, draw.gauss(0, 2)) for _ in range(5)]
    operands = {"query": query, "key": keys, "value": values, "attn_mask": mask}
    result = call(OP, **{name: tensor(dtype, nested) for name, nested in operands.items()})
    with mpmath.workprec(300):
        scores = [mpmath.fdot(query[0], key) / mpmath.sqrt(size) + added for key, added in zip(keys, mask, strict=True)]
        powers = list(map(mpmath.exp, scores))
        columns = [mpmath.fdot(powers, column) / mpmath.fsum(powers) for column in zip(*values, strict=True)]
        same(result, dtype, [[rounded_mpf(dtype, column) for column in columns]])


@pytest.mark.parametrize(("third", "expected"), [(5.0, 1.0 + 2**-52), (-5.0, 1.0)])
def test_a_mean_beside_a_tie_is_decided_by_the_next_score(third: float, expected: float) -> None:
    """Of 1 and the next number, to equal weights, the tie; what is added has e^-200000 of them."""
    key, value = tensor("float64", [[1e5], [1e5], [-1e5]]), tensor("float64", [[1.0], [1.0 + 2**-52], [third]])
    query = tensor("float64", [[1.0]])
    same(call("scaled_dot_product_attention", query=query, key=key, value=value), "float64", [[expected]])
