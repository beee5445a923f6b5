func.func @integers_toward_zero() {
  %lhs = stablehlo.constant dense<[17, -17, 17, -17, -128, 5]> : tensor<6xi8>
  %rhs = stablehlo.constant dense<[3, 3, -3, -3, -1, 0]> : tensor<6xi8>
  %result = "stablehlo.divide"(%lhs, %rhs) : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi8>
  check.expect_eq_const %result, dense<[5, -5, -5, 5, -128, -1]> : tensor<6xi8>
  return
}

func.func @unsigned() {
  %lhs = stablehlo.constant dense<[255, 7]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[16, 0]> : tensor<2xui8>
  %result = "stablehlo.divide"(%lhs, %rhs) : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  check.expect_eq_const %result, dense<[15, 255]> : tensor<2xui8>
  return
}

func.func @floats() {
  %lhs = stablehlo.constant dense<[17.1, 1.0, -1.0, 0.0]> : tensor<4xf32>
  %rhs = stablehlo.constant dense<[3.0, 0.0, 0.0, 0.0]> : tensor<4xf32>
  %result = "stablehlo.divide"(%lhs, %rhs) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[5.70000029, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  return
}

func.func @complex_numbers() {
  %lhs = stablehlo.constant dense<[(1.0, 1.0)]> : tensor<1xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(0.0, 1.0)]> : tensor<1xcomplex<f32>>
  %result = "stablehlo.divide"(%lhs, %rhs) : (tensor<1xcomplex<f32>>, tensor<1xcomplex<f32>>) -> tensor<1xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.0, -1.0)]> : tensor<1xcomplex<f32>>
  return
}
