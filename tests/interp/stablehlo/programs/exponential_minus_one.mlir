func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, 1.0, 1.0e-10]> : tensor<3xf32>
  %result = "stablehlo.exponential_minus_one"(%operand) : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[0.0, 1.71828187, 1.0e-10]> : tensor<3xf32>
  return
}
