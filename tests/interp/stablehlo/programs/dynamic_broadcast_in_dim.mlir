func.func @rows() {
  %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %result = stablehlo.dynamic_broadcast_in_dim %operand, %shape, dims = [1] : (tensor<2xi32>, tensor<2xi64>) -> tensor<?x2xi32>
  %static = stablehlo.dynamic_reshape %result, %shape : (tensor<?x2xi32>, tensor<2xi64>) -> tensor<3x2xi32>
  check.expect_eq_const %static, dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>
  return
}
