func.func @element_types() {
  %a = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %b = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %c = stablehlo.constant dense<[0, 15]> : tensor<2xui4>
  %d = stablehlo.constant dense<[-2, 1]> : tensor<2xi2>
  %e = stablehlo.constant dense<[1.5, -0.0]> : tensor<2xbf16>
  %g = stablehlo.constant dense<[0.1, 0x7FF0000000000000]> : tensor<2xf64>
  %h = stablehlo.constant dense<[(1.0, -2.5)]> : tensor<1xcomplex<f32>>
  %i = stablehlo.constant dense<[448.0, 0.0625]> : tensor<2xf8E4M3FN>
  %j = stablehlo.constant dense<[6.0, 0.5]> : tensor<2xf4E2M1FN>
  %k = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  check.expect_eq_const %a, dense<[true, false]> : tensor<2xi1>
  check.expect_eq_const %b, dense<[-8, 7]> : tensor<2xi4>
  check.expect_eq_const %c, dense<[0, 15]> : tensor<2xui4>
  check.expect_eq_const %d, dense<[-2, 1]> : tensor<2xi2>
  check.expect_eq_const %e, dense<[1.5, -0.0]> : tensor<2xbf16>
  check.expect_eq_const %g, dense<[1.0e-1, 0x7FF0000000000000]> : tensor<2xf64>
  check.expect_eq_const %h, dense<[(1.0, -2.5)]> : tensor<1xcomplex<f32>>
  check.expect_eq_const %i, dense<[448.0, 0.0625]> : tensor<2xf8E4M3FN>
  check.expect_eq_const %j, dense<[6.0, 0.5]> : tensor<2xf4E2M1FN>
  check.expect_eq_const %k, dense<18446744073709551615> : tensor<ui64>
  return
}

func.func @many_booleans() {
  %many = stablehlo.constant dense<[true, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false,
  true, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false,
  true, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false,
  true, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false,
  true, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false,
  true, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false,
  true, false, false, false, false, false, false, false]> : tensor<104xi1>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %numbers = stablehlo.convert %many : (tensor<104xi1>) -> tensor<104xi32>
  %result = "stablehlo.reduce"(%numbers, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<104xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %result, dense<13> : tensor<i32>
  return
}
