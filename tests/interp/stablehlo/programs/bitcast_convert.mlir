func.func @narrower() {
  %operand = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %result = "stablehlo.bitcast_convert"(%operand) : (tensor<2xf32>) -> tensor<2x4xi8>
  check.expect_eq_const %result, dense<[[0, 0, 0, 0], [0, 0, -128, 63]]> : tensor<2x4xi8>
  return
}

func.func @wider() {
  %operand = stablehlo.constant dense<[[0, 0, -128, 63]]> : tensor<1x4xi8>
  %result = "stablehlo.bitcast_convert"(%operand) : (tensor<1x4xi8>) -> tensor<1xf32>
  check.expect_eq_const %result, dense<[1.0]> : tensor<1xf32>
  return
}

func.func @same() {
  %operand = stablehlo.constant dense<[-1.0, 0x7FC00000]> : tensor<2xf32>
  %result = "stablehlo.bitcast_convert"(%operand) : (tensor<2xf32>) -> tensor<2xui32>
  check.expect_eq_const %result, dense<[3212836864, 2143289344]> : tensor<2xui32>
  return
}

func.func @four_bits() {
  %operand = stablehlo.constant dense<[-128, 31]> : tensor<2xi8>
  %result = "stablehlo.bitcast_convert"(%operand) : (tensor<2xi8>) -> tensor<2x2xi4>
  check.expect_eq_const %result, dense<[[0, -8], [-1, 1]]> : tensor<2x2xi4>
  return
}
