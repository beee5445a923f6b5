func.func @parts() {
  %lhs = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[2.0, -0.0]> : tensor<2xf32>
  %result = "stablehlo.complex"(%lhs, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.0, 2.0), (3.0, -0.0)]> : tensor<2xcomplex<f32>>
  return
}
