func.func @rows() {
  %input = stablehlo.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %init = stablehlo.constant dense<10> : tensor<i32>
  %result = "stablehlo.reduce"(%input, %init) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[13, 22]> : tensor<2xi32>
  return
}

func.func @in_ascending_order() {
  %input = stablehlo.constant dense<[1.0e+8, 4.0, 4.0, -1.0e+8]> : tensor<4xf32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %result = "stablehlo.reduce"(%input, %init) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %result, dense<0.0> : tensor<f32>
  return
}

func.func @two_at_once() {
  %values = stablehlo.constant dense<[3, 9, 9, 1]> : tensor<4xi32>
  %places = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %low = stablehlo.constant dense<-1> : tensor<i32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %result:2 = "stablehlo.reduce"(%values, %places, %low, %none) ({
    ^bb0(%a: tensor<i32>, %i: tensor<i32>, %b: tensor<i32>, %j: tensor<i32>):
      %first = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c = stablehlo.select %first, %a, %b : tensor<i1>, tensor<i32>
      %k = stablehlo.select %first, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %c, %k : tensor<i32>, tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  check.expect_eq_const %result#0, dense<9> : tensor<i32>
  check.expect_eq_const %result#1, dense<1> : tensor<i32>
  return
}

func.func @nothing() {
  %input = stablehlo.constant dense<> : tensor<0x2xf32>
  %init = stablehlo.constant dense<7.0> : tensor<f32>
  %result = "stablehlo.reduce"(%input, %init) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<0x2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<7.0> : tensor<2xf32>
  return
}

func.func @wider_region() {
  %input = stablehlo.constant dense<[100, 100]> : tensor<2xi8>
  %init = stablehlo.constant dense<1> : tensor<i8>
  %result = "stablehlo.reduce"(%input, %init) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<2xi8>, tensor<i8>) -> tensor<i32>
  check.expect_eq_const %result, dense<201> : tensor<i32>
  return
}
