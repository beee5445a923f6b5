"""Which tensors take special values, and which of them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from conform.call.arguments import Arguments, tensors
from conform.domains.specs import spec_of
from conform.errors import UsageError
from conform.inputs.edges.rows import edge_rows
from conform.inputs.specials import special_values
from conform.inputs.ties import few_values
from conform.inputs.values import value_classes, with_values
from conform.numerics.draws import Stream

ADD, GATHER = spec_of("aten::add.Tensor"), spec_of("aten::gather")
DIV, FLOOR, REMAINDER = spec_of("aten::div.Tensor"), spec_of("aten::div.Tensor_mode"), spec_of("aten::remainder.Tensor")
MIN = -(2**31)


def stream(test_id: str = "t") -> Stream:
    return Stream(0, test_id, 0, "values")


def special(arguments: Arguments, value_class: str, spec: object = ADD, test_id: str = "t") -> list[np.ndarray]:
    return tensors(with_values(arguments, value_class, stream(test_id), spec))


def codes(values: np.ndarray) -> list[bytes]:
    return [value.tobytes() for value in values.reshape(-1)]


# --- Classes ----------------------------------------------------------------------------------------------------------

X, N, B = np.ones((2, 3), np.float32), np.ones((2, 3), np.int64), np.ones((2, 3), np.bool_)


@pytest.mark.parametrize(("op", "arguments", "numbers"), [
    ("aten::exp", Arguments([X]), [0]),
    ("aten::add", Arguments([X, N]), [0, 1]),
    ("aten::add", Arguments([X, B]), [0]),
    ("aten::add", Arguments([X, 2.0], {"alpha": 3}), [0]),
    ("aten::add", Arguments([X, X], literal=frozenset({0})), [1]),
    ("aten::add", Arguments([X, np.ones((0, 3))]), [0]),
    ("aten::add", Arguments([B, B]), []),
    ("aten::cat", Arguments([[X, X], 1]), [0, 1]),
    ("aten::where.self", Arguments([N, X, X]), [1, 2]),
    ("aten::gather", Arguments([X, 0, N]), [0]),
    ("aten::gather", Arguments([X, 0], {"index": N}), [0]),
    ("aten::index_put", Arguments([X, [None, N, N], X]), [0, 3]),
    ("aten::index_put", Arguments([X], {"values": X, "indices": [N, N]}), [0, 1]),
    ("aten::div", Arguments([X, X]), [0, 1]),
])  # fmt: skip
def test_one_class_for_each_eligible_tensor(op: str, arguments: Arguments, numbers: list[int]) -> None:
    expected = ["special", *(f"special.{number}" for number in numbers)] if numbers else []
    assert value_classes(arguments, spec_of(op)) == ["typical", *expected]


@pytest.mark.parametrize(("op", "arguments", "last"), [
    ("aten::sort", Arguments([X, 0]), ["ties", "ascending"]),
    ("aten::eq.Tensor", Arguments([N, X]), ["special.1", "ties"]),
    ("aten::sum", Arguments([X]), ["special.0", "conditioned", "exact"]),
    ("aten::sum", Arguments([N]), ["special", "special.0"]),
    ("aten::addmm", Arguments([X, X, X]), ["special.2", "conditioned", "exact", "one_hot"]),
    ("aten::addmm", Arguments([X, X, X], literal=frozenset({1})), ["special.0", "special.2"]),
    ("aten::sort", Arguments([B, 0]), ["typical"]),
])  # fmt: skip
def test_ops_that_compare_or_accumulate_have_a_class_more(op: str, arguments: Arguments, last: list[str]) -> None:
    assert value_classes(arguments, spec_of(op))[-len(last) :] == last


def test_an_op_without_a_spec_has_typical_values_only() -> None:
    assert value_classes(Arguments([X]), None) == ["typical"]


@pytest.mark.parametrize("value_class", ["special.1", "special.x", "extreme"])
def test_an_unknown_class_is_a_usage_error(value_class: str) -> None:
    with pytest.raises(UsageError, match=r"expected one of typical, special, special\.0"):
        with_values(Arguments([X]), value_class, stream(), ADD)


# --- Where the values go ----------------------------------------------------------------------------------------------


def test_typical_changes_nothing() -> None:
    arguments = Arguments([X, X])
    assert with_values(arguments, "typical", stream(), ADD) is arguments


@pytest.mark.parametrize("value_class", ["special", "special.0", "special.1"])
def test_the_old_arrays_are_left_alone(value_class: str) -> None:
    a, b = np.full((4, 5), 2.5, np.float32), np.full(5, 2.5, np.float32)
    new = special(Arguments([a, b]), value_class)
    assert (a == 2.5).all()
    assert (b == 2.5).all()
    assert [(x.shape, x.dtype) for x in new] == [((4, 5), np.float32), ((5,), np.float32)]


def test_special_fills_every_eligible_tensor() -> None:
    x, index = np.full((4, 5), 2.25, np.float32), np.zeros((4, 5), np.int64)
    values, kept = special(Arguments([x, 0, index]), "special", GATHER)
    assert set(codes(values)) <= set(codes(special_values("float32")))
    assert kept is index


def test_special_k_replaces_one_element_in_six_of_tensor_k() -> None:
    a, b = np.full(60, 2.25, np.float32), np.full((2, 1), 2.25, np.float32)
    kept, one = special(Arguments([a, b]), "special.1")
    assert kept is a
    assert (one != 2.25).sum() == 1
    ten, _ = special(Arguments([a, b]), "special.0")
    assert (ten != 2.25).sum() == 10
    assert set(codes(ten[ten != 2.25])) <= set(codes(special_values("float32")))


def test_a_tensor_as_long_as_the_list_meets_every_value() -> None:
    count = 2 * len(special_values("float16"))
    (values,) = special(Arguments([np.zeros(count, np.float16)]), "special")
    assert set(codes(values)) == set(codes(special_values("float16")))


def test_equal_shapes_meet_every_pair() -> None:
    domain = special_values("int8").tolist()
    x = np.zeros(2 * len(domain) ** 2, np.int8)
    a, b = special(Arguments([x, x]), "special")
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == set(itertools.product(domain, repeat=2))


def test_a_small_test_meets_the_worst_values() -> None:
    (values,) = special(Arguments([np.zeros(24, np.float32)]), "special")
    assert np.isnan(values).any()
    assert {math.inf, -math.inf, 0.0, 2.0**-149} <= set(values.tolist())


def test_small_tests_together_meet_every_value() -> None:
    """40 tests of 24 elements, 12 from the whole list: a value is missed with probability (1 - 12/146)^40 = 3 %."""
    x, cat = Arguments([[np.zeros(24, np.float32)]]), spec_of("aten::cat")
    met = set().union(*(codes(special(x, "special", cat, f"t{number}")[0]) for number in range(40)))
    assert len(met) > 0.9 * len(special_values("float32"))


def test_a_quarter_of_them_are_edges_of_the_op() -> None:
    exp = spec_of("aten::exp")
    edges = edge_rows("aten::exp", "float32")[:, 0]
    values, without = (special(Arguments([np.zeros(60, np.float32)]), "special", spec)[0] for spec in (exp, GATHER))
    assert values[:45].tobytes() == without[:45].tobytes()
    assert set(codes(values[45:])) == set(codes(edges))


def test_operands_of_one_shape_meet_edges_as_pairs() -> None:
    x = np.zeros(80, np.float32)
    a, b = special(Arguments([x, x]), "special")
    pairs = edge_rows("aten::add", "float32")
    assert {(p.tobytes(), q.tobytes()) for p, q in pairs} == set(zip(codes(a[60:]), codes(b[60:]), strict=True))


def test_operands_that_broadcast_meet_edges_as_pairs_too() -> None:
    a, b = special(Arguments([np.zeros((4, 8), np.float32), np.zeros(8, np.float32)]), "special")
    pairs = {(p.tobytes(), q.tobytes()) for p, q in edge_rows("aten::add", "float32")}
    assert {(a[3, at].tobytes(), b[at].tobytes()) for at in (6, 7)} <= pairs


def test_a_sixth_of_one_operand_ends_with_edges() -> None:
    (values,) = special(Arguments([np.full(600, 2.25, np.float32)]), "special.0", spec_of("aten::exp"))
    assert set(codes(edge_rows("aten::exp", "float32"))) <= set(codes(values))
    assert (values != 2.25).sum() == 100


def test_keyword_arguments_move_the_edges() -> None:
    x, round_decimals = np.zeros(400, np.float32), spec_of("aten::round.decimals")
    values = special(Arguments([x], {"decimals": -1}), "special", round_decimals)[0].tolist()
    assert {5.0, 15.0, 75.0} <= set(values)


# --- Ties and sums ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("aten::softplus", {"beta": 2j}),
        ("aten::softplus", {"threshold": math.nan}),
        ("aten::softplus", {"beta": math.inf}),
        ("aten::round.decimals", {"decimals": 2**40}),
        ("aten::round.decimals", {"decimals": -(2**40)}),
    ],
)
def test_any_keyword_argument_has_special_values_beside_it(op: str, arguments: dict) -> None:
    """Those too that the op must refuse."""
    call = Arguments([np.zeros(40, np.float32)], arguments)
    (new,) = with_values(call, "special", Stream(0, "t", 0, "v"), spec_of(op)).args
    assert np.isnan(new).any()


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_ties_are_many(dtype: type) -> None:
    (values,) = special(Arguments([np.full((4, 50), 7, dtype), 1]), "ties", spec_of("aten::sort"))
    assert values.dtype == dtype
    assert set(codes(values)) == set(codes(few_values(values.dtype.name)))


def test_ties_and_sums_of_0_d_tensors() -> None:
    (value,) = special(Arguments([np.array(7.0)]), "ties", spec_of("aten::amax"))
    (summand,) = special(Arguments([np.array(7.0)]), "conditioned", spec_of("aten::sum"))
    assert (type(value), value.shape, value.dtype) == (np.ndarray, (), np.float64)
    assert (type(summand), summand.shape, summand.dtype) == (np.ndarray, (), np.float64)


def condition(summands: np.ndarray) -> float:
    """Of a sum: sum |x| / |sum x|."""
    exact = [Fraction(float(x)) for x in summands.reshape(-1)]
    return float(sum(map(abs, exact)) / max(abs(sum(exact)), Fraction(1, 10**30)))


def test_sums_are_badly_conditioned_along_every_dim() -> None:
    x = np.zeros((16, 16), np.float32)
    made = [special(Arguments([x]), "conditioned", spec_of("aten::sum"), f"t{number}")[0] for number in range(20)]
    assert len({value.tobytes() for value in made}) == 20
    for line in (made_one.take(3, axis) for made_one in made for axis in (0, 1)):
        stagnates = np.sort(np.abs(line))[-2] < 2.0**-24 < np.abs(line).max() == 1
        assert stagnates or condition(line) > 10
    assert max(condition(values[0]) for values in made) > 1000


def test_products_are_badly_conditioned() -> None:
    """The summands keep their pattern, since the factors are about 1."""
    x = np.zeros((16, 16), np.float64)
    for number in range(5):
        addend, a, b = special(Arguments([x, x, x]), "conditioned", spec_of("aten::addmm"), f"t{number}")
        assert ((b >= 1) & (b < 1 + 2.0**-25)).all()
        assert ((addend >= 1) & (addend < 1 + 2.0**-25)).all()
        assert len(set(np.abs(a[0]).tolist())) > 8
        assert {x.shape for x in (addend, a, b)} == {(16, 16)}


def test_normalised_numbers_are_far_from_zero() -> None:
    (x,) = special(Arguments([np.zeros((4, 64), np.float32), -1, False]), "conditioned", spec_of("aten::_softmax"))
    assert set(x.reshape(-1).tolist()) == {2.0**22 + step / 2 for step in range(8)}


def test_broadcast_operands_meet_many_pairs() -> None:
    a, b = special(Arguments([np.zeros((8, 1), np.float32), np.zeros(9, np.float32)]), "special")
    pairs = {(x.tobytes(), y.tobytes()) for x in a.reshape(-1) for y in b}
    assert len(pairs) >= 0.8 * 72


def test_five_operands_at_once() -> None:
    x = np.zeros(30, np.float32)
    values = special(Arguments([[x] * 5]), "special", spec_of("aten::cat"))
    assert all(len(set(codes(value))) > 12 for value in values)


def test_the_same_stream_gives_the_same_values_and_another_one_others() -> None:
    x = Arguments([np.zeros(24, np.float32)])
    first, again, other = (special(x, "special", test_id=test_id)[0].tobytes() for test_id in ("t", "t", "u"))
    assert first == again != other


# --- Integer division: no zero divisors (P11), no smallest integer by -1 (P12) ----------------------------------------


def quotients(arguments: Arguments, value_class: str, spec: object) -> set[tuple[int, int]]:
    """The pairs of dividend and divisor that 50 tests meet."""
    pairs = set()
    for number in range(50):
        new = with_values(arguments, value_class, stream(f"t{number}"), spec)
        dividend, divisor = np.broadcast_arrays(*new.args[:2])
        pairs |= set(zip(dividend.reshape(-1).tolist(), divisor.reshape(-1).tolist(), strict=True))
    return pairs


def ints(*values: int) -> np.ndarray:
    return np.array(values * (72 // len(values)), np.int32)


@pytest.mark.parametrize("spec", [FLOOR, REMAINDER])
@pytest.mark.parametrize("value_class", ["special", "special.0", "special.1"])
@pytest.mark.parametrize(("dividend", "divisor"), [
    (ints(5, -7, MIN), ints(3, 5, 2)),
    (ints(5, 6, -8), ints(3, -1, 2)),
    (ints(5, 6, -8), np.array(-1, np.int32)),
    (ints(5, 6, -8), ints(3, 5, 2)),
])  # fmt: skip
def test_forbidden_quotients_never_arise(
    spec: object, value_class: str, dividend: np.ndarray, divisor: np.ndarray
) -> None:
    pairs = quotients(Arguments([dividend, divisor]), value_class, spec)
    assert not any(d == 0 or (n, d) == (MIN, -1) for n, d in pairs)


def test_what_is_not_forbidden_does_arise() -> None:
    assert any(n == MIN for n, _ in quotients(Arguments([ints(5), ints(3)]), "special.0", FLOOR))
    assert any(d == -1 for _, d in quotients(Arguments([ints(5), ints(3)]), "special.1", FLOOR))
    assert any(d == -1 for _, d in quotients(Arguments([ints(5), ints(3)]), "special", FLOOR))
    assert any(n == MIN for n, _ in quotients(Arguments([ints(5), 3]), "special.0", FLOOR))


@pytest.mark.parametrize(("arguments", "spec"), [
    (Arguments([ints(5), ints(3)]), DIV),
    (Arguments([ints(5).astype(np.float32), ints(3)]), FLOOR),
    (Arguments([ints(5).astype(np.float32), ints(3).astype(np.float32)]), REMAINDER),
])  # fmt: skip
def test_a_division_of_floats_takes_zero_divisors(arguments: Arguments, spec: object) -> None:
    assert any(d == 0 for _, d in quotients(arguments, "special.1", spec))


@pytest.mark.parametrize(("scalar", "has_smallest"), [(-1, False), (3, True), (-1.0, True)])
def test_a_python_divisor_counts(scalar: float, has_smallest: bool) -> None:
    pairs = quotients(Arguments([ints(5), scalar]), "special.0", spec_of("aten::remainder.Scalar"))
    assert any(n == MIN for n, _ in pairs) == has_smallest


def test_a_python_dividend_counts() -> None:
    scalar_tensor = spec_of("aten::remainder.Scalar_Tensor")
    by_7, by_smallest = (
        {divisor for _, divisor in quotients(Arguments([scalar, ints(5)]), "special.0", scalar_tensor)}
        for scalar in (7, MIN)
    )
    assert 0 not in by_7 | by_smallest
    assert -1 in by_7
    assert -1 not in by_smallest


def test_the_last_of_every_line_is_the_largest() -> None:
    (values,) = special(Arguments([np.zeros((2, 3, 4), np.float32), 1]), "ascending", spec_of("aten::sort"))
    assert values[1].tolist() == [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]
    (bytes_,) = special(Arguments([np.zeros(300, np.int8), 0]), "ascending", spec_of("aten::sort"))
    assert bytes_[125:130].tolist() == [125, 126, 127, 127, 127]
