"""Recurrent cells and layers of a few units: expectations from the documented formulas, by hand or by mpmath."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import bf16, check, f16, f32, f64, goldens

X, H, C = f64([[1.0]]), f64([[2.0]]), f64([[3.0]])
W_IH, W_HH = f64([[0.5], [-0.25], [0.125], [1.0]]), f64([[0.25], [0.5], [-0.5], [0.125]])
B_IH, B_HH = f64([0.0, 0.5, 0.25, -0.25]), f64([0.125, 0.0, -0.5, 0.5])


def test_an_lstm_has_the_gates_i_f_g_o() -> None:
    """sigmoids of 1.125, 1.25 and 1.5, and the tanh of -1.125: 3 f + i g, and o times its tanh"""
    check("aten::lstm_cell", X, [H, C], W_IH, W_HH, B_IH, B_HH,
          gives=(f64([[0.7668659322557015]]), f64([[1.7209460767407385]])))  # fmt: skip


def test_a_gru_has_the_gates_r_z_n_of_which_r_multiplies_the_state_s_part() -> None:
    """(1 - z) tanh(0.375 - 1.5 r) + 2 z of the sigmoids of 1.125 and 1.25"""
    check("aten::gru_cell", X, H, W_IH[:3], W_HH[:3], B_IH[:3], B_HH[:3], gives=f64([[1.4121770395051239]]))


def test_plain_cells() -> None:
    check("aten::rnn_tanh_cell", X, H, W_IH[:1], W_HH[:1], B_IH[:1], B_HH[:1], gives=f64([[0.809301070201781]]))
    check("aten::rnn_relu_cell", X, H, W_IH[:1], W_HH[:1], B_IH[:1], B_HH[:1], gives=f64([[1.125]]))
    check("aten::rnn_relu_cell", X, H, W_IH[:1], -W_HH[:1], gives=f64([[0.0]]))


def test_a_state_is_a_row_of_units_and_each_row_of_the_batch_its_own() -> None:
    x, h = f32([[1.0, 0.0], [0.0, 1.0]]), f32([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    w_ih, w_hh = f32([[1, 2], [3, 4], [5, 6]]), f32([[10, 20, 30], [40, 50, 60], [70, 80, 90]])
    check("aten::rnn_relu_cell", x, h, w_ih, w_hh, gives=f32([[31, 63, 95], [12, 44, 76]]))


def test_without_weights_a_state_is_halved() -> None:
    """Every sigmoid is 1/2 and every tanh 0: exactly, so that ties are rounded to even."""
    x, h, none = f16([[0.0]]), f16([[2.0**-24, 3 * 2.0**-24]]), np.zeros((8, 1), np.float16)
    square = np.zeros((8, 2), np.float16)
    check("aten::gru_cell", x, h, none[:6], square[:6], gives=f16([[0.0, 2.0**-23]]))
    _, c = goldens("aten::lstm_cell", x, [h, h], none, square)
    assert c.value.tolist() == [[0.0, 2.0**-23]]


@pytest.mark.parametrize(
    ("size", "stored"),
    [(100.0, 1 + 2.0**-10), (1500.0, 1 + 2.0**-10), (2048.0, 1 + 2.0**-9), (-2048.0, 0.0)],
)
def test_saturated_gates_move_a_tie_until_they_are_their_limits(size: float, stored: float) -> None:
    """3 2^-11 + 1 is a tie of float16 whose even neighbour is above; each gate but a limit takes a little (P236)."""
    biases = f16([size, size, abs(size), 0.0])
    none = np.zeros((4, 1), np.float16)
    _, c = goldens("aten::lstm_cell", f16([[0.0]]), [f16([[0.0]]), f16([[3 * 2.0**-11]])], none, none, biases,
                   np.zeros(4, np.float16))  # fmt: skip
    assert c.value.tolist() == [[stored]]


def test_an_update_gate_near_1_keeps_what_cancellation_would_lose() -> None:
    """(1 - z) n of z = sigmoid(50) and a state of 0: e^-50 tanh(1), to all digits."""
    none = np.zeros((3, 1), np.float64)
    check("aten::gru_cell", X, f64([[0.0]]), none, none, f64([0.0, 50.0, 1.0]), f64([0.0, 0.0, 0.0]),
          gives=f64([[1.4689246125098898e-22]]))  # fmt: skip


def test_what_a_gate_next_to_1_leaves_of_large_terms() -> None:
    """n = tanh(r 1e300 - 1e300), where 1 - r is e^-500: half of a new state of -1."""
    none = np.zeros((3, 1), np.float64)
    check("aten::gru_cell", X, f64([[0.0]]), none, none, f64([500.0, 0.0, -1e300]), f64([0.0, 0.0, 1e300]),
          gives=f64([[-0.5]]))  # fmt: skip


def test_infinities_and_nan() -> None:
    """tanh of an infinity is 1; a gate of 0 times an infinite state is NaN, and one that may be 0 has no bound."""
    one = f32([[1.0]])
    check("aten::rnn_tanh_cell", f32([[inf], [-inf], [nan]]), f32([[0.0]] * 3), one, one, gives=f32([[1], [-1], [nan]]))
    check("aten::rnn_relu_cell", f32([[inf], [-inf], [nan]]), f32([[0.0]] * 3), one, one,
          gives=f32([[inf], [0], [nan]]))  # fmt: skip
    none = np.zeros((4, 1), np.float32)
    rows, states = f32([[0.0]] * 3), [f32([[0.0]] * 3), f32([[inf], [-inf], [nan]])]
    check("aten::lstm_cell", rows, states, none, none, gives=(f32([[0.5], [-0.5], [nan]]), states[1]))
    for forget, expected, is_bounded in ((-inf, nan, True), (-1000.0, inf, False), (-1.0, inf, True)):
        biases = f32([0.0, forget, 0.0, 0.0])
        _, c = goldens("aten::lstm_cell", one, [one, f32([[inf]])], none, none, biases, f32([0.0] * 4))
        assert np.array_equal(c.value, [[expected]], equal_nan=True)
        assert bool(np.isfinite(c.budget).all()) == is_bounded


def test_a_sum_beyond_the_range_is_a_limit_and_has_no_bound() -> None:
    """1e308 + 1e308 - 1e308: some order overflows."""
    x, w = f64([[1.0, 1.0]]), f64([[1e308, 1e308]])
    (golden,) = goldens("aten::rnn_tanh_cell", x, f64([[1.0]]), w, f64([[-1e308]]))
    assert golden.value.tolist() == [[1.0]]
    assert golden.budget.tolist() == [[inf]]


def test_cancelling_sums_are_exact() -> None:
    """2^60 + 2^-60 - 2^60 in a tanh."""
    (golden,) = goldens("aten::rnn_tanh_cell", f64([[2.0**60, 2.0**-60]]), f64([[2.0**60]]), f64([[1.0, 1.0]]),
                        f64([[-1.0]]))  # fmt: skip
    assert golden.value.tolist() == [[2.0**-60]]


def test_half_types_may_be_held_between_steps() -> None:
    """A bound of bfloat16 has room for each step's rounding, 2^-9 of its result (P235); float32 has none to spare."""
    row = [[0.25, 0.5, 1.0]]
    budgets = [goldens("aten::rnn_tanh_cell", kind(row), kind([[0.5]]), kind(row), kind([[1.0]]))[0].budget.item()
               for kind in (bf16, f32)]  # fmt: skip
    assert 2.0**-10 < budgets[0] < 2.0**-7
    assert 2.0**-25 < budgets[1] < 2.0**-20


@pytest.mark.parametrize(("batch", "inputs", "units"), [(0, 2, 3), (2, 0, 3), (2, 3, 0)])
def test_nothing_to_add_up_or_to_store(batch: int, inputs: int, units: int) -> None:
    def zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.float32)

    states = [zeros(batch, units), zeros(batch, units)]
    given = goldens("aten::lstm_cell", zeros(batch, inputs), states, zeros(4 * units, inputs), zeros(4 * units, units))
    assert [one.value.tolist() for one in given] == [zeros(batch, units).tolist()] * 2


def test_calls_of_cells() -> None:
    with pytest.raises(InvalidArguments, match="w_ih"):
        evaluate("aten::gru_cell", [X, H, W_IH, W_HH[:3]], {})
    with pytest.raises(Unjudged, match="both biases or none"):
        evaluate("aten::gru_cell", [X, H, W_IH[:3], W_HH[:3], B_IH[:3]], {})


# --- Layers -----------------------------------------------------------------------------------------------------------

ONE = f32([[1.0]])
STEPS = f32([[[1.0]], [[2.0]], [[3.0]]])


def layers(op: str, input: np.ndarray, hx: np.ndarray, params: list, count: int, *flags: bool) -> list:
    """The values of the results of layers without biases, in evaluation mode."""
    return [one.value.tolist() for one in goldens(op, input, hx, params, False, count, 0.0, False, *flags)]


def test_a_layer_shows_its_state_at_each_step_and_is_left_with_the_last() -> None:
    """Sums so far, from a state of 10; with the batch first the same."""
    ten = f32([[[10.0]]])
    assert layers("aten::rnn_relu.input", STEPS, ten, [ONE, ONE], 1, False, False) == [
        [[[11.0]], [[13.0]], [[16.0]]], [[[16.0]]]
    ]  # fmt: skip
    rows = f32([[[1.0], [2.0], [3.0]]])
    assert layers("aten::rnn_relu.input", rows, ten, [ONE, ONE], 1, False, True)[0] == [[[11.0], [13.0], [16.0]]]


def test_the_other_direction_begins_at_the_last_step() -> None:
    """Sums so far beside sums from here on, which are left at the first step."""
    shown, left = layers("aten::rnn_relu.input", STEPS, np.zeros((2, 1, 1), np.float32), [ONE] * 4, 1, True, False)
    assert shown == [[[1.0, 6.0]], [[3.0, 5.0]], [[6.0, 3.0]]]
    assert left == [[[6.0]], [[6.0]]]


def test_a_layer_upon_another() -> None:
    """Sums of sums: 1, 3, 6 and 1, 4, 10."""
    shown, left = layers("aten::rnn_relu.input", STEPS, np.zeros((2, 1, 1), np.float32), [ONE] * 4, 2, False, False)
    assert shown == [[[1.0]], [[4.0]], [[10.0]]]
    assert left == [[[6.0]], [[10.0]]]


@pytest.mark.parametrize(("op", "gates"), [("gru", 3), ("lstm", 4), ("rnn_tanh", 1)])
def test_each_step_is_one_of_the_cell(op: str, gates: int) -> None:
    """Where a state is a number of the dtype, as after a step from a float32 state, layers go on as cells do."""
    stream = np.random.default_rng(1)
    x, w, u = (stream.uniform(-1, 1, shape).astype(np.float32) for shape in ((1, 2, 3), (gates * 2, 3), (gates * 2, 2)))
    states = [stream.uniform(-1, 1, (1, 2, 2)).astype(np.float32) for _ in range(2)]
    is_lstm = op == "lstm"
    options = (False, 1, 0.0, False, False, False)
    of_layer = goldens(f"aten::{op}.input", x, states if is_lstm else states[0], [w, u], *options)
    of_cell = goldens(f"aten::{op}_cell", x[0], [one[0] for one in states] if is_lstm else states[0][0], w, u)
    assert of_layer[0].value[0].tolist() == of_cell[0].value.tolist()
    assert [one.value[0].tolist() for one in of_layer[1:]] == [one.value.tolist() for one in of_cell]


def test_dropout_is_drawn_between_layers_in_training_alone() -> None:
    hx, twice = np.zeros((2, 1, 1), np.float32), [ONE] * 4
    (shown, _) = goldens("aten::rnn_relu.input", STEPS, hx[:1], twice[:2], False, 1, 0.5, True, False, False)
    assert shown.value.tolist() == [[[1.0]], [[3.0]], [[6.0]]]
    with pytest.raises(Unjudged, match="drawn"):
        evaluate("aten::rnn_relu.input", [STEPS, hx, twice, False, 2, 0.5, True, False, False], {})
