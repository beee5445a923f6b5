!q = !quant.uniform<i8:f32, 0.5:3>

// What moves elements moves the integers.
func.func @per_tensor() {
  %x = stablehlo.constant() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>} : () -> tensor<2x3x!q>
  %v = stablehlo.constant() {value = dense<9> : tensor<i8>} : () -> tensor<!q>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x!q>) -> tensor<3x2x!q>
  check.expect_eq_const %turned, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2x!q>
  %flat = stablehlo.reshape %x : (tensor<2x3x!q>) -> tensor<6x!q>
  check.expect_eq_const %flat, dense<[1, 2, 3, 4, 5, 6]> : tensor<6x!q>
  %back = stablehlo.reverse %flat, dims = [0] : tensor<6x!q>
  check.expect_eq_const %back, dense<[6, 5, 4, 3, 2, 1]> : tensor<6x!q>
  %part = stablehlo.slice %flat [1:6:2] : (tensor<6x!q>) -> tensor<3x!q>
  check.expect_eq_const %part, dense<[2, 4, 6]> : tensor<3x!q>
  %both = stablehlo.concatenate %part, %part, dim = 0 : (tensor<3x!q>, tensor<3x!q>) -> tensor<6x!q>
  check.expect_eq_const %both, dense<[2, 4, 6, 2, 4, 6]> : tensor<6x!q>
  %wide = stablehlo.pad %part, %v, low = [1], high = [-1], interior = [1] : (tensor<3x!q>, tensor<!q>) -> tensor<5x!q>
  check.expect_eq_const %wide, dense<[9, 2, 9, 4, 9]> : tensor<5x!q>
  %spread = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<!q>) -> tensor<2x!q>
  check.expect_eq_const %spread, dense<[9, 9]> : tensor<2x!q>
  %size = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3x!q>) -> tensor<i32>
  check.expect_eq_const %size, dense<3> : tensor<i32>
  return
}

func.func @by_indices() {
  %x = stablehlo.constant() {value = dense<[1, 2, 3, 4]> : tensor<4xi8>} : () -> tensor<4x!q>
  %u = stablehlo.constant() {value = dense<[8, 9]> : tensor<2xi8>} : () -> tensor<2x!q>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %part = stablehlo.dynamic_slice %x, %two, sizes = [2] : (tensor<4x!q>, tensor<i64>) -> tensor<2x!q>
  check.expect_eq_const %part, dense<[3, 4]> : tensor<2x!q>
  %new = stablehlo.dynamic_update_slice %x, %u, %two : (tensor<4x!q>, tensor<2x!q>, tensor<i64>) -> tensor<4x!q>
  check.expect_eq_const %new, dense<[1, 2, 8, 9]> : tensor<4x!q>
  %i = stablehlo.constant dense<[[3], [0]]> : tensor<2x1xi64>
  %taken = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>} : (tensor<4x!q>, tensor<2x1xi64>) -> tensor<2x!q>
  check.expect_eq_const %taken, dense<[4, 1]> : tensor<2x!q>
  return
}

// The quantized dimension moves with its elements.
func.func @per_axis() {
  %x = stablehlo.constant() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>} : () -> tensor<2x3x!quant.uniform<i8:f32:0, {1.0,0.5:2}>>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0,0.5:2}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0,0.5:2}>>
  %numbers = stablehlo.uniform_dequantize %turned : (tensor<3x2x!quant.uniform<i8:f32:1, {1.0,0.5:2}>>) -> tensor<3x2xf32>
  check.expect_eq_const %numbers, dense<[[1.0, 1.0], [2.0, 1.5], [3.0, 2.0]]> : tensor<3x2xf32>
  %cut = stablehlo.reshape %x : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0,0.5:2}>>) -> tensor<1x2x3x!quant.uniform<i8:f32:1, {1.0,0.5:2}>>
  check.expect_eq_const %cut, dense<[[[1, 2, 3], [4, 5, 6]]]> : tensor<1x2x3x!quant.uniform<i8:f32:1, {1.0,0.5:2}>>
  %y = stablehlo.constant() {value = dense<[[7]]> : tensor<1x1xi8>} : () -> tensor<1x1x!quant.uniform<i8:f32:0, {0.5:2}>>
  %spread = stablehlo.broadcast_in_dim %y, dims = [1, 0] : (tensor<1x1x!quant.uniform<i8:f32:0, {0.5:2}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5:2,0.5:2}>>
  check.expect_eq_const %spread, dense<7> : tensor<2x2x!quant.uniform<i8:f32:1, {0.5:2,0.5:2}>>
  return
}

func.func @bits() {
  %x = stablehlo.constant dense<[-1, 5]> : tensor<2xi8>
  %q = stablehlo.bitcast_convert %x : (tensor<2xi8>) -> tensor<2x!q>
  check.expect_eq_const %q, dense<[-1, 5]> : tensor<2x!q>
  %i = stablehlo.bitcast_convert %q : (tensor<2x!q>) -> tensor<2xi8>
  check.expect_eq_const %i, dense<[-1, 5]> : tensor<2xi8>
  %u = stablehlo.bitcast_convert %x : (tensor<2xi8>) -> tensor<2x!quant.uniform<u8:f32, 1.0>>
  %f = stablehlo.uniform_dequantize %u : (tensor<2x!quant.uniform<u8:f32, 1.0>>) -> tensor<2xf32>
  check.expect_eq_const %f, dense<[255.0, 5.0]> : tensor<2xf32>
  return
}
