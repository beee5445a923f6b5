func.func @integers() {
  %operand = stablehlo.constant dense<[1, 0, -1]> : tensor<3xi32>
  %result = "stablehlo.not"(%operand) : (tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[-2, -1, 0]> : tensor<3xi32>
  return
}

func.func @booleans() {
  %operand = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %result = "stablehlo.not"(%operand) : (tensor<2xi1>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[false, true]> : tensor<2xi1>
  return
}
