"""The figures of the shipped tables, each against what its source says, and what the tables promise of each other."""

from __future__ import annotations

import numpy as np
import pytest

import conform
from conform.contracts.tables import contract_table

REAL_FLOATS = ("float16", "bfloat16", "float32", "float64")
CUDA, TORCH = contract_table("cuda"), contract_table("torch")


@pytest.mark.parametrize(
    ("op", "float32", "float64"),  # CUDA C++ Programming Guide: ulps from the correctly rounded result
    [
        ("add.Tensor", 0, 0), ("div.Tensor", 0, 0), ("sqrt", 0, 0), ("rsqrt", 2, 1), ("exp", 2, 1), ("exp2", 2, 1),
        ("expm1", 1, 1), ("log", 1, 1), ("log10", 2, 1), ("pow.Tensor_Tensor", 4, 2), ("hypot", 3, 2), ("sin", 2, 2),
        ("tan", 4, 2), ("asin", 2, 2), ("atan2", 3, 2), ("sinh", 3, 2), ("cosh", 2, 1), ("tanh", 2, 1), ("acosh", 4, 3),
        ("atanh", 3, 2), ("erf", 2, 2), ("erfc", 4, 5), ("erfinv", 2, 5), ("special_ndtr", 5, 5),
        ("special_ndtri", 5, 8), ("i0", 6, 6), ("special_i1", 6, 6), ("lgamma", 6, 4),
    ],
)  # fmt: skip
def test_the_vendors_figures(op: str, float32: int, float64: int) -> None:
    rows = [CUDA.row(f"aten::{op}", dtype) for dtype in ("float32", "float64")]
    assert [(row.kind, row.bound) for row in rows] == [("ulp_of_rounded", float32), ("ulp_of_rounded", float64)]
    assert all(row.source.startswith("CUDA C++ Programming Guide") for row in rows)


def test_the_vendor_bounds_lgamma_outside_an_interval_only() -> None:
    intervals = [CUDA.row("aten::lgamma", dtype).excluded for dtype in REAL_FLOATS]
    assert intervals == [(-10.001, -2.264)] * 3 + [(-23.0001, -2.2637)]


def test_half_types_are_native_emulated_or_without_a_figure() -> None:
    native = CUDA.row("aten::exp", "float16")
    assert (native.kind, native.bound) == ("ulp_of_rounded", 0.0)
    emulated = CUDA.row("aten::tan", "float16")
    assert (emulated.kind, emulated.bound) == ("ulp", 0.50104)  # 0.5 + (2 * 4 + 0.5) / 2^13, rounded up
    assert CUDA.row("aten::special_ndtr", "float16").kind == "derived"


@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"),  # torch.testing.assert_close, the table of its documentation
    [
        ("float16", 1e-3, 1e-5), ("bfloat16", 1.6e-2, 1e-5), ("float32", 1.3e-6, 1e-5), ("float64", 1e-7, 1e-7),
        ("complex64", 1.3e-6, 1e-5), ("complex128", 1e-7, 1e-7), ("float8_e4m3fn", 0.0, 0.0),
    ],
)  # fmt: skip
def test_torchs_defaults(dtype: str, rtol: float, atol: float) -> None:
    tolerance = TORCH.row("aten::mm", dtype).tolerance
    assert tolerance is not None
    assert (tolerance.rtol, tolerance.atol) == (rtol, atol)


def test_stablehlo_allows_a_ten_thousandth_everywhere() -> None:
    rows = {contract_table("stablehlo").row("aten::exp", dtype).tolerance for dtype in (*REAL_FLOATS, "complex64")}
    assert [(one.rtol, one.atol, one.same_sign) for one in rows if one] == [(0.0, 1e-4, True)]


@pytest.mark.parametrize("name", ["cuda", "opencl"])
def test_whatever_a_table_bounds_by_ulps_is_correctly_rounded_in_cr(name: str) -> None:
    cr, table = contract_table("cr"), contract_table(name)
    for op in table.rows:
        for dtype in REAL_FLOATS:
            if table.row(op, dtype).kind in ("ulp", "ulp_of_rounded"):
                assert cr.row(op, dtype).kind == "exact" or cr.row(op, dtype).bound == 0.5, (
                    f"{op} {dtype}: a row in cr.yaml"
                )


def test_tosa_has_no_float64_and_no_operator_for_tan() -> None:
    assert contract_table("tosa").row("aten::exp", "float64").source.startswith("no row")
    assert contract_table("tosa").row("aten::tan", "float32").source.startswith("no row")
    assert contract_table("tosa").row("aten::exp", "float32").formula == "EXP"


def test_a_number_of_decimals_may_be_off_by_its_division_alone() -> None:
    """925 / 1000 is 0.925; by the reciprocal of 1000, which compilers multiply by, it is the float32 next above."""
    operand, nearest = np.float32([0.924538]), np.float32([0.925])
    conform.assert_close("round.decimals", nearest, operand, decimals=3, contract="cuda")
    conform.assert_close("round.decimals", nearest + np.float32(2**-24), operand, decimals=3, contract="opencl")
    for actual, contract in ((nearest + np.float32(2**-24), "cuda"), (np.float32([0.926]), "opencl")):
        with pytest.raises(AssertionError):
            conform.assert_close("round.decimals", actual, operand, decimals=3, contract=contract)
