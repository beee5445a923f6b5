func.func @integers_wrap() {
  %lhs = stablehlo.constant dense<[0, 5]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[1, 3]> : tensor<2xui8>
  %result = "stablehlo.subtract"(%lhs, %rhs) : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  check.expect_eq_const %result, dense<[255, 2]> : tensor<2xui8>
  return
}

func.func @floats() {
  %lhs = stablehlo.constant dense<[1.0, 0.3]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %result = "stablehlo.subtract"(%lhs, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[0.0, 0.200000018]> : tensor<2xf32>
  return
}
