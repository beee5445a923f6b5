module @cross_replica {
  func.func @process(%operand: tensor<2x2xi64>) -> tensor<2x2xi64> {
    %result = "stablehlo.collective_permute"(%operand) {
      source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>
    } : (tensor<2x2xi64>) -> tensor<2x2xi64>
    return %result : tensor<2x2xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %operand1 = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %operand2 = stablehlo.constant dense<[[9, 10], [11, 12]]> : tensor<2x2xi64>
    %results:3 = "interpreter.run_parallel"(%operand0, %operand1, %operand2) {
      programs = [[@process], [@process], [@process]]
    } : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %results#0, dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>
    check.expect_eq_const %results#1, dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    check.expect_eq_const %results#2, dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    return
  }
}
// -----
module @cross_partition_with_a_cycle {
  func.func @process(%operand: tensor<1xi64>) -> tensor<1xi64> {
    %result = "stablehlo.collective_permute"(%operand) {
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
    } : (tensor<1xi64>) -> tensor<1xi64>
    return %result : tensor<1xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %operand1 = stablehlo.constant dense<[2]> : tensor<1xi64>
    %operand2 = stablehlo.constant dense<[3]> : tensor<1xi64>
    %results:3 = "interpreter.run_parallel"(%operand0, %operand1, %operand2) {
      programs = [[@process, @process, @process]]
    } : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
    check.expect_eq_const %results#0, dense<[3]> : tensor<1xi64>
    check.expect_eq_const %results#1, dense<[1]> : tensor<1xi64>
    check.expect_eq_const %results#2, dense<[2]> : tensor<1xi64>
    return
  }
}
// -----
module @to_itself {
  func.func @process(%operand: tensor<i1>) -> tensor<i1> {
    %result = "stablehlo.collective_permute"(%operand) {
      source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>
    } : (tensor<i1>) -> tensor<i1>
    return %result : tensor<i1>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<true> : tensor<i1>
    %operand1 = stablehlo.constant dense<true> : tensor<i1>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process], [@process]]
    } : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
    check.expect_eq_const %results#0, dense<true> : tensor<i1>
    check.expect_eq_const %results#1, dense<false> : tensor<i1>
    return
  }
}
