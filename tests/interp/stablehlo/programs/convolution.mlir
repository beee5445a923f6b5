func.func @two_dimensions() {
  %lhs = stablehlo.constant dense<[[[[1], [2], [5], [6]], [[3], [4], [7], [8]], [[10], [11], [14], [15]], [[12], [13], [16], [17]]]]> : tensor<1x4x4x1xi32>
  %rhs = stablehlo.constant dense<1> : tensor<3x3x1x1xi32>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [4, 4], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x4x1xi32>, tensor<3x3x1x1xi32>) -> tensor<1x2x2x1xi32>
  check.expect_eq_const %result, dense<[[[[10], [26]], [[46], [62]]]]> : tensor<1x2x2x1xi32>
  return
}

func.func @feature_groups() {
  %lhs = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]> : tensor<1x3x2xf32>
  %rhs = stablehlo.constant dense<[[[1.0, 10.0]], [[2.0, 20.0]]]> : tensor<2x1x2xf32>
  %result = stablehlo.convolution(%lhs, %rhs) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {pad = [[1, 0]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x3x2xf32>, tensor<2x1x2xf32>) -> tensor<1x3x2xf32>
  check.expect_eq_const %result, dense<[[[1.0, 20.0], [5.0, 80.0], [11.0, 140.0]]]> : tensor<1x3x2xf32>
  return
}
