func.func @batches() {
  %lhs = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %rhs = stablehlo.constant dense<[[[1, 0], [0, 1]], [[0, 1], [1, 0]]]> : tensor<2x2x2xi32>
  %result = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %result, dense<[[[1, 2], [3, 4]], [[6, 5], [8, 7]]]> : tensor<2x2x2xi32>
  return
}

func.func @rounded_once() {
  %lhs = stablehlo.constant dense<[1.0e+8, 1.0, -1.0e+8]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[1.0, 0.25, 1.0]> : tensor<3xf32>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  check.expect_eq_const %result, dense<0.25> : tensor<f32>
  return
}

func.func @wider_result() {
  %lhs = stablehlo.constant dense<[100, 100]> : tensor<2xi8>
  %rhs = stablehlo.constant dense<[100, 100]> : tensor<2xi8>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0] : (tensor<2xi8>, tensor<2xi8>) -> tensor<i32>
  %outer = stablehlo.dot_general %lhs, %rhs, contracting_dims = [] x [] : (tensor<2xi8>, tensor<2xi8>) -> tensor<2x2xi8>
  check.expect_eq_const %result, dense<20000> : tensor<i32>
  check.expect_eq_const %outer, dense<16> : tensor<2x2xi8>
  return
}

func.func @complex_numbers() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(3.0, 4.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [0] : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<complex<f32>>
  check.expect_eq_const %result, dense<(-6.0, 10.0)> : tensor<complex<f32>>
  return
}
