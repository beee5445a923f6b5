func.func @along() {
  %rows = stablehlo.iota dim = 0 : tensor<3x2xi32>
  %columns = stablehlo.iota dim = 1 : tensor<3x2xi32>
  %floats = stablehlo.iota dim = 0 : tensor<3xbf16>
  %wrapped = stablehlo.iota dim = 0 : tensor<5xi2>
  check.expect_eq_const %rows, dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi32>
  check.expect_eq_const %columns, dense<[[0, 1], [0, 1], [0, 1]]> : tensor<3x2xi32>
  check.expect_eq_const %floats, dense<[0.0, 1.0, 2.0]> : tensor<3xbf16>
  check.expect_eq_const %wrapped, dense<[0, 1, -2, -1, 0]> : tensor<5xi2>
  return
}
