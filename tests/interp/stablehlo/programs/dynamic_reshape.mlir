func.func @flat() {
  %operand = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %shape = stablehlo.constant dense<[4]> : tensor<1xi64>
  %result = stablehlo.dynamic_reshape %operand, %shape : (tensor<2x2xi32>, tensor<1xi64>) -> tensor<4xi32>
  check.expect_eq_const %result, dense<[1, 2, 3, 4]> : tensor<4xi32>
  return
}
