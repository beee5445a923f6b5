func.func @integers() {
  %lhs = stablehlo.constant dense<[2, -2, 3, 0, 1, -1, 5]> : tensor<7xi64>
  %rhs = stablehlo.constant dense<[10, 3, 0, 0, -4, -3, -1]> : tensor<7xi64>
  %result = "stablehlo.power"(%lhs, %rhs) : (tensor<7xi64>, tensor<7xi64>) -> tensor<7xi64>
  check.expect_eq_const %result, dense<[1024, -8, 1, 1, 1, -1, 0]> : tensor<7xi64>
  return
}

func.func @floats() {
  %lhs = stablehlo.constant dense<[-2.0, -0.0, -36.0, 3.0, 1.0]> : tensor<5xf32>
  %rhs = stablehlo.constant dense<[2.0, 2.0, 1.5, -1.0, 0x7FC00000]> : tensor<5xf32>
  %result = "stablehlo.power"(%lhs, %rhs) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  check.expect_eq_const %result, dense<[4.0, 0.0, 0x7FC00000, 0.333333343, 1.0]> : tensor<5xf32>
  return
}
