func.func @each() {
  %min = stablehlo.constant dense<[5, 10, 15]> : tensor<3xi32>
  %operand = stablehlo.constant dense<[3, 13, 23]> : tensor<3xi32>
  %max = stablehlo.constant dense<[10, 15, 20]> : tensor<3xi32>
  %result = stablehlo.clamp %min, %operand, %max : tensor<3xi32>
  check.expect_eq_const %result, dense<[5, 13, 20]> : tensor<3xi32>
  return
}

func.func @scalars_and_nan() {
  %min = stablehlo.constant dense<1.0> : tensor<f32>
  %operand = stablehlo.constant dense<[0.0, 0x7FC00000, 9.0]> : tensor<3xf32>
  %max = stablehlo.constant dense<4.0> : tensor<f32>
  %result = stablehlo.clamp %min, %operand, %max : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[1.0, 0x7FC00000, 4.0]> : tensor<3xf32>
  return
}
