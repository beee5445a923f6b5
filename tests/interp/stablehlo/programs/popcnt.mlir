func.func @integers() {
  %operand = stablehlo.constant dense<[0, 1, 2, 127, -1]> : tensor<5xi64>
  %result = "stablehlo.popcnt"(%operand) : (tensor<5xi64>) -> tensor<5xi64>
  check.expect_eq_const %result, dense<[0, 1, 1, 7, 64]> : tensor<5xi64>
  return
}

func.func @bytes() {
  %operand = stablehlo.constant dense<[255, 128]> : tensor<2xui8>
  %result = "stablehlo.popcnt"(%operand) : (tensor<2xui8>) -> tensor<2xui8>
  check.expect_eq_const %result, dense<[8, 1]> : tensor<2xui8>
  return
}
