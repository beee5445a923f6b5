func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, -200.0, 0x7F800000]> : tensor<3xf32>
  %result = "stablehlo.logistic"(%operand) : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[0.5, 0.0, 1.0]> : tensor<3xf32>
  return
}

func.func @each_step_is_rounded() {
  %operand = stablehlo.constant dense<[1.5]> : tensor<1xf16>
  %result = "stablehlo.logistic"(%operand) : (tensor<1xf16>) -> tensor<1xf16>
  check.expect_eq_const %result, dense<[0.8179]> : tensor<1xf16>
  return
}
