// A product of quantized matrices
func.func @main(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %qx = stablehlo.uniform_quantize %x : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32, 0.05:-3>>
  %qw = stablehlo.uniform_quantize %w : (tensor<4x3xf32>) -> tensor<4x3x!quant.uniform<i8:f32, 0.02>>
  %q = stablehlo.dot_general %qx, %qw, contracting_dims = [1] x [0] : (tensor<2x4x!quant.uniform<i8:f32, 0.05:-3>>, tensor<4x3x!quant.uniform<i8:f32, 0.02>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.1:5>>
  %y = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<i8:f32, 0.1:5>>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
