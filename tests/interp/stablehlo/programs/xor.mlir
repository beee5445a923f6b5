func.func @booleans() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = "stablehlo.xor"(%lhs, %rhs) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, true, false]> : tensor<4xi1>
  return
}

func.func @integers() {
  %lhs = stablehlo.constant dense<[12, -1]> : tensor<2xi32>
  %rhs = stablehlo.constant dense<[10, 7]> : tensor<2xi32>
  %result = "stablehlo.xor"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[6, -8]> : tensor<2xi32>
  return
}
