"""Batch normalization, linear algebra, transforms, tuples."""

from __future__ import annotations

from tests.interp.stablehlo.violations.violation import violate

_BN = "epsilon = 0.0 : f32, feature_index = {} : i64"
violate("batch_norm_inference", "C1", "2x3xf32 3xf32 3xf32 3xf32 3xf32", _BN.format(2), "2x3xf32")
violate("batch_norm_inference", "C2", "2x3xf32 3xf64 3xf32 3xf32 3xf32", _BN.format(1), "2x3xf32")
for _at in range(1, 5):
    _shapes = ["2x3xf32", *["3xf32"] * 4]
    _shapes[_at] = "4xf32"
    violate("batch_norm_inference", f"C{_at + 2}", " ".join(_shapes), _BN.format(1), "2x3xf32")
violate("batch_norm_inference", "C7", "2x3xf32 3xf32 3xf32 3xf32 3xf32", _BN.format(1), "2x4xf32")
violate("batch_norm_training", "C1", "2x3xf32 3xf32 3xf32", _BN.format(2), "2x3xf32 3xf32 3xf32")
violate("batch_norm_training", "C2", "2x3xf32 3xf64 3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
violate("batch_norm_training", "C3", "2x3xf32 4xf32 3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
violate("batch_norm_training", "C4", "2x3xf32 3xf32 4xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
violate("batch_norm_training", "C5", "2x3xf32 3xf32 3xf32", _BN.format(1), "2x3xf32 4xf32 3xf32")
violate("batch_norm_training", "C6", "2x3xf32 3xf32 3xf32", _BN.format(1), "2x3xf32 3xf32 4xf32")
violate("batch_norm_training", "C7", "2x3xf32 3xf32 3xf32", _BN.format(1), "2x4xf32 3xf32 3xf32")
violate("batch_norm_grad", "C1", "2x3xf32 3xf32 3xf32 3xf32 2x3xf32", _BN.format(2), "2x3xf32 3xf32 3xf32")
violate("batch_norm_grad", "C2", "2x3xf32 3xf64 3xf32 3xf32 2x3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
violate("batch_norm_grad", "C3", "2x3xf32 3xf32 3xf32 3xf32 2x4xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
violate("batch_norm_grad", "C4", "2x3xf32 3xf32 3xf32 4xf32 2x3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
violate("batch_norm_grad", "C5", "2x3xf32 4xf32 3xf32 3xf32 2x3xf32", _BN.format(1), "2x3xf32 3xf32 3xf32")
violate("cholesky", "C1", "3x3xf32", "lower = true", "4x4xf32")
violate("cholesky", "C2", "3xf32", "lower = true", "3xf32")
violate("cholesky", "C3", "3x4xf32", "lower = true", "3x4xf32")
_SOLVE = "left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"
violate("triangular_solve", "C1", "3x3xf32 3x3xf64", _SOLVE, "3x3xf64")
violate("triangular_solve", "C2", "3x3xf32 3xf32", _SOLVE, "3xf32")
violate("triangular_solve", "C3", "3x3xf32 4x3xf32", _SOLVE, "4x3xf32")
violate("triangular_solve", "C4", "3x3xf32 3x2xf32", _SOLVE, "3x3xf32")
_FFT = "fft_type = #stablehlo<fft_type {}>, fft_length = array<i64: {}>"
violate("fft", "C1", "4xcomplex<f32>", _FFT.format("FFT", "4, 4"), "4xcomplex<f32>")
violate("fft", "C2", "4xcomplex<f32>", _FFT.format("FFT", "4"), "4xcomplex<f64>")
violate("fft", "C3", "2x2x2x2xcomplex<f32>", _FFT.format("FFT", "2, 2, 2, 2"), "2x2x2x2xcomplex<f32>")
violate("fft", "C4", "4xf32", _FFT.format("RFFT", "5"), "3xcomplex<f32>")
violate("fft", "C5", "4xcomplex<f32>", _FFT.format("FFT", "4"), "5xcomplex<f32>")
violate("tuple", "C1", "f32", "", "tuple<tensor<f64>>")
violate("get_tuple_element", "C2", "tuple<tensor<f32>>", "index = 0 : i32", "f64")
violate("get_tuple_element", "C1", "tuple<tensor<f32>>", "index = 1 : i32", "f32")
for _op, _shapes, _results in (
    ("batch_norm_inference", "2x3xi32 3xi32 3xi32 3xi32 3xi32", "2x3xi32"),
    ("batch_norm_training", "2x3xi32 3xi32 3xi32", "2x3xi32 3xi32 3xi32"),
    ("batch_norm_grad", "2x3xi32 3xi32 3xi32 3xi32 2x3xi32", "2x3xi32 3xi32 3xi32"),
):
    violate(_op, "I1", _shapes, _BN.format(1), _results)
violate("cholesky", "I1", "3x3xi32", "lower = true", "3x3xi32")
violate("triangular_solve", "I1", "3x3xi32 3x3xi32", _SOLVE, "3x3xi32")
