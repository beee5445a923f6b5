func.func @branches() {
  %pred = stablehlo.constant dense<true> : tensor<i1>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %result = "stablehlo.if"(%pred) ({
    stablehlo.return %ten : tensor<i32>
  }, {
    %other = stablehlo.constant dense<11> : tensor<i32>
    stablehlo.return %other : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  check.expect_eq_const %result, dense<10> : tensor<i32>
  return
}

func.func @values_that_nothing_else_uses_any_more() {
  %pred = stablehlo.constant dense<false> : tensor<i1>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %twenty = stablehlo.add %ten, %ten : tensor<i32>
  %result = "stablehlo.if"(%pred) ({
    stablehlo.return %twenty : tensor<i32>
  }, {
    stablehlo.return %ten : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  check.expect_eq_const %result, dense<10> : tensor<i32>
  return
}
