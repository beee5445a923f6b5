func.func @steps() {
  %operand = stablehlo.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi64>
  %result = stablehlo.slice %operand [0:3:2, 1:4:2] : (tensor<3x4xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %result, dense<[[1, 3], [9, 11]]> : tensor<2x2xi64>
  return
}
