func.func @floats() {
  %operand = stablehlo.constant dense<[-1.0, 0.0, 20.0, 0xFF800000]> : tensor<4xf32>
  %result = "stablehlo.tanh"(%operand) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[-0.761594176, 0.0, 1.0, -1.0]> : tensor<4xf32>
  return
}
