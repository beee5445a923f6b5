func.func @tokens() {
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t, %t : !stablehlo.token
  %result:2 = stablehlo.optimization_barrier %u, %a : !stablehlo.token, tensor<f32>
  check.expect_eq_const %result#1, dense<1.0> : tensor<f32>
  return
}
