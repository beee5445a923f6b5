func.func @complex_numbers() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %result = "stablehlo.real"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[1.0, 3.0]> : tensor<2xf32>
  return
}

func.func @floats() {
  %operand = stablehlo.constant dense<[1.0]> : tensor<1xf16>
  %result = "stablehlo.real"(%operand) : (tensor<1xf16>) -> tensor<1xf16>
  check.expect_eq_const %result, dense<[1.0]> : tensor<1xf16>
  return
}
