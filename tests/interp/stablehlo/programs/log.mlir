func.func @floats() {
  %operand = stablehlo.constant dense<[1.0, 2.0, 0.0, -1.0]> : tensor<4xf32>
  %result = "stablehlo.log"(%operand) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[0.0, 0.693147182, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  return
}
