// The example of the specification.
func.func @per_axis() {
  %operand = stablehlo.constant() {value = dense<[10, 10]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>
  %result = stablehlo.uniform_dequantize %operand : (tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[4.0, 15.0]> : tensor<2xf32>
  return
}

func.func @the_difference_to_the_zero_point_does_not_wrap() {
  %operand = stablehlo.constant() {value = dense<[-128, 0, 127]> : tensor<3xi8>} : () -> tensor<3x!quant.uniform<i8:f32, 0.5:127>>
  %result = stablehlo.uniform_dequantize %operand : (tensor<3x!quant.uniform<i8:f32, 0.5:127>>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[-127.5, -63.5, 0.0]> : tensor<3xf32>
  return
}

func.func @unsigned() {
  %operand = stablehlo.constant() {value = dense<[0, 128, 255]> : tensor<3xi8>} : () -> tensor<3x!quant.uniform<u8:f32, 0.25:128>>
  %result = stablehlo.uniform_dequantize %operand : (tensor<3x!quant.uniform<u8:f32, 0.25:128>>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[-32.0, 0.0, 31.75]> : tensor<3xf32>
  return
}

// 16777217 is 16777216 in float32; the product of that and 3 is exact.
func.func @wide_integers_are_rounded_before_they_are_scaled() {
  %operand = stablehlo.constant() {value = dense<[16777217, -16777217]> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32, 3.0>>
  %result = stablehlo.uniform_dequantize %operand : (tensor<2x!quant.uniform<i32:f32, 3.0>>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[50331648.0, -50331648.0]> : tensor<2xf32>
  return
}

// 0.1 is 0.0999755859375 in float16, 0.10009765625 in bfloat16; 3 times these is rounded in the format.
func.func @scales_are_numbers_of_the_expressed_type() {
  %h = stablehlo.constant() {value = dense<[1, 3]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f16, 0.1>>
  %half = stablehlo.uniform_dequantize %h : (tensor<2x!quant.uniform<i8:f16, 0.1>>) -> tensor<2xf16>
  check.expect_eq_const %half, dense<[0x2E66, 0x34CC]> : tensor<2xf16>
  %b = stablehlo.constant() {value = dense<[1, 3]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:bf16, 0.1>>
  %brain = stablehlo.uniform_dequantize %b : (tensor<2x!quant.uniform<i8:bf16, 0.1>>) -> tensor<2xbf16>
  check.expect_eq_const %brain, dense<[0x3DCD, 0x3E9A]> : tensor<2xbf16>
  return
}

// 65520 and more is infinite in float16.
func.func @overflow() {
  %operand = stablehlo.constant() {value = dense<[127, -128]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f16, 1024.0>>
  %result = stablehlo.uniform_dequantize %operand : (tensor<2x!quant.uniform<i8:f16, 1024.0>>) -> tensor<2xf16>
  check.expect_eq_const %result, dense<[0x7C00, 0xFC00]> : tensor<2xf16>
  return
}

func.func @along_a_dimension_in_the_middle() {
  %operand = stablehlo.constant() {value = dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi8>} : () -> tensor<2x2x2x!quant.uniform<i8:f32:1, {1.0,0.5:2}>>
  %result = stablehlo.uniform_dequantize %operand : (tensor<2x2x2x!quant.uniform<i8:f32:1, {1.0,0.5:2}>>) -> tensor<2x2x2xf32>
  check.expect_eq_const %result, dense<[[[1.0, 2.0], [0.5, 1.0]], [[5.0, 6.0], [2.5, 3.0]]]> : tensor<2x2x2xf32>
  return
}

func.func @no_elements_and_no_dimensions() {
  %none = stablehlo.constant() {value = dense<> : tensor<0xi8>} : () -> tensor<0x!quant.uniform<i8:f32, 0.5>>
  %nothing = stablehlo.uniform_dequantize %none : (tensor<0x!quant.uniform<i8:f32, 0.5>>) -> tensor<0xf32>
  check.expect_eq_const %nothing, dense<> : tensor<0xf32>
  %one = stablehlo.constant() {value = dense<3> : tensor<i8>} : () -> tensor<!quant.uniform<i8:f32, 0.5>>
  %scalar = stablehlo.uniform_dequantize %one : (tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<f32>
  check.expect_eq_const %scalar, dense<1.5> : tensor<f32>
  return
}
