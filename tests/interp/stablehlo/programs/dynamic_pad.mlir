func.func @around() {
  %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %value = stablehlo.constant dense<0> : tensor<i32>
  %low = stablehlo.constant dense<[1]> : tensor<1xi64>
  %high = stablehlo.constant dense<[0]> : tensor<1xi64>
  %interior = stablehlo.constant dense<[1]> : tensor<1xi64>
  %result = stablehlo.dynamic_pad %operand, %value, %low, %high, %interior : (tensor<2xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi32>
  check.expect_eq_const %result, dense<[0, 1, 0, 2]> : tensor<4xi32>
  return
}
