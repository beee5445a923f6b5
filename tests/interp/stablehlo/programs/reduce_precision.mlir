func.func @floats() {
  %operand = stablehlo.constant dense<[0xFF800000, 0x7F800000, 1000.0, 1000000.0, 1.1, 1.0e-5]> : tensor<6xf32>
  %result = "stablehlo.reduce_precision"(%operand) {exponent_bits = 5 : i32, mantissa_bits = 2 : i32} : (tensor<6xf32>) -> tensor<6xf32>
  check.expect_eq_const %result, dense<[0xFF800000, 0x7F800000, 1024.0, 0x7F800000, 1.0, 0.0]> : tensor<6xf32>
  return
}

// With as many exponent bits as the type has, subnormals keep their places; with fewer they are zeros.
func.func @subnormals() {
  %operand = stablehlo.constant dense<[0x00000001, 0x00018000, 0x007FFFFF, 0x80400000]> : tensor<4xf32>
  %all = stablehlo.reduce_precision %operand, format = e8m23 : tensor<4xf32>
  check.expect_eq %all, %operand : tensor<4xf32>
  %few = stablehlo.reduce_precision %operand, format = e8m7 : tensor<4xf32>
  check.expect_eq_const %few, dense<[0x00000000, 0x00020000, 0x00800000, 0x80400000]> : tensor<4xf32>
  %less = stablehlo.reduce_precision %operand, format = e7m23 : tensor<4xf32>
  check.expect_eq_const %less, dense<[0.0, 0.0, 0.0, -0.0]> : tensor<4xf32>
  return
}

// More bits than the type has are not restricting: 448 is the largest number of float8E4M3FN.
func.func @all_numbers_of_a_small_type() {
  %operand = stablehlo.constant dense<[448.0, -256.0, 1.0]> : tensor<3xf8E4M3FN>
  %result = stablehlo.reduce_precision %operand, format = e5m10 : tensor<3xf8E4M3FN>
  check.expect_eq %result, %operand : tensor<3xf8E4M3FN>
  return
}
