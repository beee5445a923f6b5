module @one_sender {
  func.func @sender(%operand: tensor<2xi64>) -> !stablehlo.token {
    %token = stablehlo.create_token : !stablehlo.token
    %sent = "stablehlo.send"(%operand, %token) {
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>
    } : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    %twice = stablehlo.add %operand, %operand : tensor<2xi64>
    %result = "stablehlo.send"(%twice, %sent) {
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>
    } : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    return %result : !stablehlo.token
  }
  func.func @receiver() -> (tensor<2xi64>, tensor<2xi64>) {
    %token = stablehlo.create_token : !stablehlo.token
    %first:2 = "stablehlo.recv"(%token) {
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>
    } : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %second:2 = "stablehlo.recv"(%first#1) {
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>
    } : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    return %first#0, %second#0 : tensor<2xi64>, tensor<2xi64>
  }
  func.func @main() {
    %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %results:3 = "interpreter.run_parallel"(%operand) {
      programs = [[@sender, @receiver]]
    } : (tensor<2xi64>) -> (!stablehlo.token, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %results#1, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %results#2, dense<[2, 4]> : tensor<2xi64>
    return
  }
}
