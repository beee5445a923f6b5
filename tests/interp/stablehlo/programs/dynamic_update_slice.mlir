func.func @moved_inward() {
  %operand = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %update = stablehlo.constant dense<[[8, 9]]> : tensor<1x2xi32>
  %i = stablehlo.constant dense<7> : tensor<i64>
  %j = stablehlo.constant dense<-3> : tensor<i64>
  %result = stablehlo.dynamic_update_slice %operand, %update, %i, %j : (tensor<3x2xi32>, tensor<1x2xi32>, tensor<i64>, tensor<i64>) -> tensor<3x2xi32>
  check.expect_eq_const %result, dense<[[1, 2], [3, 4], [8, 9]]> : tensor<3x2xi32>
  return
}
