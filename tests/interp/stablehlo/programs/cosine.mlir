func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, 1.0, 3.14159274, 0x7F800000]> : tensor<4xf32>
  %result = "stablehlo.cosine"(%operand) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[1.0, 0.540302277, -1.0, 0x7FC00000]> : tensor<4xf32>
  return
}
