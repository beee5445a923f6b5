func.func @products() {
  %lhs = stablehlo.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
  %rhs = stablehlo.constant dense<[[4, 5], [6, 7]]> : tensor<2x2xi64>
  %result = "stablehlo.map"(%lhs, %rhs) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %c = stablehlo.multiply %a, %b : tensor<i64>
      stablehlo.return %c : tensor<i64>
  }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %result, dense<[[0, 5], [12, 21]]> : tensor<2x2xi64>
  return
}

func.func @regions_that_are_not_elementwise() {
  %operand = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %result = "stablehlo.map"(%operand) ({
    ^bb0(%a: tensor<f32>):
      %wide = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
      %twice = stablehlo.concatenate %wide, %wide, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %sum = stablehlo.dot_general %twice, %twice, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[2.0, 8.0]> : tensor<2xf32>
  return
}

func.func @values_from_around() {
  %operand = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %five = stablehlo.constant dense<5.0> : tensor<f32>
  %result = "stablehlo.map"(%operand) ({
    ^bb0(%a: tensor<f32>):
      %c = stablehlo.add %a, %five : tensor<f32>
      stablehlo.return %c : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[6.0, 7.0]> : tensor<2xf32>
  return
}
