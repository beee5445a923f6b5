// Gradients of a convolution and of a maximum over windows
module {
  func.func @main(%x: tensor<1x6x6x2xf32>, %k: tensor<3x3x2x3xf32>, %g: tensor<1x3x3x3xf32>) -> (tensor<1x6x6x3xf32>, tensor<3x3x2x3xf32>) {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x6x6x3xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = "stablehlo.select_and_scatter"(%0, %g, %z) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<1x6x6x3xf32>, tensor<1x3x3x3xf32>, tensor<f32>) -> tensor<1x6x6x3xf32>
    %2 = stablehlo.convolution(%x, %1) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x2xf32>, tensor<1x6x6x3xf32>) -> tensor<3x3x2x3xf32>
    return %1, %2 : tensor<1x6x6x3xf32>, tensor<3x3x2x3xf32>
  }
}
