func.func @quadrants() {
  %lhs = stablehlo.constant dense<[0.0, 1.0, -1.0, 0.0, -0.0]> : tensor<5xf64>
  %rhs = stablehlo.constant dense<[0.0, 0.0, 0.0, -1.0, -1.0]> : tensor<5xf64>
  %result = "stablehlo.atan2"(%lhs, %rhs) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
  check.expect_eq_const %result, dense<[0.0, 1.5707963267948966, -1.5707963267948966, 3.141592653589793, -3.141592653589793]> : tensor<5xf64>
  return
}
