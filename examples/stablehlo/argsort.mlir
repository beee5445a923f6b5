// The order of rows, as JAX exports argsort: zeros of both signs are equal, NaN comes last
module @jit_argsort {
  func.func public @main(%arg0: tensor<3x7xf32>) -> (tensor<3x7xf32>, tensor<3x7xi32>) {
    %0 = stablehlo.iota dim = 1 : tensor<3x7xi32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %cst = stablehlo.constant dense<0.0> : tensor<f32>
      %z = stablehlo.compare EQ, %a, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %x = stablehlo.select %z, %cst, %a : tensor<i1>, tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %ne = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %xx = stablehlo.select %ne, %nan, %x : tensor<i1>, tensor<f32>
      %z2 = stablehlo.compare EQ, %b, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %y = stablehlo.select %z2, %cst, %b : tensor<i1>, tensor<f32>
      %ne2 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %yy = stablehlo.select %ne2, %nan, %y : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %xx, %yy, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<3x7xf32>, tensor<3x7xi32>) -> (tensor<3x7xf32>, tensor<3x7xi32>)
    return %1#0, %1#1 : tensor<3x7xf32>, tensor<3x7xi32>
  }
}
