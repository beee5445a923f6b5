// RMS norm and rotary embedding by complex numbers, of bfloat16
module {
  func.func @main(%x: tensor<2x4x8xbf16>, %w: tensor<8xbf16>, %f: tensor<4x4xcomplex<f32>>) -> tensor<2x4x8xbf16> {
    %xf = stablehlo.convert %x : (tensor<2x4x8xbf16>) -> tensor<2x4x8xf32>
    %sq = stablehlo.multiply %xf, %xf : tensor<2x4x8xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%sq init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
    %n = stablehlo.constant dense<8.0> : tensor<2x4xf32>
    %m = stablehlo.divide %s, %n : tensor<2x4xf32>
    %e = stablehlo.constant dense<1.0e-6> : tensor<2x4xf32>
    %me = stablehlo.add %m, %e : tensor<2x4xf32>
    %r = stablehlo.rsqrt %me : tensor<2x4xf32>
    %rb = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x8xf32>
    %y = stablehlo.multiply %xf, %rb : tensor<2x4x8xf32>
    %p = stablehlo.reshape %y : (tensor<2x4x8xf32>) -> tensor<2x4x4x2xf32>
    %re4 = stablehlo.slice %p [0:2, 0:4, 0:4, 0:1] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x1xf32>
    %im4 = stablehlo.slice %p [0:2, 0:4, 0:4, 1:2] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x1xf32>
    %re = stablehlo.reshape %re4 : (tensor<2x4x4x1xf32>) -> tensor<2x4x4xf32>
    %im = stablehlo.reshape %im4 : (tensor<2x4x4x1xf32>) -> tensor<2x4x4xf32>
    %c = stablehlo.complex %re, %im : tensor<2x4x4xcomplex<f32>>
    %fb = stablehlo.broadcast_in_dim %f, dims = [1, 2] : (tensor<4x4xcomplex<f32>>) -> tensor<2x4x4xcomplex<f32>>
    %cr = stablehlo.multiply %c, %fb : tensor<2x4x4xcomplex<f32>>
    %ore = stablehlo.real %cr : (tensor<2x4x4xcomplex<f32>>) -> tensor<2x4x4xf32>
    %oim = stablehlo.imag %cr : (tensor<2x4x4xcomplex<f32>>) -> tensor<2x4x4xf32>
    %ore4 = stablehlo.reshape %ore : (tensor<2x4x4xf32>) -> tensor<2x4x4x1xf32>
    %oim4 = stablehlo.reshape %oim : (tensor<2x4x4xf32>) -> tensor<2x4x4x1xf32>
    %cat = stablehlo.concatenate %ore4, %oim4, dim = 3 : (tensor<2x4x4x1xf32>, tensor<2x4x4x1xf32>) -> tensor<2x4x4x2xf32>
    %o = stablehlo.reshape %cat : (tensor<2x4x4x2xf32>) -> tensor<2x4x8xf32>
    %ob = stablehlo.convert %o : (tensor<2x4x8xf32>) -> tensor<2x4x8xbf16>
    %wb = stablehlo.broadcast_in_dim %w, dims = [2] : (tensor<8xbf16>) -> tensor<2x4x8xbf16>
    %out = stablehlo.multiply %ob, %wb : tensor<2x4x8xbf16>
    return %out : tensor<2x4x8xbf16>
  }
}
