// A scan: a loop that reads and writes rows
module @jit_scan {
  func.func public @main(%xs: tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x3xf32>) {
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %init = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %ys0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %xs, %iterArg_2 = %c, %iterArg_3 = %init, %iterArg_4 = %ys0) : tensor<5x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5x3xf32>
    cond {
      %c5 = stablehlo.constant dense<5> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_2, %c5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c0 = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.dynamic_slice %iterArg, %iterArg_2, %c0, sizes = [1, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x3xf32>) -> tensor<3xf32>
      %3:2 = func.call @body(%iterArg_3, %2) : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      %4 = stablehlo.broadcast_in_dim %3#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %5 = stablehlo.dynamic_update_slice %iterArg_4, %4, %iterArg_2, %c0 : (tensor<5x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x3xf32>
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg_2, %c1 : tensor<i32>
      stablehlo.return %iterArg, %6, %3#0, %5 : tensor<5x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5x3xf32>
    }
    return %0#2, %0#3 : tensor<3xf32>, tensor<5x3xf32>
  }
  func.func private @body(%c: tensor<3xf32>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.tanh %x : tensor<3xf32>
    %1 = stablehlo.add %c, %0 : tensor<3xf32>
    return %1, %1 : tensor<3xf32>, tensor<3xf32>
  }
}
