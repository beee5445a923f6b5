func.func @floats() {
  %operand = stablehlo.constant dense<[0xFF800000, 0x7F800000, 1000.0, 1000000.0, 1.1, 1.0e-5]> : tensor<6xf32>
  %result = "stablehlo.reduce_precision"(%operand) {exponent_bits = 5 : i32, mantissa_bits = 2 : i32} : (tensor<6xf32>) -> tensor<6xf32>
  check.expect_eq_const %result, dense<[0xFF800000, 0x7F800000, 1024.0, 0x7F800000, 1.0, 0.0]> : tensor<6xf32>
  return
}
