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
        place = RANDOM.random(n)
        assert chance.unlikely(chance.Places(place, place, 2.0**-24)) is None
        assert chance.too_regular(RANDOM.permutation(n)) is None
        assert chance.unlikely_share(int((RANDOM.random(n) < 0.3).sum()), n, 0.3) is None


def test_a_share_of_an_impossible_or_a_sure_event() -> None:
    assert chance.unlikely_share(0, 10, 0.0) is None
    assert chance.unlikely_share(1, 10, 0.0) is not None
    assert chance.unlikely_share(10, 10, 1.0) is None


# --- Distributions by their places ------------------------------------------------------------------------------------


def exact_places(numbers: np.ndarray) -> chance.Places:
    return chance.Places(numbers, numbers, 0.0)


@pytest.mark.parametrize(("wrong", "fault"), [
    (np.full(1000, 0.3), "all 1000 random numbers are alike"),
    (RANDOM.random(1000) ** 2, "the distribution of 1000 random numbers is"),
    (np.repeat(RANDOM.random(500), 2), "500 of 500 pairs of neighbours lie on the same side"),
    (np.stack([first := RANDOM.random(500), 1 - first], 1).reshape(-1), "500 of 500 pairs of neighbours lie on both"),
    (np.append(RANDOM.random(9900), np.repeat(RANDOM.random(50), 2)), "50 of 5000 pairs of neighbours are alike"),
])  # fmt: skip
def test_what_hardly_any_honest_draw_is_like(wrong: np.ndarray, fault: str) -> None:
    assert (chance.unlikely(exact_places(wrong)) or "").startswith(fault)


def test_the_probability_of_a_false_alarm_is_as_small_as_is_said() -> None:
    """Of Dvoretzky, Kiefer and Wolfowitz: the numbers at distance 2 e of their own are 2 exp(-2 n e^2) likely."""
    n = 10_000
    allowed = np.sqrt(np.log(2 / chance.FALSE_ALARM) / (2 * n))
    even = (np.arange(n) + 0.5) / n
    mixed = RANDOM.permutation(even)
    assert chance.unlikely(exact_places(mixed * (1 - 0.9 * allowed))) is None
    assert chance.unlikely(exact_places(mixed * (1 - 1.1 * allowed))) is not None


@pytest.mark.parametrize("sided", [2, 6])
def test_a_discrete_distribution_is_judged_by_both_sides_of_its_steps(sided: int) -> None:
    """A fair die has no distance from itself, though half of its draws may be equal."""
    dice = RANDOM.integers(0, sided, 10_000)
    assert chance.unlikely(chance.Places(dice / sided, (dice + 1) / sided, 0.0)) is None
    loaded = np.where(RANDOM.random(10_000) < 0.1, 0, dice)
    assert chance.unlikely(chance.Places(loaded / sided, (loaded + 1) / sided, 0.0)) is not None


FLOATS = np.zeros(4000, np.float32)
HALVES = np.zeros(4000, np.float16)


def draws(make: Any, dtype: Any = np.float32) -> np.ndarray:
    return np.asarray(make(np.random.default_rng(1)), np.float64).astype(dtype)


LAWS: dict[str, tuple[str, dict[str, Any], Any, list[Any]]] = {
    "uniform": ("aten::uniform", {"self": FLOATS, "from": -2.0, "to": 6.0}, lambda r: r.uniform(-2, 6, 4000), [
        lambda r: r.uniform(-2, 5, 4000), lambda r: r.normal(2, 8 / 12**0.5, 4000), lambda r: r.uniform(-2.01, 6, 4000),
    ]),
    "normal": ("aten::normal_functional", {"self": FLOATS, "mean": 5.0, "std": 0.5}, lambda r: r.normal(5, 0.5, 4000), [
        lambda r: r.normal(5, 0.5 * 2**0.5, 4000), lambda r: r.normal(5.1, 0.5, 4000),
        lambda r: r.uniform(5 - 0.75**0.5, 5 + 0.75**0.5, 4000),
    ]),
    "exponential": ("aten::exponential", {"self": FLOATS, "lambd": 4.0}, lambda r: r.exponential(0.25, 4000), [
        lambda r: r.exponential(4, 4000), lambda r: r.exponential(0.25, 4000) * (r.random(4000) > 0.01),
    ]),
    "log_normal": ("aten::log_normal", {"self": FLOATS, "mean": 1.0, "std": 2.0}, lambda r: r.lognormal(1, 2, 4000), [
        lambda r: r.lognormal(2, 1, 4000), lambda r: r.normal(1, 2, 4000),
    ]),
    "cauchy": ("aten::cauchy", {"self": FLOATS, "median": 1.0, "sigma": 2.0}, lambda r: 1 + 2 * r.standard_cauchy(4000),
               [lambda r: r.standard_cauchy(4000) + 1, lambda r: r.normal(1, 2, 4000)]),
    "geometric": ("aten::geometric", {"self": FLOATS, "p": 0.25}, lambda r: r.geometric(0.25, 4000), [
        lambda r: r.geometric(0.75, 4000), lambda r: r.geometric(0.25, 4000) - 1,
        lambda r: r.geometric(0.25, 4000) + 0.5,
    ]),
    "randint": ("aten::randint.low", {"low": -3, "high": 4, "size": [4000], "dtype": "float32"},
                lambda r: r.integers(-3, 4, 4000), [
        lambda r: r.integers(-3, 5, 4000), lambda r: r.integers(-3, 3, 4000), lambda r: np.full(4000, 2),
        lambda r: r.integers(-3, 4, 4000) + 0.5,
    ]),
    "bernoulli": ("aten::bernoulli.p", {"self": FLOATS, "p": 0.3}, lambda r: r.random(4000) < 0.3, [
        lambda r: r.random(4000) < 0.7, lambda r: np.full(4000, 0), lambda r: np.full(4000, 2),
        lambda r: np.repeat(r.random(2000) < 0.3, 2), lambda r: np.arange(4000) % 10 < 3,
    ]),
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_a_law_takes_its_own_draws_and_no_others(law: str) -> None:
    op, arguments, honest, wrong = LAWS[law]
    assert is_right(op, draws(honest), **arguments)
    for number, other in enumerate(wrong):
        assert not is_right(op, draws(other), **arguments), number


def test_draws_of_half_types_are_honest_though_their_grid_is_coarse() -> None:
    for law in ("uniform", "normal", "exponential", "log_normal", "cauchy", "geometric"):
        op, arguments, honest, _ = LAWS[law]
        assert is_right(op, draws(honest, np.float16), **{**arguments, "self": HALVES}), law


def test_no_exponential_is_zero_and_no_normal_number_is_infinite() -> None:
    zeros, infinities = draws(LAWS["exponential"][2]), draws(LAWS["normal"][2])
    zeros[5], infinities[6] = 0.0, np.inf
    found = given("aten::exponential", zeros, **LAWS["exponential"][1]).goldens[0].value
    assert np.flatnonzero(found != zeros).tolist() == [5]
    found = given("aten::normal_functional", infinities, **LAWS["normal"][1]).goldens[0].value
    assert np.flatnonzero(found != infinities).tolist() == [6]


def test_what_chance_has_no_part_in_is_determined() -> None:
    mean, std = np.array([1.5, np.inf, np.nan, 2.0], np.float32), np.array([0, 1, 1, 1], np.float32)
    (golden,) = evaluate("aten::normal.Tensor_Tensor", (mean, std), {}).goldens
    assert golden.value[:3].tolist()[:2] == [1.5, np.inf]
    assert np.isnan(golden.value[2])
    assert golden.open.tolist() == [False, False, False, True]
    (golden,) = evaluate("aten::bernoulli", (np.array([0.0, 0.5, 1.0]),), {}).goldens
    assert (golden.value[[0, 2]].tolist(), golden.open.tolist()) == ([0.0, 1.0], [False, True, False])
    (golden,) = evaluate("aten::randint.low", (), {"low": 7, "high": 8, "size": [2], "dtype": "int8"}).goldens
    assert (golden.value.tolist(), golden.open) == ([7, 7], None)
    (golden,) = evaluate("aten::uniform", (FLOATS[:2],), {"from": 3.0, "to": 3.0}).goldens
    assert (golden.value.tolist(), golden.open) == ([3.0, 3.0], None)


def test_integers_at_the_ends_of_int64() -> None:
    low, high = -(2**63), 2**63 - 1
    numbers = RANDOM.integers(low, high, 4000)
    arguments = {"low": low, "high": high, "size": [4000], "dtype": "int64"}
    assert is_right("aten::randint.low", numbers, **arguments)
    assert not is_right("aten::randint.low", numbers // 2, **arguments)
    near = {**arguments, "high": low + 10}
    assert is_right("aten::randint.low", low + RANDOM.integers(0, 10, 4000), **near)
    assert not is_right("aten::randint.low", low + RANDOM.integers(0, 11, 4000), **near)


def test_random_integers_without_ends_have_a_sign_or_none() -> None:
    """torch documents no more than that the dtype bounds them."""
    zeros = np.zeros(4000, np.int8)
    assert is_right("aten::random", RANDOM.integers(0, 128, 4000).astype(np.int8), self=zeros)
    assert is_right("aten::random", RANDOM.integers(-128, 128, 4000).astype(np.int8), self=zeros)
    assert not is_right("aten::random", RANDOM.integers(-64, 64, 4000).astype(np.int8), self=zeros)


def test_each_coin_has_its_own_probability() -> None:
    p = RANDOM.random(4000)
    heads = RANDOM.random(4000) < p
    assert is_right("aten::bernoulli", heads.astype(np.float64), self=p)
    assert not is_right("aten::bernoulli", (~heads).astype(np.float64), self=p)
    assert not is_right("aten::bernoulli", (RANDOM.random(4000) < 0.5).astype(np.float64), self=p)


WEIGHTS = np.tile(np.array([1.0, 0.0, 3.0, 4.0]), (2000, 1))


def rows(count: int, replace: bool) -> np.ndarray:
    share = WEIGHTS[0] / WEIGHTS[0].sum()
    return np.array([RANDOM.choice(4, count, replace, share) for _ in WEIGHTS])


def test_multinomial() -> None:
    assert is_right("aten::multinomial", rows(2, True), self=WEIGHTS, num_samples=2, replacement=True)
    assert is_right("aten::multinomial", rows(3, False), self=WEIGHTS, num_samples=3, replacement=False)
    even = RANDOM.choice([0, 2, 3], (2000, 2))
    assert not is_right("aten::multinomial", even, self=WEIGHTS, num_samples=2, replacement=True)
    assert not is_right("aten::multinomial", rows(2, False), self=WEIGHTS, num_samples=2, replacement=True)
    assert not is_right("aten::multinomial", np.sort(rows(3, False)), self=WEIGHTS, num_samples=3, replacement=False)


def test_a_place_that_was_drawn_or_has_no_weight_is_told() -> None:
    drawn = np.array([[2, 2, 3], [1, 2, 3], [4, 2, 3], [0, 3, -1]])
    found = given("aten::multinomial", drawn, self=WEIGHTS[:4], num_samples=3, replacement=False).goldens[0].value
    assert (found != drawn).tolist() == [
        [False, True, False], [True, False, False], [True, False, False], [False, False, True]
    ]  # fmt: skip


def test_a_row_of_too_few_weights_may_be_refused() -> None:
    outcome = evaluate("aten::multinomial", (np.array([0.0, 1.0]), 2), {"replacement": False})
    assert (outcome.refusal, outcome.goldens[0].open.all()) == ("P230", True)
