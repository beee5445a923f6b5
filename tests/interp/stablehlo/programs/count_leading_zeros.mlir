func.func @integers() {
  %operand = stablehlo.constant dense<[0, 1, 128, -1]> : tensor<4xi64>
  %result = "stablehlo.count_leading_zeros"(%operand) : (tensor<4xi64>) -> tensor<4xi64>
  check.expect_eq_const %result, dense<[64, 63, 56, 0]> : tensor<4xi64>
  return
}

func.func @four_bits() {
  %operand = stablehlo.constant dense<[0, 1, 7, -8]> : tensor<4xi4>
  %result = "stablehlo.count_leading_zeros"(%operand) : (tensor<4xi4>) -> tensor<4xi4>
  check.expect_eq_const %result, dense<[4, 3, 1, 0]> : tensor<4xi4>
  return
}
