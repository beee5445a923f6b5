func.func @counted() {
  %i = stablehlo.constant dense<1> : tensor<i64>
  %sum = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %ten = stablehlo.constant dense<10> : tensor<i64>
  %result:2 = stablehlo.while(%a = %i, %b = %sum) : tensor<i64>, tensor<i64>
  cond {
    %more = stablehlo.compare LT, %a, %ten : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %c = stablehlo.add %b, %a : tensor<i64>
    %d = stablehlo.add %a, %one : tensor<i64>
    stablehlo.return %d, %c : tensor<i64>, tensor<i64>
  }
  check.expect_eq_const %result#0, dense<10> : tensor<i64>
  check.expect_eq_const %result#1, dense<45> : tensor<i64>
  return
}
