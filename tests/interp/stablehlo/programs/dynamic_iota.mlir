func.func @rows() {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %result = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<2x3xi32>
  check.expect_eq_const %result, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  return
}
