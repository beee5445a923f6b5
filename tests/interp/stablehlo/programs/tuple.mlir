func.func @nested() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<3> : tensor<i32>
  %inner = stablehlo.tuple %b : tuple<tensor<i32>>
  %outer = stablehlo.tuple %a, %inner : tuple<tensor<2xf32>, tuple<tensor<i32>>>
  %second = stablehlo.get_tuple_element %outer[1] : (tuple<tensor<2xf32>, tuple<tensor<i32>>>) -> tuple<tensor<i32>>
  %result = stablehlo.get_tuple_element %second[0] : (tuple<tensor<i32>>) -> tensor<i32>
  check.expect_eq_const %result, dense<3> : tensor<i32>
  return
}
