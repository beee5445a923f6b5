func.func @features() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf32>
  %scale = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %mean = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %variance = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %grad = stablehlo.constant dense<0.25> : tensor<2x2x2xf32>
  %result:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %result#0, dense<0.0> : tensor<2x2x2xf32>
  check.expect_eq_const %result#1, dense<[0.0, 0.0]> : tensor<2xf32>
  check.expect_eq_const %result#2, dense<[1.0, 1.0]> : tensor<2xf32>
  return
}
