func.func @integers() {
  %operand = stablehlo.constant dense<[0, -2, -128]> : tensor<3xi8>
  %result = "stablehlo.negate"(%operand) : (tensor<3xi8>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[0, 2, -128]> : tensor<3xi8>
  return
}

func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, -1.5]> : tensor<2xf32>
  %result = "stablehlo.negate"(%operand) : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[-0.0, 1.5]> : tensor<2xf32>
  return
}

func.func @complex_numbers() {
  %operand = stablehlo.constant dense<[(2.5, 0.0)]> : tensor<1xcomplex<f32>>
  %result = "stablehlo.negate"(%operand) : (tensor<1xcomplex<f32>>) -> tensor<1xcomplex<f32>>
  check.expect_eq_const %result, dense<[(-2.5, -0.0)]> : tensor<1xcomplex<f32>>
  return
}

func.func @unsigned() {
  %operand = stablehlo.constant dense<[1, 0]> : tensor<2xui8>
  %result = "stablehlo.negate"(%operand) : (tensor<2xui8>) -> tensor<2xui8>
  check.expect_eq_const %result, dense<[255, 0]> : tensor<2xui8>
  return
}
