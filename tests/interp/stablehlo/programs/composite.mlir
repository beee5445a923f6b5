func.func @decomposed() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %result = stablehlo.composite "own.twice" %a {decomposition = @twice} : (tensor<2xf32>) -> tensor<2xf32>
  %again = func.call @twice(%result) : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[2.0, 4.0]> : tensor<2xf32>
  check.expect_eq_const %again, dense<[4.0, 8.0]> : tensor<2xf32>
  return
}

func.func private @twice(%a: tensor<2xf32>) -> tensor<2xf32> {
  %b = stablehlo.add %a, %a : tensor<2xf32>
  return %b : tensor<2xf32>
}
