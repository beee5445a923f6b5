// softmax over the last dim
func.func @main(%x: tensor<5x33xf32>) -> tensor<5x33xf32> {
  %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%x init: %ninf) applies stablehlo.maximum across dimensions = [1] : (tensor<5x33xf32>, tensor<f32>) -> tensor<5xf32>
  %maxb = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<5xf32>) -> tensor<5x33xf32>
  %s = stablehlo.subtract %x, %maxb : tensor<5x33xf32>
  %e = stablehlo.exponential %s : tensor<5x33xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x33xf32>, tensor<f32>) -> tensor<5xf32>
  %sumb = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<5xf32>) -> tensor<5x33xf32>
  %r = stablehlo.divide %e, %sumb : tensor<5x33xf32>
  return %r : tensor<5x33xf32>
}
