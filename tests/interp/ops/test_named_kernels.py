"""Names that people write kernels for, beside what they are made of: closeness, gates, parts, pads, attention."""

from __future__ import annotations

from math import inf, nan

import ml_dtypes
import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import boolean, c64, check, check_open, f16, f32, f64, goldens, i32, i64


def test_isclose() -> None:
    """torch.isclose's example, and what no tolerance makes close."""
    check("aten::isclose", f64([1.0, 2.0, 3.0]), f64([1.0 + 1e-10, 3.0, 4.0]), gives=boolean([True, False, False]))
    check("aten::isclose", f64([inf, 4.0]), f64([inf, 6.0]), 0.5, gives=boolean([True, True]))
    check("aten::isclose", f32([inf, -inf, nan, nan]), f32([-inf, 1.0, nan, 1.0]), 9.0, 9.0,
          gives=boolean([False, False, False, False]))  # fmt: skip
    check("aten::isclose", f32([nan, nan]), f32([nan, 1.0]), equal_nan=True, gives=boolean([True, False]))
    check("aten::isclose", f32([0.0]), f32([-0.0]), 0.0, 0.0, gives=boolean([True]))


def test_what_a_rounding_decides_is_not_judged() -> None:
    """|1 - 1.5| <= 0.5 exactly, and with 1/3 of 1.5 for it, which float32 may round either way."""
    one, other = f32([1.0, 1.0]), f32([1.5, 2.0])
    check_open("aten::isclose", one, other, 0.0, 0.5, gives=boolean([True, False]), where_open=[True, False],
               rule="P146")  # fmt: skip
    check_open("aten::isclose", one, other, 1 / 3, 0.0, gives=boolean([True, False]), where_open=[True, False],
               rule="P146")  # fmt: skip


def test_tolerances_are_rounded_to_the_element_type() -> None:
    """0.9998 is 1 in float16, and so many numbers apart are 1000 and 1001; in float32 it is not."""
    check_open("aten::isclose", f16([1000.0, 1000.0]), f16([1001.0, 1002.0]), 0.0, 0.9998,
               gives=boolean([False, False]), where_open=[True, False], rule="P146")  # fmt: skip
    check("aten::isclose", f32([1000.0]), f32([1001.0]), 0.0, 0.9998, gives=boolean([False]))
    check_open("aten::isclose", f16([65504.0]), f16([-65504.0]), 2.0, 10.0, gives=boolean([True]), where_open=[True],
               rule="P146")  # fmt: skip


def test_allclose_and_equal_are_python_numbers() -> None:
    check("aten::allclose", f64([10000.0, 1e-07]), f64([10000.1, 1e-08]), gives=boolean(False))
    check("aten::allclose", f64([10000.0, 1e-08]), f64([10000.1, 1e-09]), gives=boolean(True))
    check("aten::allclose", f64([1.0, nan]), f64([1.0, nan]), gives=boolean(False))
    check("aten::allclose", f64([]), f64([]), gives=boolean(True))
    check_open("aten::allclose", f32([1.0, 7.0]), f32([1.5, 7.0]), 0.0, 0.5, gives=boolean(True), where_open=True,
               rule="P146")  # fmt: skip
    check("aten::allclose", f32([1.0, 7.0]), f32([1.5, 9.0]), 0.0, 0.5, gives=boolean(False))
    check("aten::equal", i64([1, 2]), i64([1, 2]), gives=boolean(True))
    check("aten::equal", f32([1.0, nan]), f32([1.0, nan]), gives=boolean(False))
    check("aten::equal", f32([0.0]), f32([[-0.0]]), gives=boolean(False))
    check("aten::equal", f32([0.0]), f32([-0.0]), gives=boolean(True))


def test_glu() -> None:
    """2 of e^0; what an infinity gates."""
    check("aten::glu", f32([2.0, 4.0, 3.0, 0.0, inf, -inf]), gives=f32([1.0, 4.0, 0.0]))
    check("aten::glu", f32([[inf, 1.0, nan], [-inf, nan, 1.0]]), 0, gives=f32([[nan, nan, nan]]))
    check("aten::glu", f64([1.0, -700.0]), gives=f64([9.85967654375977e-305]))
    (golden,) = goldens("aten::glu", f32([3.0, -100.0]))
    assert golden.value.tolist() == [float(np.float32(1.1160227997e-43))]
    assert golden.budget[0] >= golden.value[0], "e^100 overflows float32, and its inverse is 0"


def test_parts_of_complex_numbers() -> None:
    check("aten::view_as_real", c64([1 - 2j, complex(-0.0, inf)]), gives=f32([[1.0, -2.0], [-0.0, inf]]))
    check("aten::conj", c64([1 - 2j]), gives=c64([1 + 2j]))
    check("aten::view_as_complex", f32([[1.0, -2.0], [-0.0, inf]]), gives=c64([1 - 2j, complex(-0.0, inf)]))
    check("aten::complex", f32([1.0, nan]), f32([[-0.0]]), gives=c64([[complex(1.0, -0.0), complex(nan, -0.0)]]))
    with pytest.raises(Unjudged, match="complex32"):
        evaluate("aten::view_as_complex", [f16([1.0, 2.0])], {})


def test_scaled_products_of_8_bit_floats() -> None:
    """[1.5, 448] by [[2, 0.5], [-1, 2^-9]] is [-445, 1.625]: scaled, and with a bias; a tie of bfloat16 to even."""
    e4m3, e5m2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
    left, right = np.array([[1.5, 448.0]], e4m3), np.array([[2.0, 0.5], [-1.0, 2.0**-9]], e5m2)
    one, three, half = f32(1.0), f32([[3.0]]), f32([[0.5]])
    in_float32 = {"out_dtype": "float32"}
    check("aten::_scaled_mm", left, right, one, one, **in_float32, gives=f32([[-445.0, 1.625]]))
    check("aten::_scaled_mm", left, right, three, f32([[0.5, 2.0]]), **in_float32, gives=f32([[-667.5, 9.75]]))
    check("aten::_scaled_mm", left, right, half, one, f32([0.5, nan]), **in_float32, gives=f32([[-222.0, nan]]))
    rows = np.array([[1.0], [2.0]], e4m3), np.array([[1.5]], e4m3)
    check("aten::_scaled_mm", *rows, f32([[1.0], [4.0]]), half, **in_float32, gives=f32([[0.75], [6.0]]))
    (golden,) = goldens("aten::_scaled_mm", np.array([[1.0, 0.0625]], e4m3), np.array([[1.0], [0.0625]], e4m3),
                        one, one, out_dtype="bfloat16")  # fmt: skip
    assert golden.value.tolist() == [[1.0]]


ROWS = f32([[1, 2] * 4, [3, 4] * 4, [5, 6] * 4])
EXPERTS = np.stack([np.ones((8, 8), np.float32), np.eye(8, dtype=np.float32)])


def test_groups_of_rows_have_matrices_of_their_own() -> None:
    """The first row by ones, four times 1 + 2, the second by the identity; an empty group; what is behind is open."""
    check("aten::_grouped_mm", ROWS, EXPERTS, i32([1, 3]), gives=f32([[12.0] * 8, [3, 4] * 4, [5, 6] * 4]))
    check("aten::_grouped_mm", ROWS, EXPERTS, i32([0, 3]), gives=ROWS)
    check_open("aten::_grouped_mm", ROWS, EXPERTS, i32([1, 2]), gives=f32([[12.0] * 8, [3, 4] * 4, [5, 6] * 4]),
               where_open=[[False] * 8, [False] * 8, [True] * 8], rule="P205")  # fmt: skip
    with pytest.raises(Unjudged, match="ends before"):
        evaluate("aten::_grouped_mm", [ROWS, EXPERTS, i32([2, 1])], {})


def test_groups_of_columns_and_of_terms() -> None:
    """A stack's first matrix times the first five columns; of terms, those before each end, and none: 0."""
    first, second = (f32(np.full((1, 8), value)) for value in (1.0, 2.0))
    wide = f32(np.arange(8.0) * np.ones((8, 1)))
    check("aten::_grouped_mm", np.stack([first, second]), wide, i32([5, 8]),
          gives=f32([[0, 8, 16, 24, 32, 80, 96, 112]]))  # fmt: skip
    check("aten::_grouped_mm", first, wide, i32([3, 3, 8]),
          gives=f32([[np.arange(8.0) * 3], [np.zeros(8)], [np.arange(8.0) * 5]]))  # fmt: skip
    check("aten::_grouped_mm", EXPERTS, EXPERTS, gives=EXPERTS * f32([8, 1]).reshape(2, 1, 1))
    with pytest.raises(InvalidArguments, match="offs"):
        evaluate("aten::_grouped_mm", [EXPERTS, EXPERTS, i32([1, 3])], {})


def test_what_8_bit_floats_have_beside_numbers() -> None:
    e4m3, e5m2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
    given = np.array([[inf, 0.0], [nan, 1.0]], e5m2), np.array([[1.0, 0.0], [1.0, 1.0]], e4m3), f32(1.0), f32(1.0)
    check("aten::_scaled_mm", *given, out_dtype="float16", gives=f16([[inf, nan], [nan, nan]]))
    check("aten::_scaled_mm", np.array([[57344.0, 57344.0]], e5m2), np.array([[1.0], [1.0]], e4m3), *given[2:],
          out_dtype="float16", gives=f16([[inf]]))  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"out_dtype": None}, "8-bit floats"),
        ({"use_fast_accum": True}, "how far off"),
        ({"scale_a": f32([[-1.0]])}, "overflow or vanish"),
        ({"scale_a": f32([[1.0], [1.0], [1.0]])}, "blocks"),
        ({"scale_result": f32(2.0)}, "nothing is documented"),
    ],
)
def test_what_is_said_of_no_scaled_product(changed: dict, reason: str) -> None:
    square = np.ones((2, 2), ml_dtypes.float8_e4m3fn)
    given = {"self": square, "mat2": square, "scale_a": f32(1.0), "scale_b": f32(1.0), "out_dtype": "float32"}
    with pytest.raises(Unjudged, match=reason):
        evaluate("aten::_scaled_mm", [], {**given, **changed})


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("constant", [0.0, 1.0, 2.0, 3.0, 0.0, 0.0]),
        ("reflect", [2.0, 1.0, 2.0, 3.0, 2.0, 1.0]),
        ("replicate", [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]),
        ("circular", [3.0, 1.0, 2.0, 3.0, 1.0, 2.0]),
    ],
)
def test_pads(mode: str, expected: list[float]) -> None:
    check("aten::pad", f32([[1.0, 2.0, 3.0]]), [1, 2], mode, gives=f32([expected]))


def test_dropout_of_what_is_kept() -> None:
    """A half with p = 1/2: what is not 0 is doubled, and a mask shows in the zeros alone."""
    outcome = evaluate("aten::dropout", [f32([1.0, 2.0, 0.0, inf]), 0.5, True], {})
    (golden,), fault = outcome.given([f32([2.0, 0.0, 0.0, nan])])
    assert fault is None
    assert golden.zero_sign_free.tolist() == [False, True, True, True]
    assert golden.value.tolist()[:3] == [2.0, 0.0, 0.0]
    assert golden.open.tolist() == [False, False, False, True]
    with pytest.raises(Unjudged, match="gives input itself"):
        goldens("aten::dropout", f32([1.0]), 0.5, False)


def test_bags_without_a_row() -> None:
    weight, indices, offsets = f32([[1.0], [2.0], [4.0]]), i64([0, 2, 1, 2]), i64([0, 2])
    sums = goldens("aten::embedding_bag", weight, indices, offsets)
    assert sums[0].value.tolist() == [[5.0], [6.0]]
    assert [golden.undocumented for golden in sums] == [False, True, True, True]
    last = goldens("aten::embedding_bag.padding_idx", weight, indices, offsets, False, 0, False, None, False, -1)
    assert last[0].value.tolist() == [[1.0], [2.0]]


OF_ONE_KEY = f16([[[[1.0, 2.0]]]])


@pytest.mark.parametrize(
    "op", ["aten::_scaled_dot_product_attention_math", "aten::_scaled_dot_product_flash_attention_for_cpu"]
)
def test_attention_by_other_names(op: str) -> None:
    """Of one key its value; nothing is documented of the other result."""
    first, rest = goldens(op, OF_ONE_KEY, OF_ONE_KEY, OF_ONE_KEY)
    assert first.value.tolist() == [[[[1.0, 2.0]]]]
    assert rest.undocumented


def test_a_product_below_float64_has_a_sign_beside_an_infinite_scale() -> None:
    """-1e-236 * 1e-263 * inf is -inf, and of a row of these nothing is said; 1e-263 * inf is inf, and the row NaN."""
    query, key, value = f64([[-1e-236]]), f64([[1e-263], [1e237]]), f64([[1.0], [2.0]])
    check_open("aten::scaled_dot_product_attention", query, key, value, scale=inf, gives=f64([[nan]]),
               where_open=[[True]], rule="P69")  # fmt: skip
    check("aten::scaled_dot_product_attention", query, -key, value, scale=inf, gives=f64([[nan]]))


HALF_KEY = f16([[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]]])


@pytest.mark.parametrize(
    ("op", "rest", "count"),
    [
        ("flash_attention", (), 9),
        ("efficient_attention", (None, True), 4),
        ("cudnn_attention", (None, False), 9),
        ("fused_attention_overrideable", (f16([[[[9.0]]]]),), 9),
    ],
)
def test_attention_by_kernels_of_devices(op: str, rest: tuple, count: int) -> None:
    """Of one key its value, with whatever bias; nothing is documented of the other results."""
    first, *others = goldens(f"aten::_scaled_dot_product_{op}", HALF_KEY, HALF_KEY, HALF_KEY, *rest)
    assert first.value.tolist() == HALF_KEY.tolist()
    assert [one.undocumented for one in others] == [True] * (count - 1)


def test_a_bias_of_minus_infinity_masks_a_key() -> None:
    values = np.concatenate([HALF_KEY] * 7 + [2 * HALF_KEY], axis=2)
    bias = f16([[[[-inf] * 7 + [0.0]]]])
    first, *_ = goldens("aten::_scaled_dot_product_efficient_attention", HALF_KEY, values, values, bias, False)
    assert first.value.tolist() == (2 * HALF_KEY).tolist()


def test_where_the_first_query_sees_which_keys_is_open_in_kernels_of_devices() -> None:
    """is_causal with two keys for one query: the first of them, or both."""
    two = np.concatenate([HALF_KEY, HALF_KEY], axis=2)
    with pytest.raises(Unjudged, match="is_causal"):
        goldens("aten::_scaled_dot_product_flash_attention", HALF_KEY, two, two, 0.0, True)


def test_an_infinite_bias_decides_beside_a_product_beyond_float64() -> None:
    """-1e308 * 1e308 + inf is inf, and e^(inf - inf) NaN."""
    query, key, value = f64([[-1e308]]), f64([[1e308], [1.0]]), f64([[1.0], [2.0]])
    check("aten::scaled_dot_product_attention", query, key, value, f64([[inf, 0.0]]), gives=f64([[nan]]))
    check("aten::scaled_dot_product_attention", query, key, value, f64([[nan, 0.0]]), gives=f64([[nan]]))
    check("aten::scaled_dot_product_attention", query, key, value, f64([[0.0, nan]]), scale=2.5, gives=f64([[nan]]))
