func.func @padding() {
  %lhs = stablehlo.constant dense<[[[1], [2], [3]]]> : tensor<1x3x1xi64>
  %rhs = stablehlo.constant dense<[[[1]], [[1]]]> : tensor<2x1x1xi64>
  %padding = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi64>
  %result = "stablehlo.dynamic_conv"(%lhs, %rhs, %padding) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x3x1xi64>, tensor<2x1x1xi64>, tensor<1x2xi64>) -> tensor<1x3x1xi64>
  check.expect_eq_const %result, dense<[[[1], [3], [5]]]> : tensor<1x3x1xi64>
  return
}
