func.func @sizes() {
  %operand = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %indices = stablehlo.constant dense<[[1], [3]]> : tensor<2x1xi64>
  %sizes = stablehlo.constant dense<[2]> : tensor<1xi64>
  %result = "stablehlo.dynamic_gather"(%operand, %indices, %sizes) {dimension_numbers = #stablehlo.gather<offset_dims = [1],
    start_index_map = [0], index_vector_dim = 1>} : (tensor<4xi32>, tensor<2x1xi64>, tensor<1xi64>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[2, 3], [3, 4]]> : tensor<2x2xi32>
  return
}
