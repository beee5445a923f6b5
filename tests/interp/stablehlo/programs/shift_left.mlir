func.func @integers() {
  %lhs = stablehlo.constant dense<[-1, 0, 1, 1]> : tensor<4xi64>
  %rhs = stablehlo.constant dense<[1, 2, 3, 64]> : tensor<4xi64>
  %result = "stablehlo.shift_left"(%lhs, %rhs) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  check.expect_eq_const %result, dense<[-2, 0, 8, 0]> : tensor<4xi64>
  return
}
