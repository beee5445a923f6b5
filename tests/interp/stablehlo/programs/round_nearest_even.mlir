func.func @floats() {
  %operand = stablehlo.constant dense<[-2.5, 0.4, 0.5, -0.5, 2.5, 0.6]> : tensor<6xf64>
  %result = "stablehlo.round_nearest_even"(%operand) : (tensor<6xf64>) -> tensor<6xf64>
  check.expect_eq_const %result, dense<[-2.0, 0.0, 0.0, -0.0, 2.0, 1.0]> : tensor<6xf64>
  return
}
