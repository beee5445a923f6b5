func.func @floats() {
  %operand = stablehlo.constant dense<[0.0, 1.0, 88.8, 0xFF800000]> : tensor<4xf32>
  %result = "stablehlo.exponential"(%operand) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %result, dense<[1.0, 2.71828175, 0x7F800000, 0.0]> : tensor<4xf32>
  return
}

func.func @doubles() {
  %operand = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %result = "stablehlo.exponential"(%operand) : (tensor<3xf64>) -> tensor<3xf64>
  check.expect_eq_const %result, dense<[2.718281828459045, 7.38905609893065, 20.085536923187668]> : tensor<3xf64>
  return
}
