module @the_receiver_first {
  func.func @sender(%operand: tensor<2xi64>) -> !stablehlo.token {
    %token = stablehlo.create_token : !stablehlo.token
    %sent = "stablehlo.send"(%operand, %token) {
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>,
      source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>
    } : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    %twice = stablehlo.add %operand, %operand : tensor<2xi64>
    %result = "stablehlo.send"(%twice, %sent) {
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>,
      source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>
    } : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    return %result : !stablehlo.token
  }
  func.func @receiver() -> (tensor<2xi64>, tensor<2xi64>) {
    %token = stablehlo.create_token : !stablehlo.token
    %first:2 = "stablehlo.recv"(%token) {
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>,
      source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>
    } : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %second:2 = "stablehlo.recv"(%first#1) {
      channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>,
      source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>
    } : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    return %first#0, %second#0 : tensor<2xi64>, tensor<2xi64>
  }
  func.func @main() {
    %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %results:3 = "interpreter.run_parallel"(%operand) {
      programs = [[@receiver, @sender]]
    } : (tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, !stablehlo.token)
    check.expect_eq_const %results#0, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %results#1, dense<[2, 4]> : tensor<2xi64>
    return
  }
}
