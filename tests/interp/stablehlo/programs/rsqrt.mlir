func.func @floats() {
  %operand = stablehlo.constant dense<[1.0, 4.0, 9.0, 0.0, -1.0]> : tensor<5xf32>
  %result = "stablehlo.rsqrt"(%operand) : (tensor<5xf32>) -> tensor<5xf32>
  check.expect_eq_const %result, dense<[1.0, 0.5, 0.333333343, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  return
}
