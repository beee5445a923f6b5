"""Random tensors: what honest draws pass and other ones fail (P101)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from conform.interp.formulas import chance
from conform.interp.golden import Given

RANDOM = np.random.default_rng(0)


def given(op: str, *outputs: np.ndarray, **arguments: Any) -> Given:
    return evaluate(op, (), arguments).given(outputs)


def is_right(op: str, *outputs: np.ndarray, **arguments: Any) -> bool:
    """Whether an output is what it should be, element by element and as a whole."""
    found = given(op, *outputs, **arguments)
    pairs = zip(found.goldens, outputs, strict=True)
    return found.fault is None and all(np.array_equal(golden.value, output) for golden, output in pairs)


def uniform(n: int = 1000) -> np.ndarray:
    return RANDOM.random(n, np.float32)


def test_rand() -> None:
    assert is_right("aten::rand", uniform(), size=[1000])
    assert is_right("aten::rand", np.floor(uniform() * 2**11).astype(np.float16) / np.float16(2**11), size=[1000],
                    dtype="float16")  # fmt: skip
    for wrong in (uniform() * 2 - 1, uniform() ** 2, np.full(1000, 0.5, np.float32), 1 - np.float32(0) * uniform()):
        assert not is_right("aten::rand", wrong, size=[1000])


def test_an_element_out_of_range_is_told_by_its_place() -> None:
    numbers = uniform()
    numbers[7] = 1.0
    (golden,) = given("aten::rand", numbers, size=[1000]).goldens
    assert np.flatnonzero(golden.value != numbers).tolist() == [7]


def test_randn() -> None:
    numbers = RANDOM.standard_normal(1000)
    assert is_right("aten::randn", numbers, size=[1000], dtype="float64")
    for wrong in (numbers + 0.5, numbers * 2, np.abs(numbers), np.full(1000, 0.1)):
        assert not is_right("aten::randn", wrong, size=[1000], dtype="float64")
    parts = (RANDOM.standard_normal((2, 4000)) * np.sqrt(0.5)).astype(np.float32)
    assert is_right("aten::randn", parts[0] + 1j * parts[1], size=[4000], dtype="complex64")
    assert not is_right("aten::randn", (parts[0] + 1j * parts[1]) * np.float32(1.42), size=[4000], dtype="complex64")


def test_randperm() -> None:
    assert is_right("aten::randperm", RANDOM.permutation(100), n=100)
    assert is_right("aten::randperm", np.array([0]), n=1)
    for wrong in (np.arange(100), np.arange(100)[::-1], np.roll(np.arange(100), 9), RANDOM.integers(0, 100, 100)):
        assert not is_right("aten::randperm", wrong, n=100)
    (golden,) = given("aten::randperm", np.array([1, 1, 5]), n=3).goldens
    assert golden.value.tolist() == [1, 0, 2]  # the second 1 and the 5 are wrong


DATA = np.linspace(-2, 2, 1000, dtype=np.float32)


def dropped(keeping: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    mask = RANDOM.random(1000) < keeping
    return np.where(mask, DATA * np.float32(scale), np.float32(0)), mask


def faults(outputs: tuple[np.ndarray, np.ndarray], p: float = 0.25) -> tuple[bool, str | None]:
    """Whether an element is further off than its budget, and the fault of the mask."""
    found = given("aten::native_dropout", *outputs, input=DATA, p=p, train=True)
    golden = found.goldens[0]
    return bool((np.abs(outputs[0] - golden.value) > golden.budget + 1e-6).any()), found.fault


def test_dropout() -> None:
    assert faults(dropped(0.75, 1 / 0.75)) == (False, None)
    assert faults(dropped(0.75, 1.0)) == (True, None)  # the scale forgotten
    off, fault = faults(dropped(0.25, 1 / 0.75))  # kept with probability p
    assert not off
    assert fault is not None
    result, mask = dropped(0.75, 1 / 0.75)
    assert faults((result, ~mask))[0]


def test_dropout_that_drops_nothing_or_all() -> None:
    ones = np.ones(3, np.float32)
    for p, train, kept in ((0.0, True, True), (0.5, False, True), (1.0, None, False)):
        first, mask = evaluate("aten::native_dropout", (ones, p, train), {}).goldens
        assert (first.value == ones).all() == kept
        assert (mask.value == kept).all()
        assert first.open is None


def test_what_is_dropped_of_an_infinity_is_open() -> None:
    data = np.array([np.inf, 1.0], np.float32)
    mask = np.array([False, True])
    found = given("aten::native_dropout", np.array([np.nan, 2.0], np.float32), mask, input=data, p=0.5, train=True)
    assert found.goldens[0].open.tolist() == [True, False]


@pytest.mark.parametrize("n", [0, 1, 2, 10, 1000])
def test_honest_draws_of_any_size_have_no_fault(n: int) -> None:
    for _ in range(20):
        assert chance.far_from(chance.uniform, RANDOM.random(n), 24) is None
        assert chance.too_regular(RANDOM.permutation(n)) is None
        assert chance.unlikely_share(int((RANDOM.random(n) < 0.3).sum()), n, 0.3) is None


def test_a_share_of_an_impossible_or_a_sure_event() -> None:
    assert chance.unlikely_share(0, 10, 0.0) is None
    assert chance.unlikely_share(1, 10, 0.0) is not None
    assert chance.unlikely_share(10, 10, 1.0) is None
