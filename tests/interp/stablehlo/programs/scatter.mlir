func.func @added() {
  %input = stablehlo.constant dense<[[[1, 2], [3, 4], [5, 6], [7, 8]], [[9, 10], [11, 12], [13, 14], [15, 16]], [[17, 18], [19, 20], [21, 22], [23, 24]]]> : tensor<3x4x2xi32>
  %indices = stablehlo.constant dense<[[[0, 2], [1, 0], [2, 1]], [[0, 1], [1, 0], [2, 0]]]> : tensor<2x3x2xi64>
  %update = stablehlo.constant dense<1> : tensor<2x3x2x2xi32>
  %result = "stablehlo.scatter"(%input, %indices, %update) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>,
    indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi64>, tensor<2x3x2x2xi32>) -> tensor<3x4x2xi32>
  check.expect_eq_const %result, dense<[[[1, 2], [5, 6], [8, 9], [8, 9]], [[10, 11], [12, 13], [14, 15], [16, 17]], [[18, 19], [20, 21], [21, 22], [23, 24]]]> : tensor<3x4x2xi32>
  return
}

func.func @out_of_bounds_left_out_and_in_order() {
  %input = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %indices = stablehlo.constant dense<[[1], [-1], [3], [1]]> : tensor<4x1xi64>
  %update = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %result = "stablehlo.scatter"(%input, %indices, %update) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %two = stablehlo.constant dense<2> : tensor<i32>
      %d = stablehlo.multiply %a, %two : tensor<i32>
      %c = stablehlo.subtract %d, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
    index_vector_dim = 1>} : (tensor<3xi32>, tensor<4x1xi64>, tensor<4xi32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[10, 74, 30]> : tensor<3xi32>
  return
}

// The region works in a wider type, in which the elements are taken, and the results are.
func.func @in_a_wider_type() {
  %input = stablehlo.constant dense<[100, -100]> : tensor<2xi8>
  %indices = stablehlo.constant dense<[[0], [0]]> : tensor<2x1xi64>
  %updates = stablehlo.constant dense<[100, 100]> : tensor<2xi8>
  %result = "stablehlo.scatter"(%input, %indices, %updates) ({
  ^bb0(%a: tensor<i16>, %b: tensor<i16>):
    %c = stablehlo.add %a, %b : tensor<i16>
    stablehlo.return %c : tensor<i16>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<2xi8>, tensor<2x1xi64>, tensor<2xi8>) -> tensor<2xi16>
  check.expect_eq_const %result, dense<[300, -100]> : tensor<2xi16>
  return
}
