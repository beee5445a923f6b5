func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, 2.0, 4.0, -1.0, -0.0]> : tensor<5xf32>
  %result = "stablehlo.sqrt"(%operand) : (tensor<5xf32>) -> tensor<5xf32>
  check.expect_eq_const %result, dense<[0.0, 1.41421354, 2.0, 0x7FC00000, -0.0]> : tensor<5xf32>
  return
}
