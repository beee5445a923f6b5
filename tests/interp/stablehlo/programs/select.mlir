func.func @each() {
  %pred = stablehlo.constant dense<[[false, true], [true, false]]> : tensor<2x2xi1>
  %on_true = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %on_false = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<2x2xi1>, tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[5, 2], [3, 8]]> : tensor<2x2xi32>
  return
}

func.func @one_for_all() {
  %pred = stablehlo.constant dense<false> : tensor<i1>
  %on_true = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %on_false = stablehlo.constant dense<[3.0, -0.0]> : tensor<2xf32>
  %result = stablehlo.select %pred, %on_true, %on_false : tensor<i1>, tensor<2xf32>
  check.expect_eq_const %result, dense<[3.0, -0.0]> : tensor<2xf32>
  return
}
