module @cross_replica {
  func.func @process(%operand: tensor<4xf32>) -> tensor<4xf32> {
    %result = "stablehlo.all_reduce"(%operand) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %sum = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %sum : tensor<f32>
    }) {
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %result : tensor<4xf32>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %operand1 = stablehlo.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process], [@process]]
    } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    check.expect_eq_const %results#0, dense<[6.0, 8.0, 10.0, 12.0]> : tensor<4xf32>
    check.expect_eq_const %results#1, dense<[6.0, 8.0, 10.0, 12.0]> : tensor<4xf32>
    return
  }
}
// -----
module @cross_replica_and_partition {
  func.func @process(%operand: tensor<1xi64>) -> tensor<1xi64> {
    %result = "stablehlo.all_reduce"(%operand) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %sum = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %sum : tensor<i64>
    }) {
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
    } : (tensor<1xi64>) -> tensor<1xi64>
    return %result : tensor<1xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %operand1 = stablehlo.constant dense<[2]> : tensor<1xi64>
    %operand2 = stablehlo.constant dense<[4]> : tensor<1xi64>
    %operand3 = stablehlo.constant dense<[8]> : tensor<1xi64>
    %results:4 = "interpreter.run_parallel"(%operand0, %operand1, %operand2, %operand3) {
      programs = [[@process, @process], [@process, @process]]
    } : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
    check.expect_eq_const %results#0, dense<[15]> : tensor<1xi64>
    check.expect_eq_const %results#1, dense<[15]> : tensor<1xi64>
    check.expect_eq_const %results#2, dense<[15]> : tensor<1xi64>
    check.expect_eq_const %results#3, dense<[15]> : tensor<1xi64>
    return
  }
}
// -----
module @flattened_ids {
  func.func @process(%operand: tensor<1xi64>) -> tensor<1xi64> {
    %result = "stablehlo.all_reduce"(%operand) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %sum = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %sum : tensor<i64>
    }) {
      replica_groups = dense<[[3, 0], [2, 1]]> : tensor<2x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
      use_global_device_ids
    } : (tensor<1xi64>) -> tensor<1xi64>
    return %result : tensor<1xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %operand1 = stablehlo.constant dense<[2]> : tensor<1xi64>
    %operand2 = stablehlo.constant dense<[4]> : tensor<1xi64>
    %operand3 = stablehlo.constant dense<[8]> : tensor<1xi64>
    %results:4 = "interpreter.run_parallel"(%operand0, %operand1, %operand2, %operand3) {
      programs = [[@process, @process], [@process, @process]]
    } : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
    check.expect_eq_const %results#0, dense<[9]> : tensor<1xi64>
    check.expect_eq_const %results#1, dense<[6]> : tensor<1xi64>
    check.expect_eq_const %results#2, dense<[6]> : tensor<1xi64>
    check.expect_eq_const %results#3, dense<[9]> : tensor<1xi64>
    return
  }
}
// -----
module @in_the_order_of_the_group {
  func.func @process(%operand: tensor<1xf32>) -> tensor<1xf32> {
    %result = "stablehlo.all_reduce"(%operand) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %sum = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %sum : tensor<f32>
    }) {
      replica_groups = dense<[[1, 2, 0]]> : tensor<1x3xi64>
    } : (tensor<1xf32>) -> tensor<1xf32>
    return %result : tensor<1xf32>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1.0]> : tensor<1xf32>
    %operand1 = stablehlo.constant dense<[1.0e+8]> : tensor<1xf32>
    %operand2 = stablehlo.constant dense<[-1.0e+8]> : tensor<1xf32>
    %results:3 = "interpreter.run_parallel"(%operand0, %operand1, %operand2) {
      programs = [[@process], [@process], [@process]]
    } : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
    check.expect_eq_const %results#0, dense<[1.0]> : tensor<1xf32>
    check.expect_eq_const %results#1, dense<[1.0]> : tensor<1xf32>
    check.expect_eq_const %results#2, dense<[1.0]> : tensor<1xf32>
    return
  }
}
// -----
module @small_integers_wrap {
  func.func @process(%operand: tensor<i4>) -> tensor<i4> {
    %result = "stablehlo.all_reduce"(%operand) ({
      ^bb0(%a: tensor<i4>, %b: tensor<i4>):
        %sum = stablehlo.add %a, %b : tensor<i4>
        stablehlo.return %sum : tensor<i4>
    }) {
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<i4>) -> tensor<i4>
    return %result : tensor<i4>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<7> : tensor<i4>
    %operand1 = stablehlo.constant dense<1> : tensor<i4>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process], [@process]]
    } : (tensor<i4>, tensor<i4>) -> (tensor<i4>, tensor<i4>)
    check.expect_eq_const %results#0, dense<-8> : tensor<i4>
    check.expect_eq_const %results#1, dense<-8> : tensor<i4>
    return
  }
}
// -----
module @a_wider_computation {
  func.func @process(%operand: tensor<i8>) -> tensor<i32> {
    %result = "stablehlo.all_reduce"(%operand) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %sum = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %sum : tensor<i32>
    }) {
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<i8>) -> tensor<i32>
    return %result : tensor<i32>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<127> : tensor<i8>
    %operand1 = stablehlo.constant dense<1> : tensor<i8>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process], [@process]]
    } : (tensor<i8>, tensor<i8>) -> (tensor<i32>, tensor<i32>)
    check.expect_eq_const %results#0, dense<128> : tensor<i32>
    check.expect_eq_const %results#1, dense<128> : tensor<i32>
    return
  }
}
