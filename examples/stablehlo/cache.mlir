// A cache of keys: a row is written at a place, and all are multiplied with a query
module @jit_kv {
  func.func public @main(%cache: tensor<1x2x8x4xbf16>, %new: tensor<1x2x1x4xbf16>, %pos: tensor<i32>, %q: tensor<1x2x1x4xbf16>) -> (tensor<1x2x8x4xbf16>, tensor<1x2x1x8xf32>) {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %cache, %new, %c0, %c0, %pos, %c0 : (tensor<1x2x8x4xbf16>, tensor<1x2x1x4xbf16>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8x4xbf16>
    %1 = stablehlo.dot_general %q, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x2x1x4xbf16>, tensor<1x2x8x4xbf16>) -> tensor<1x2x1x8xf32>
    return %0, %1 : tensor<1x2x8x4xbf16>, tensor<1x2x1x8xf32>
  }
}
