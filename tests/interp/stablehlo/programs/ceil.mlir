func.func @floats() {
  %operand = stablehlo.constant dense<[-0.8166, -0.0, 0.253, 2.0, 0xFF800000]> : tensor<5xf32>
  %result = "stablehlo.ceil"(%operand) : (tensor<5xf32>) -> tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, -0.0, 1.0, 2.0, 0xFF800000]> : tensor<5xf32>
  return
}
