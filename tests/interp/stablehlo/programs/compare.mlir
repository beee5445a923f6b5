func.func @eq() {
  %lhs = stablehlo.constant dense<[1.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[1.1, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare EQ, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  return
}

func.func @ne() {
  %lhs = stablehlo.constant dense<[1.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[1.1, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare NE, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  return
}

func.func @ge() {
  %lhs = stablehlo.constant dense<[1.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[1.1, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare GE, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  return
}

func.func @gt() {
  %lhs = stablehlo.constant dense<[1.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[1.1, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare GT, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, false, false]> : tensor<3xi1>
  return
}

func.func @le() {
  %lhs = stablehlo.constant dense<[1.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[1.1, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare LE, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, true, false]> : tensor<3xi1>
  return
}

func.func @lt() {
  %lhs = stablehlo.constant dense<[1.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[1.1, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  return
}

func.func @total_order() {
  %lhs = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFFC00000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0.0, 0x7FC00000, 0xFF800000]> : tensor<3xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, true, true]> : tensor<3xi1>
  return
}

func.func @unsigned() {
  %lhs = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[1, 255]> : tensor<2xui8>
  %result = stablehlo.compare GT, %lhs, %rhs, UNSIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  return
}

func.func @complex_numbers() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0), (1.0, 0.0)]> : tensor<2xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(1.0, 3.0), (0.0, 9.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.compare LT, %lhs, %rhs, FLOAT : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  return
}

func.func @total_order_of_doubles() {
  %lhs = stablehlo.constant dense<[-1.0, -2.0, 1.0, 0xFFF8000000000000]> : tensor<4xf64>
  %rhs = stablehlo.constant dense<[-2.0, -1.0, 2.0, 0xFFF0000000000000]> : tensor<4xf64>
  %result = stablehlo.compare LT, %lhs, %rhs, TOTALORDER : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, true, true]> : tensor<4xi1>
  return
}
