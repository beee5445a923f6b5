func.func @the_last_where_there_is_none() {
  %index = stablehlo.constant dense<-1> : tensor<i32>
  %zero = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
  %one = stablehlo.constant dense<[1, 1]> : tensor<2xi64>
  %result:2 = "stablehlo.case"(%index) ({
    stablehlo.return %zero, %zero : tensor<2xi64>, tensor<2xi64>
  }, {
    stablehlo.return %one, %zero : tensor<2xi64>, tensor<2xi64>
  }) : (tensor<i32>) -> (tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %result#0, dense<[1, 1]> : tensor<2xi64>
  check.expect_eq_const %result#1, dense<[0, 0]> : tensor<2xi64>
  return
}
