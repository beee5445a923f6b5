// Ridge regression: (x^T x + 1) w = x^T y, by Cholesky's decomposition and two triangular systems.
func.func @main(%x: tensor<40x6xf32>, %y: tensor<40x2xf32>) -> tensor<6x2xf32> {
  %gram = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<40x6xf32>, tensor<40x6xf32>) -> tensor<6x6xf32>
  %row = stablehlo.iota dim = 0 : tensor<6x6xi32>
  %column = stablehlo.iota dim = 1 : tensor<6x6xi32>
  %diagonal = stablehlo.compare EQ, %row, %column : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %one = stablehlo.convert %diagonal : (tensor<6x6xi1>) -> tensor<6x6xf32>
  %normal = stablehlo.add %gram, %one : tensor<6x6xf32>
  %sides = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<40x6xf32>, tensor<40x2xf32>) -> tensor<6x2xf32>
  %factor = stablehlo.cholesky %normal, lower = true : tensor<6x6xf32>
  %half = "stablehlo.triangular_solve"(%factor, %sides) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<6x6xf32>, tensor<6x2xf32>) -> tensor<6x2xf32>
  %weights = "stablehlo.triangular_solve"(%factor, %half) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<6x6xf32>, tensor<6x2xf32>) -> tensor<6x2xf32>
  return %weights : tensor<6x2xf32>
}
