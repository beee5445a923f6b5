func.func @windows() {
  %input = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %init = stablehlo.constant dense<0> : tensor<i32>
  %result = "stablehlo.reduce_window"(%input, %init) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) {window_dimensions = array<i64: 2, 1>,
    window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>,
    padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>} : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[0, 0], [3, 4]]> : tensor<2x2xi32>
  return
}

func.func @padded_with_the_initial_value() {
  %input = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %init = stablehlo.constant dense<10> : tensor<i32>
  %result = "stablehlo.reduce_window"(%input, %init) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) {window_dimensions = array<i64: 2>,
    padding = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[21, 13, 15]> : tensor<3xi32>
  return
}

func.func @wider_region() {
  %input = stablehlo.constant dense<[100, 100]> : tensor<2xi8>
  %init = stablehlo.constant dense<0> : tensor<i8>
  %result = "stablehlo.reduce_window"(%input, %init) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) {window_dimensions = array<i64: 2>}
    : (tensor<2xi8>, tensor<i8>) -> tensor<1xi32>
  check.expect_eq_const %result, dense<200> : tensor<1xi32>
  return
}
