func.func @floats() {
  %operand = stablehlo.constant dense<[0xFF800000, 0x7F800000, 0x7FC00000, -10.0, -0.0, 3.0e+38]> : tensor<6xf32>
  %result = "stablehlo.is_finite"(%operand) : (tensor<6xf32>) -> tensor<6xi1>
  check.expect_eq_const %result, dense<[false, false, false, true, true, true]> : tensor<6xi1>
  return
}
