func.func @floats() {
  %lhs = stablehlo.constant dense<[1.0, -0.0, 0.0, 0x7FC00000]> : tensor<4xf32>
  %rhs = stablehlo.constant dense<[2.0, 0.0, -0.0, 1.0]> : tensor<4xf32>
  %result = "stablehlo.minimum"(%lhs, %rhs) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[1.0, -0.0, -0.0, 0x7FC00000]> : tensor<4xf32>
  return
}

func.func @integers() {
  %lhs = stablehlo.constant dense<[1, -7]> : tensor<2xi32>
  %rhs = stablehlo.constant dense<[5, 3]> : tensor<2xi32>
  %result = "stablehlo.minimum"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[1, -7]> : tensor<2xi32>
  return
}
