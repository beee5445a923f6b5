func.func @identity() {
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %result:2 = stablehlo.optimization_barrier %a, %b : tensor<f32>, tensor<2xi32>
  check.expect_eq_const %result#0, dense<1.0> : tensor<f32>
  check.expect_eq_const %result#1, dense<[2, 3]> : tensor<2xi32>
  return
}
