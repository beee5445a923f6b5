module @infeed {
  func.func @process(%token: !stablehlo.token) -> (tensor<2x2xi64>, tensor<f32>) {
    %results0:2 = "stablehlo.infeed"(%token) {infeed_config = ""} :
        (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
    %results1:2 = "stablehlo.infeed"(%results0#1) : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
    return %results0#0, %results1#0 : tensor<2x2xi64>, tensor<f32>
  }
  func.func @first() -> tensor<2x2xi64> {
    %result = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    return %result : tensor<2x2xi64>
  }
  func.func @second() -> tensor<f32> {
    %result = stablehlo.constant dense<0.5> : tensor<f32>
    return %result : tensor<f32>
  }
  func.func @main() {
    %token = stablehlo.after_all : !stablehlo.token
    %results:2 = "interpreter.run_parallel"(%token) {
      infeed = [@first, @second], programs = [[@process]]
    } : (!stablehlo.token) -> (tensor<2x2xi64>, tensor<f32>)
    check.expect_eq_const %results#0, dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    check.expect_eq_const %results#1, dense<0.5> : tensor<f32>
    return
  }
}
