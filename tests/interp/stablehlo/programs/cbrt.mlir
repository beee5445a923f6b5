func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, -1.0, 8.0, 27.0, -0.0]> : tensor<5xf64>
  %result = "stablehlo.cbrt"(%operand) : (tensor<5xf64>) -> tensor<5xf64>
  check.expect_eq_const %result, dense<[0.0, -1.0, 2.0, 3.0, -0.0]> : tensor<5xf64>
  return
}
