"""What may come out of a case, as the first and the last number."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.errors import Unjudged
from conform.export.allowed import Allowed, allowed, numbered, ordered
from conform.interp.evaluate import evaluate_call
from conform.numerics.formats import FORMATS

F32 = np.float32


def of(op: str, *args: Any, contract: str = "opencl") -> Allowed:
    call = bound_call(op, args, {})
    golden = evaluate_call(call).goldens[-1]
    return allowed(golden, contract_table(contract).row(op, golden.format.name), dict(call.arguments))


def test_three_ulps_of_an_exponential() -> None:
    """e is 0x402df854 and a third of an ulp less."""
    found = of("aten::exp", np.array([1], F32))
    assert [found.low.view(np.int32)[0] - 0x402DF854, found.high.view(np.int32)[0] - 0x402DF854] == [-2, 3]


def test_zeros_have_signs() -> None:
    found = of("aten::floor", np.array([0.5, -0.0], F32))
    assert [str(one) for one in (*found.low, *found.high)] == ["0.0", "-0.0", "0.0", "-0.0"]


def test_nan_infinity_and_what_is_free() -> None:
    found = of("aten::exp", np.array([np.nan, np.inf, 88.8], F32))
    assert found.nan.tolist() == [True, False, False]
    assert (found.low[1], found.high[1], found.high[2]) == (np.inf, np.inf, np.inf)
    assert 3.402e38 < found.low[2] < np.inf  # e^88.8 is beyond the largest number by less than 3 ulps
    assert not found.free.any()
    assert of("aten::fmod.Tensor", np.array([np.inf], F32), np.array([1], F32)).nan.tolist() == [True]
    product = of("aten::mm", np.array([[1e38, -1e38]], F32), np.array([[1e38], [1e38]], F32))
    assert product.free.tolist() == [[True]]  # partial sums overflow in one order, in another they do not


def test_integers_are_themselves() -> None:
    found = of("aten::add.Tensor", np.array([127], np.int8), np.array([1], np.int8))
    assert (found.low.tolist(), found.high.tolist()) == ([-128], [-128])


@pytest.mark.parametrize(
    ("op", "args", "why"),
    [
        ("aten::exp", [np.ones(2, np.complex64)], "complex numbers are no range"),
        ("aten::sort", [np.ones(2, F32)], "what is right of one element hangs on others"),
        ("aten::add.Tensor", [np.array([2**24], np.int32), 0.3], None),
    ],
)
def test_what_is_no_range(op: str, args: list[Any], why: str | None) -> None:
    if why is None:
        assert of(op, *args).low.shape == (1,)
        return
    with pytest.raises(Unjudged, match=why):
        of(op, *args)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, ml_dtypes.float8_e5m2])
def test_the_order_of_numbers(dtype: Any) -> None:
    fmt = FORMATS[np.dtype(dtype).name]
    numbers = np.array([-np.inf, -1, -fmt.min_subnormal, -0.0, 0.0, fmt.min_subnormal, 1, np.inf]).astype(dtype)
    places = ordered(numbers, fmt)
    assert (np.diff(places) > 0).all()
    assert places[2:6].tolist() == [-2, -1, 0, 1]
    assert numbered(places, fmt).view(fmt.code_storage).tolist() == numbers.view(fmt.code_storage).tolist()


@pytest.mark.parametrize("contract", ["opencl", "torch", "cr", "stablehlo"])
@pytest.mark.parametrize("op", ["aten::exp", "aten::sin", "aten::gelu", "aten::sum"])
def test_the_judge_accepts_these_and_no_others(op: str, contract: str) -> None:
    """Both ends, and nothing beside them."""
    x = np.random.default_rng(5).standard_normal(40).astype(np.float16)
    call = bound_call(op, [x], {})
    (golden,) = evaluate_call(call).goldens
    row = contract_table(contract).row(op, "float16")
    found, fmt = allowed(golden, row, dict(call.arguments)), FORMATS["float16"]

    def accepted(places: np.ndarray) -> np.ndarray:
        actual = numbered(places, fmt).reshape(golden.value.shape)
        return judge(golden, actual, row, dict(call.arguments)).ok.reshape(-1)

    low, high = (ordered(one.reshape(-1), fmt) for one in (found.low, found.high))
    judged = ~found.free.reshape(-1)
    assert accepted(low)[judged].all()
    assert accepted(high)[judged].all()
    assert not accepted(low - 1)[judged].any()
    assert not accepted(high + 1)[judged].any()
