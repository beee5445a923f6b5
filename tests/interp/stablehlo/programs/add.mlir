func.func @integers_wrap() {
  %lhs = stablehlo.constant dense<[0, 15, 200]> : tensor<3xui8>
  %rhs = stablehlo.constant dense<[15, 3, 100]> : tensor<3xui8>
  %result = "stablehlo.add"(%lhs, %rhs) : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  check.expect_eq_const %result, dense<[15, 18, 44]> : tensor<3xui8>
  return
}

func.func @booleans() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = "stablehlo.add"(%lhs, %rhs) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, true, true]> : tensor<4xi1>
  return
}

func.func @floats() {
  %lhs = stablehlo.constant dense<[0.1, 1.0e+38, -0.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0.2, 3.0e+38, -0.0]> : tensor<3xf32>
  %result = "stablehlo.add"(%lhs, %rhs) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[0.3, 0x7F800000, -0.0]> : tensor<3xf32>
  return
}

func.func @complex_numbers() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(3.0, -5.0)]> : tensor<1xcomplex<f64>>
  %result = "stablehlo.add"(%lhs, %rhs) : (tensor<1xcomplex<f64>>, tensor<1xcomplex<f64>>) -> tensor<1xcomplex<f64>>
  check.expect_eq_const %result, dense<[(4.0, -3.0)]> : tensor<1xcomplex<f64>>
  return
}

func.func @four_bits() {
  %lhs = stablehlo.constant dense<[7, -8]> : tensor<2xi4>
  %rhs = stablehlo.constant dense<[1, -1]> : tensor<2xi4>
  %result = "stablehlo.add"(%lhs, %rhs) : (tensor<2xi4>, tensor<2xi4>) -> tensor<2xi4>
  check.expect_eq_const %result, dense<[-8, 7]> : tensor<2xi4>
  return
}

func.func @two_bits() {
  %lhs = stablehlo.constant dense<[1, 1, -2]> : tensor<3xi2>
  %rhs = stablehlo.constant dense<[1, -1, -1]> : tensor<3xi2>
  %result = "stablehlo.add"(%lhs, %rhs) : (tensor<3xi2>, tensor<3xi2>) -> tensor<3xi2>
  check.expect_eq_const %result, dense<[-2, 0, 1]> : tensor<3xi2>
  return
}

func.func @bfloat16_ties_to_even() {
  %lhs = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xbf16>
  %rhs = stablehlo.constant dense<[0.00390625, 0.01171875]> : tensor<2xbf16>
  %result = "stablehlo.add"(%lhs, %rhs) : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  check.expect_eq_const %result, dense<[1.0, 1.015625]> : tensor<2xbf16>
  return
}

func.func @eight_bit_floats() {
  %lhs = stablehlo.constant dense<[16.0, 448.0]> : tensor<2xf8E4M3FN>
  %rhs = stablehlo.constant dense<[1.0, 448.0]> : tensor<2xf8E4M3FN>
  %result = "stablehlo.add"(%lhs, %rhs) : (tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  check.expect_eq_const %result, dense<[16.0, 0x7F]> : tensor<2xf8E4M3FN>
  return
}
