func.func @floats() {
  %lhs = stablehlo.constant dense<[1.0, -0.0, 0.0, 0x7FC00000, 2.0]> : tensor<5xf32>
  %rhs = stablehlo.constant dense<[2.0, 0.0, -0.0, 1.0, 0x7FC00000]> : tensor<5xf32>
  %result = "stablehlo.maximum"(%lhs, %rhs) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  check.expect_eq_const %result, dense<[2.0, 0.0, 0.0, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>
  return
}

func.func @booleans() {
  %lhs = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  %rhs = stablehlo.constant dense<[false, false]> : tensor<2xi1>
  %result = "stablehlo.maximum"(%lhs, %rhs) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[false, true]> : tensor<2xi1>
  return
}

func.func @complex_numbers() {
  %lhs = stablehlo.constant dense<[(1.0, 5.0), (2.0, 0.0)]> : tensor<2xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(1.0, 6.0), (1.0, 9.0)]> : tensor<2xcomplex<f32>>
  %result = "stablehlo.maximum"(%lhs, %rhs) : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.0, 6.0), (2.0, 0.0)]> : tensor<2xcomplex<f32>>
  return
}

func.func @unsigned() {
  %lhs = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[1, 2]> : tensor<2xui8>
  %result = "stablehlo.maximum"(%lhs, %rhs) : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  check.expect_eq_const %result, dense<[255, 2]> : tensor<2xui8>
  return
}
