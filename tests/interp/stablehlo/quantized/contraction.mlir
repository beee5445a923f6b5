!q = !quant.uniform<i8:f32, 0.5:3>
!w = !quant.uniform<i8:f32, 0.5>
!v = !quant.uniform<i8:f32, 0.25>

// Halves of [2, 4] and [2, -4], products summed: (1 * 1) + (2 * -2) = -3.
func.func @dot_general() {
  %x = stablehlo.constant() {value = dense<[5, 7]> : tensor<2xi8>} : () -> tensor<2x!q>
  %y = stablehlo.constant() {value = dense<[2, -4]> : tensor<2xi8>} : () -> tensor<2x!w>
  %product = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<2x!q>, tensor<2x!w>) -> tensor<!quant.uniform<i32:f32, 0.25>>
  check.expect_eq_const %product, dense<-12> : tensor<!quant.uniform<i32:f32, 0.25>>
  %narrow = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<2x!q>, tensor<2x!w>) -> tensor<!q>
  check.expect_eq_const %narrow, dense<-3> : tensor<!q>
  return
}

// A scale for each column of rhs, and of the result.
func.func @dot_general_per_axis() {
  %x = stablehlo.constant() {value = dense<[[5, 7]]> : tensor<1x2xi8>} : () -> tensor<1x2x!q>
  %y = stablehlo.constant() {value = dense<[[1, 1], [2, 2]]> : tensor<2x2xi8>} : () -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0,0.5}>>
  %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<1x2x!q>, tensor<2x2x!quant.uniform<i8:f32:1, {1.0,0.5}>>) -> tensor<1x2x!quant.uniform<i32:f32:1, {0.5,0.25}>>
  check.expect_eq_const %product, dense<[[10, 10]]> : tensor<1x2x!quant.uniform<i32:f32:1, {0.5,0.25}>>
  return
}

// Weights alone are quantized.
func.func @hybrid() {
  %x = stablehlo.constant dense<[1.0, 0.3]> : tensor<2xf32>
  %y = stablehlo.constant() {value = dense<[2, -4]> : tensor<2xi8>} : () -> tensor<2x!w>
  %product = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2x!w>) -> tensor<f32>
  check.expect_eq_const %product, dense<0.39999998> : tensor<f32>
  return
}

// Padding is the number 0, which the zero point 3 stands for.
func.func @convolution() {
  %x = stablehlo.constant() {value = dense<[[[5], [7]]]> : tensor<1x2x1xi8>} : () -> tensor<1x2x1x!q>
  %y = stablehlo.constant() {value = dense<[[[2]], [[-4]]]> : tensor<2x1x1xi8>} : () -> tensor<2x1x1x!w>
  %sums = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1x!q>, tensor<2x1x1x!w>) -> tensor<1x3x1x!quant.uniform<i32:f32, 0.25>>
  check.expect_eq_const %sums, dense<[[[-8], [-12], [8]]]> : tensor<1x3x1x!quant.uniform<i32:f32, 0.25>>
  return
}

func.func @convolution_per_axis_and_hybrid() {
  %x = stablehlo.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %y = stablehlo.constant() {value = dense<[[[2, 2]], [[-4, 3]]]> : tensor<2x1x2xi8>} : () -> tensor<2x1x2x!quant.uniform<i8:f32:2, {0.5,1.0:1}>>
  %sums = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xf32>, tensor<2x1x2x!quant.uniform<i8:f32:2, {0.5,1.0:1}>>) -> tensor<1x1x2xf32>
  check.expect_eq_const %sums, dense<[[[-3.0, 5.0]]]> : tensor<1x1x2xf32>
  return
}

// The matrix [[1, 0], [2, 4]] of a = [[1, 2], [2, 20]], in halves.
func.func @cholesky() {
  %a = stablehlo.constant() {value = dense<[[5, 7], [7, 43]]> : tensor<2x2xi8>} : () -> tensor<2x2x!q>
  %factor = stablehlo.cholesky %a, lower = true : tensor<2x2x!q>
  check.expect_eq_const %factor, dense<[[5, 3], [7, 11]]> : tensor<2x2x!q>
  return
}

// (operand - mean) / sqrt(1), twice as large, and 1 more.
func.func @batch_norm() {
  %x = stablehlo.constant() {value = dense<[[3], [7]]> : tensor<2x1xi8>} : () -> tensor<2x1x!q>
  %scale = stablehlo.constant() {value = dense<[7]> : tensor<1xi8>} : () -> tensor<1x!q>
  %one = stablehlo.constant() {value = dense<[5]> : tensor<1xi8>} : () -> tensor<1x!q>
  %y = "stablehlo.batch_norm_inference"(%x, %scale, %one, %one, %one) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x1x!q>, tensor<1x!q>, tensor<1x!q>, tensor<1x!q>, tensor<1x!q>) -> tensor<2x1x!q>
  check.expect_eq_const %y, dense<[[1], [9]]> : tensor<2x1x!q>
  %z, %mean, %variance = "stablehlo.batch_norm_training"(%x, %scale, %one) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x1x!q>, tensor<1x!q>, tensor<1x!q>) -> (tensor<2x1x!q>, tensor<1x!v>, tensor<1x!q>)
  check.expect_eq_const %z, dense<[[1], [9]]> : tensor<2x1x!q>
  check.expect_eq_const %mean, dense<[4]> : tensor<1x!v>
  check.expect_eq_const %variance, dense<[5]> : tensor<1x!q>
  return
}
