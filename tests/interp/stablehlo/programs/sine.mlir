func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, -0.0, 1.0, 3.14159274]> : tensor<4xf32>
  %result = "stablehlo.sine"(%operand) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[0.0, -0.0, 0.841470957, -8.74227766e-8]> : tensor<4xf32>
  return
}
