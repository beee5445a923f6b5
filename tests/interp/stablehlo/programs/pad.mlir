func.func @around_and_between() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %value = stablehlo.constant dense<0> : tensor<i32>
  %result = stablehlo.pad %operand, %value, low = [0, 1], high = [2, 1], interior = [1, 2] : (tensor<2x3xi32>, tensor<i32>) -> tensor<5x9xi32>
  check.expect_eq_const %result, dense<[[0, 1, 0, 0, 2, 0, 0, 3, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 4, 0, 0, 5, 0, 0, 6, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<5x9xi32>
  return
}

func.func @negative() {
  %operand = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %value = stablehlo.constant dense<9> : tensor<i32>
  %result = stablehlo.pad %operand, %value, low = [-1], high = [-1], interior = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[9, 2, 9]> : tensor<3xi32>
  return
}
