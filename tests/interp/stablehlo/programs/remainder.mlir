func.func @integers() {
  %lhs = stablehlo.constant dense<[17, -17, 17, -17, -128, 5]> : tensor<6xi8>
  %rhs = stablehlo.constant dense<[3, 3, -3, -3, -1, 0]> : tensor<6xi8>
  %result = "stablehlo.remainder"(%lhs, %rhs) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
  check.expect_eq_const %result, dense<[2, -2, 2, -2, 0, 5]> : tensor<6xi8>
  return
}

func.func @floats() {
  %lhs = stablehlo.constant dense<[17.1, -17.1, -6.0, 1.0, 1.0]> : tensor<5xf32>
  %rhs = stablehlo.constant dense<[3.0, 3.0, 3.0, 0.0, 0x7F800000]> : tensor<5xf32>
  %result = "stablehlo.remainder"(%lhs, %rhs) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  check.expect_eq_const %result, dense<[2.10000038, -2.10000038, -0.0, 0x7FC00000, 1.0]> : tensor<5xf32>
  return
}
