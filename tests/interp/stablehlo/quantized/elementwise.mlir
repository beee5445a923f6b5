// q stands for (i - 3) / 2, r for (i + 3) / 4.
!q = !quant.uniform<i8:f32, 0.5:3>
!r = !quant.uniform<i8:f32, 0.25:-3>

// (5 - 3) / 2 = 1 and (8 - 3) / 2 = 2.5 give 3.5, which is 14 - 3 in quarters.
func.func @add() {
  %x = stablehlo.constant() {value = dense<[5, 127, -128]> : tensor<3xi8>} : () -> tensor<3x!q>
  %y = stablehlo.constant() {value = dense<[8, 127, -128]> : tensor<3xi8>} : () -> tensor<3x!q>
  %sum = stablehlo.add %x, %y : (tensor<3x!q>, tensor<3x!q>) -> tensor<3x!r>
  check.expect_eq_const %sum, dense<[11, 127, -128]> : tensor<3x!r>
  return
}

func.func @add_per_axis() {
  %x = stablehlo.constant() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0,0.5:2}>>
  %y = stablehlo.constant() {value = dense<[[2, 2], [2, 2]]> : tensor<2x2xi8>} : () -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %sum = stablehlo.add %x, %y : (tensor<2x2x!quant.uniform<i8:f32:1, {1.0,0.5:2}>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5,0.25:1}>>
  check.expect_eq_const %sum, dense<[[4, 5], [8, 9]]> : tensor<2x2x!quant.uniform<i8:f32:1, {0.5,0.25:1}>>
  return
}

func.func @subtract_multiply_divide() {
  %x = stablehlo.constant() {value = dense<[5, 9, 3]> : tensor<3xi8>} : () -> tensor<3x!q>
  %y = stablehlo.constant() {value = dense<[1, -11, 3]> : tensor<3xi8>} : () -> tensor<3x!r>
  %difference = stablehlo.subtract %x, %y : (tensor<3x!q>, tensor<3x!r>) -> tensor<3x!q>
  check.expect_eq_const %difference, dense<[3, 13, 0]> : tensor<3x!q>
  %product = stablehlo.multiply %x, %y : (tensor<3x!q>, tensor<3x!r>) -> tensor<3x!q>
  check.expect_eq_const %product, dense<[5, -9, 3]> : tensor<3x!q>
  %quotient = stablehlo.divide %x, %y : (tensor<3x!q>, tensor<3x!r>) -> tensor<3x!r>
  check.expect_eq_const %quotient, dense<[1, -9, -3]> : tensor<3x!r>
  return
}

// 0 / 0 is NaN, which is stored as 0; 1 / 0 is infinite, which is the end of the range.
func.func @not_finite() {
  %x = stablehlo.constant() {value = dense<[3, 5, 1]> : tensor<3xi8>} : () -> tensor<3x!q>
  %zero = stablehlo.constant() {value = dense<3> : tensor<3xi8>} : () -> tensor<3x!q>
  %quotient = stablehlo.divide %x, %zero : (tensor<3x!q>, tensor<3x!q>) -> tensor<3x!q>
  check.expect_eq_const %quotient, dense<[0, 127, -128]> : tensor<3x!q>
  %y = stablehlo.constant() {value = dense<[127, -128]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f16, 1024.0>>
  %finite = stablehlo.is_finite %y : (tensor<2x!quant.uniform<i8:f16, 1024.0>>) -> tensor<2xi1>
  check.expect_eq_const %finite, dense<true> : tensor<2xi1>
  return
}

// tanh(-3.5) = -0.998, tanh(0) = 0, tanh(1) = 0.762: in quarters -4, 0 and 3.
func.func @functions() {
  %x = stablehlo.constant() {value = dense<[-4, 3, 5]> : tensor<3xi8>} : () -> tensor<3x!q>
  %tanh = stablehlo.tanh %x : (tensor<3x!q>) -> tensor<3x!r>
  check.expect_eq_const %tanh, dense<[-7, -3, 0]> : tensor<3x!r>
  %magnitude = stablehlo.abs %x : (tensor<3x!q>) -> tensor<3x!r>
  check.expect_eq_const %magnitude, dense<[11, -3, 1]> : tensor<3x!r>
  %negated = stablehlo.negate %x : tensor<3x!q>
  check.expect_eq_const %negated, dense<[10, 3, 1]> : tensor<3x!q>
  %sign = stablehlo.sign %x : tensor<3x!q>
  check.expect_eq_const %sign, dense<[1, 3, 5]> : tensor<3x!q>
  %half = stablehlo.constant() {value = dense<[4, 6, 8, 2]> : tensor<4xi8>} : () -> tensor<4x!q>
  %even = stablehlo.round_nearest_even %half : tensor<4x!q>
  check.expect_eq_const %even, dense<[3, 7, 7, 3]> : tensor<4x!q>
  %away = stablehlo.round_nearest_afz %half : tensor<4x!q>
  check.expect_eq_const %away, dense<[5, 7, 9, 1]> : tensor<4x!q>
  %up = stablehlo.ceil %half : tensor<4x!q>
  check.expect_eq_const %up, dense<[5, 7, 9, 3]> : tensor<4x!q>
  return
}

// By the numbers: (5 - 3) / 2 = 1 = (1 + 3) / 4.
func.func @compare_select_clamp() {
  %x = stablehlo.constant() {value = dense<[5, 5, 5]> : tensor<3xi8>} : () -> tensor<3x!q>
  %y = stablehlo.constant() {value = dense<[0, 1, 2]> : tensor<3xi8>} : () -> tensor<3x!r>
  %z = stablehlo.constant() {value = dense<[-9, 4, 99]> : tensor<3xi8>} : () -> tensor<3x!q>
  %less = stablehlo.compare LT, %x, %y : (tensor<3x!q>, tensor<3x!r>) -> tensor<3xi1>
  check.expect_eq_const %less, dense<[false, false, true]> : tensor<3xi1>
  %equal = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<3x!q>, tensor<3x!r>) -> tensor<3xi1>
  check.expect_eq_const %equal, dense<[false, true, false]> : tensor<3xi1>
  %larger = stablehlo.maximum %x, %y : (tensor<3x!q>, tensor<3x!r>) -> tensor<3x!r>
  check.expect_eq_const %larger, dense<[1, 1, 2]> : tensor<3x!r>
  %chosen = stablehlo.select %less, %x, %z : (tensor<3xi1>, tensor<3x!q>, tensor<3x!q>) -> tensor<3x!q>
  check.expect_eq_const %chosen, dense<[-9, 4, 5]> : tensor<3x!q>
  %low = stablehlo.constant() {value = dense<1> : tensor<i8>} : () -> tensor<!q>
  %high = stablehlo.constant() {value = dense<9> : tensor<i8>} : () -> tensor<!q>
  %clamped = stablehlo.clamp %low, %z, %high : (tensor<!q>, tensor<3x!q>, tensor<!q>) -> tensor<3x!q>
  check.expect_eq_const %clamped, dense<[1, 4, 9]> : tensor<3x!q>
  return
}

// The place along the dimension, quantized: 0, 1, 2 in halves, with 3 added.
func.func @iota() {
  %places = stablehlo.iota dim = 0 : tensor<3x!q>
  check.expect_eq_const %places, dense<[3, 5, 7]> : tensor<3x!q>
  %end = stablehlo.iota dim = 0 : tensor<3x!quant.uniform<i8<-1:1>:f32, 1.0>>
  check.expect_eq_const %end, dense<[0, 1, 1]> : tensor<3x!quant.uniform<i8<-1:1>:f32, 1.0>>
  return
}

// 1.25 has two bits behind the point; with one it is 1, the even one of 1 and 1.5.
func.func @reduce_precision() {
  %x = stablehlo.constant() {value = dense<[2, 4]> : tensor<2xi8>} : () -> tensor<2x!r>
  %short = stablehlo.reduce_precision %x, format = e5m1 : tensor<2x!r>
  check.expect_eq_const %short, dense<[1, 5]> : tensor<2x!r>
  return
}
