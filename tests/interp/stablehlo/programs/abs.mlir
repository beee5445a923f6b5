func.func @integers() {
  %operand = stablehlo.constant dense<[-2, 0, 2, -128]> : tensor<4xi8>
  %result = "stablehlo.abs"(%operand) : (tensor<4xi8>) -> tensor<4xi8>
  check.expect_eq_const %result, dense<[2, 0, 2, -128]> : tensor<4xi8>
  return
}

func.func @floats() {
  %operand = stablehlo.constant dense<[-0.0, -1.5, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = "stablehlo.abs"(%operand) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[0.0, 1.5, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  return
}

func.func @complex_numbers() {
  %operand = stablehlo.constant dense<[(3.0, 4.0), (-5.0, 12.0)]> : tensor<2xcomplex<f32>>
  %result = "stablehlo.abs"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[5.0, 13.0]> : tensor<2xf32>
  return
}
