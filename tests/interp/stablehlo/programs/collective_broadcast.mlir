module @cross_replica {
  func.func @process(%operand: tensor<1x2xi64>) -> tensor<1x2xi64> {
    %result = "stablehlo.collective_broadcast"(%operand) {
      replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>
    } : (tensor<1x2xi64>) -> tensor<1x2xi64>
    return %result : tensor<1x2xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>
    %operand1 = stablehlo.constant dense<[[3, 4]]> : tensor<1x2xi64>
    %operand2 = stablehlo.constant dense<[[5, 6]]> : tensor<1x2xi64>
    %operand3 = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi64>
    %results:4 = "interpreter.run_parallel"(%operand0, %operand1, %operand2, %operand3) {
      programs = [[@process], [@process], [@process], [@process]]
    } : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    check.expect_eq_const %results#0, dense<[[0, 0]]> : tensor<1x2xi64>
    check.expect_eq_const %results#1, dense<[[5, 6]]> : tensor<1x2xi64>
    check.expect_eq_const %results#2, dense<[[5, 6]]> : tensor<1x2xi64>
    check.expect_eq_const %results#3, dense<[[0, 0]]> : tensor<1x2xi64>
    return
  }
}
// -----
module @cross_partition {
  func.func @process(%operand: tensor<f32>) -> tensor<f32> {
    %result = "stablehlo.collective_broadcast"(%operand) {
      replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
    } : (tensor<f32>) -> tensor<f32>
    return %result : tensor<f32>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<1.0> : tensor<f32>
    %operand1 = stablehlo.constant dense<-2.0> : tensor<f32>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process, @process]]
    } : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    check.expect_eq_const %results#0, dense<-2.0> : tensor<f32>
    check.expect_eq_const %results#1, dense<-2.0> : tensor<f32>
    return
  }
}
