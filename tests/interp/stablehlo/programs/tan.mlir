func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, 1.0, -0.0]> : tensor<3xf64>
  %result = "stablehlo.tan"(%operand) : (tensor<3xf64>) -> tensor<3xf64>
  check.expect_eq_const %result, dense<[0.0, 1.5574077246549023, -0.0]> : tensor<3xf64>
  return
}
