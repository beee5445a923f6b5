func.func @integers() {
  %operand = stablehlo.constant dense<[-7, 0, 5]> : tensor<3xi32>
  %result = "stablehlo.sign"(%operand) : (tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[-1, 0, 1]> : tensor<3xi32>
  return
}

func.func @floats() {
  %operand = stablehlo.constant dense<[0x7FC00000, -3.0, -0.0, 0.0, 0x7F800000]> : tensor<5xf32>
  %result = "stablehlo.sign"(%operand) : (tensor<5xf32>) -> tensor<5xf32>
  check.expect_eq_const %result, dense<[0x7FC00000, -1.0, -0.0, 0.0, 1.0]> : tensor<5xf32>
  return
}

func.func @complex_numbers() {
  %operand = stablehlo.constant dense<[(3.0, 4.0), (0.0, 0.0)]> : tensor<2xcomplex<f64>>
  %result = "stablehlo.sign"(%operand) : (tensor<2xcomplex<f64>>) -> tensor<2xcomplex<f64>>
  check.expect_eq_const %result, dense<[(0.6, 0.8), (0.0, 0.0)]> : tensor<2xcomplex<f64>>
  return
}
