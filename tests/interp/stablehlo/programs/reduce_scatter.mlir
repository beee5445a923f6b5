module @cross_replica {
  func.func @process(%operand: tensor<2x4xi64>) -> tensor<2x2xi64> {
    %result = "stablehlo.reduce_scatter"(%operand) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %sum = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %sum : tensor<i64>
    }) {
      scatter_dimension = 1 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>
    } : (tensor<2x4xi64>) -> tensor<2x2xi64>
    return %result : tensor<2x2xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi64>
    %operand1 = stablehlo.constant dense<[[9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<2x4xi64>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process], [@process]]
    } : (tensor<2x4xi64>, tensor<2x4xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %results#0, dense<[[10, 12], [18, 20]]> : tensor<2x2xi64>
    check.expect_eq_const %results#1, dense<[[14, 16], [22, 24]]> : tensor<2x2xi64>
    return
  }
}
// -----
module @parts_go_by_the_place_in_the_group {
  func.func @process(%operand: tensor<2xi64>) -> tensor<1xi64> {
    %result = "stablehlo.reduce_scatter"(%operand) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %sum = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %sum : tensor<i64>
    }) {
      scatter_dimension = 0 : i64,
      replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
    } : (tensor<2xi64>) -> tensor<1xi64>
    return %result : tensor<1xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %operand1 = stablehlo.constant dense<[4, 8]> : tensor<2xi64>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process], [@process]]
    } : (tensor<2xi64>, tensor<2xi64>) -> (tensor<1xi64>, tensor<1xi64>)
    check.expect_eq_const %results#0, dense<[10]> : tensor<1xi64>
    check.expect_eq_const %results#1, dense<[5]> : tensor<1xi64>
    return
  }
}
// -----
module @flattened_ids {
  func.func @process(%operand: tensor<2xi64>) -> tensor<1xi64> {
    %result = "stablehlo.reduce_scatter"(%operand) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %sum = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %sum : tensor<i64>
    }) {
      scatter_dimension = 0 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
      use_global_device_ids
    } : (tensor<2xi64>) -> tensor<1xi64>
    return %result : tensor<1xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %operand1 = stablehlo.constant dense<[4, 8]> : tensor<2xi64>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process, @process]]
    } : (tensor<2xi64>, tensor<2xi64>) -> (tensor<1xi64>, tensor<1xi64>)
    check.expect_eq_const %results#0, dense<[5]> : tensor<1xi64>
    check.expect_eq_const %results#1, dense<[10]> : tensor<1xi64>
    return
  }
}
