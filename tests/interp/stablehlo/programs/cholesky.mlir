func.func @lower() {
  %a = stablehlo.constant dense<[[4.0, 0.0, 0.0], [2.0, 10.0, 0.0], [6.0, 9.0, 22.0]]> : tensor<3x3xf32>
  %result = "stablehlo.cholesky"(%a) {lower = true} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  check.expect_eq_const %result, dense<[[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [3.0, 2.0, 3.0]]> : tensor<3x3xf32>
  return
}

func.func @upper_complex() {
  %a = stablehlo.constant dense<[[(4.0, 0.0), (0.0, 2.0)], [(7.0, 7.0), (10.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %result = "stablehlo.cholesky"(%a) {lower = false} : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %real = stablehlo.real %result : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
  %imag = stablehlo.imag %result : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
  check.expect_eq_const %real, dense<[[2.0, 0.0], [0.0, 3.0]]> : tensor<2x2xf64>
  return
}
