func.func @integers_wrap() {
  %operand = stablehlo.constant dense<[1, -1, 300]> : tensor<3xi32>
  %result = "stablehlo.convert"(%operand) : (tensor<3xi32>) -> tensor<3xui8>
  check.expect_eq_const %result, dense<[1, 255, 44]> : tensor<3xui8>
  return
}

func.func @to_complex() {
  %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %result = "stablehlo.convert"(%operand) : (tensor<2xi32>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.0, 0.0), (2.0, 0.0)]> : tensor<2xcomplex<f32>>
  return
}

func.func @floats_to_integers() {
  %operand = stablehlo.constant dense<[-1.9, 3.0e+9, 0x7FC00000, -1.0e+30]> : tensor<4xf32>
  %result = "stablehlo.convert"(%operand) : (tensor<4xf32>) -> tensor<4xi32>
  check.expect_eq_const %result, dense<[-1, 2147483647, 0, -2147483648]> : tensor<4xi32>
  return
}

func.func @once() {
  %operand = stablehlo.constant dense<[1.00390625000001, 1.0117187499]> : tensor<2xf64>
  %result = "stablehlo.convert"(%operand) : (tensor<2xf64>) -> tensor<2xbf16>
  check.expect_eq_const %result, dense<[1.0078125, 1.0078125]> : tensor<2xbf16>
  return
}

func.func @to_booleans() {
  %operand = stablehlo.constant dense<[0.0, -0.0, 0.5]> : tensor<3xf32>
  %result = "stablehlo.convert"(%operand) : (tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, false, true]> : tensor<3xi1>
  return
}

func.func @complex_to_booleans() {
  %operand = stablehlo.constant dense<[(0.0, 0.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %result = "stablehlo.convert"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[false, true]> : tensor<2xi1>
  return
}
