func.func @nothing_is_drawn() {
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
  %result = stablehlo.rng %a, %b, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x0xf32>
  check.expect_eq_const %result, dense<> : tensor<2x0xf32>
  return
}
func.func @one_number() {
  %a = stablehlo.constant dense<7> : tensor<i8>
  %b = stablehlo.constant dense<8> : tensor<i8>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %d = stablehlo.constant dense<0x00000001> : tensor<f32>
  %e = stablehlo.constant dense<false> : tensor<i1>
  %f = stablehlo.constant dense<true> : tensor<i1>
  %shape = stablehlo.constant dense<[2]> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<i8>, tensor<i8>, tensor<1xi64>) -> tensor<2xi8>
  %1 = stablehlo.rng %c, %d, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  %2 = stablehlo.rng %e, %f, %shape, distribution = UNIFORM : (tensor<i1>, tensor<i1>, tensor<1xi64>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<7> : tensor<2xi8>
  check.expect_eq_const %1, dense<0.0> : tensor<2xf32>
  check.expect_eq_const %2, dense<false> : tensor<2xi1>
  return
}
