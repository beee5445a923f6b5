func.func @floats() {
  %operand = stablehlo.constant dense<[-2.5, 0.4, 0.5, -0.5, 2.5, 0.49999999999999994]> : tensor<6xf64>
  %result = "stablehlo.round_nearest_afz"(%operand) : (tensor<6xf64>) -> tensor<6xf64>
  check.expect_eq_const %result, dense<[-3.0, 0.0, 1.0, -1.0, 3.0, 0.0]> : tensor<6xf64>
  return
}
