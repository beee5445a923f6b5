func.func @first() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<3> : tensor<i32>
  %both = stablehlo.tuple %a, %b : tuple<tensor<2xf32>, tensor<i32>>
  %result = stablehlo.get_tuple_element %both[0] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[1.0, 2.0]> : tensor<2xf32>
  return
}
