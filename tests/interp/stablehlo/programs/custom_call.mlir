func.func @checks() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[1.0, 2.00000048]> : tensor<2xf32>
  %c = stablehlo.constant dense<[1.00005, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%a, %a) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_close(%a, %b) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_almost_eq(%a, %c) : (tensor<2xf32>, tensor<2xf32>) -> ()
  check.expect_close %a, %b, max_ulp_difference = 2, min_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  check.expect_almost_eq %a, %c : tensor<2xf32>
  check.expect_eq %a, %a : tensor<2xf32>
  return
}
