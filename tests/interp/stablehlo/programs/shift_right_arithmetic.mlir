func.func @integers() {
  %lhs = stablehlo.constant dense<[-1, 0, 8, -8]> : tensor<4xi64>
  %rhs = stablehlo.constant dense<[1, 2, 3, 99]> : tensor<4xi64>
  %result = "stablehlo.shift_right_arithmetic"(%lhs, %rhs) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  check.expect_eq_const %result, dense<[-1, 0, 1, -1]> : tensor<4xi64>
  return
}
