func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, 1.0e-10, -1.0, 7.0]> : tensor<4xf32>
  %result = "stablehlo.log_plus_one"(%operand) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[0.0, 1.0e-10, 0xFF800000, 2.07944155]> : tensor<4xf32>
  return
}
