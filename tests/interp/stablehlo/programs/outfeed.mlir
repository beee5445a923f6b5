func.func @outfeed() {
  %inputs = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %token = stablehlo.create_token : !stablehlo.token
  %sent = "stablehlo.outfeed"(%inputs, %token) {outfeed_config = ""} :
      (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
  %result:2 = stablehlo.optimization_barrier %sent, %inputs : !stablehlo.token, tensor<2xi64>
  check.expect_eq_const %result#1, dense<[1, 2]> : tensor<2xi64>
  return
}
