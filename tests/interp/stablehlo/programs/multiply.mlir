func.func @integers_wrap() {
  %lhs = stablehlo.constant dense<[1, 100, -128]> : tensor<3xi8>
  %rhs = stablehlo.constant dense<[5, 3, -1]> : tensor<3xi8>
  %result = "stablehlo.multiply"(%lhs, %rhs) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[5, 44, -128]> : tensor<3xi8>
  return
}

func.func @booleans() {
  %lhs = stablehlo.constant dense<[true, true]> : tensor<2xi1>
  %rhs = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  %result = "stablehlo.multiply"(%lhs, %rhs) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[false, true]> : tensor<2xi1>
  return
}

func.func @floats() {
  %lhs = stablehlo.constant dense<[0.1, 0.0, 3.0e+38]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[3.0, 0x7F800000, 2.0]> : tensor<3xf32>
  %result = "stablehlo.multiply"(%lhs, %rhs) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[0.300000012, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  return
}

func.func @complex_numbers() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(3.0, 4.0)]> : tensor<1xcomplex<f64>>
  %result = "stablehlo.multiply"(%lhs, %rhs) : (tensor<1xcomplex<f64>>, tensor<1xcomplex<f64>>) -> tensor<1xcomplex<f64>>
  check.expect_eq_const %result, dense<[(-5.0, 10.0)]> : tensor<1xcomplex<f64>>
  return
}
