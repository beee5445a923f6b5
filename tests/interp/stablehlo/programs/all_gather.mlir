module @cross_replica {
  func.func @process(%operand: tensor<2x2xi64>) -> tensor<2x4xi64> {
    %result = "stablehlo.all_gather"(%operand) {
      all_gather_dim = 1 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>
    } : (tensor<2x2xi64>) -> tensor<2x4xi64>
    return %result : tensor<2x4xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %operand1 = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process], [@process]]
    } : (tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x4xi64>, tensor<2x4xi64>)
    check.expect_eq_const %results#0, dense<[[1, 2, 5, 6], [3, 4, 7, 8]]> : tensor<2x4xi64>
    check.expect_eq_const %results#1, dense<[[1, 2, 5, 6], [3, 4, 7, 8]]> : tensor<2x4xi64>
    return
  }
}
// -----
module @cross_replica_in_each_partition {
  func.func @process(%operand: tensor<1xi64>) -> tensor<2xi64> {
    %result = "stablehlo.all_gather"(%operand) {
      all_gather_dim = 0 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<1xi64>) -> tensor<2xi64>
    return %result : tensor<2xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %operand1 = stablehlo.constant dense<[2]> : tensor<1xi64>
    %operand2 = stablehlo.constant dense<[3]> : tensor<1xi64>
    %operand3 = stablehlo.constant dense<[4]> : tensor<1xi64>
    %results:4 = "interpreter.run_parallel"(%operand0, %operand1, %operand2, %operand3) {
      programs = [[@process, @process], [@process, @process]]
    } : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %results#0, dense<[1, 3]> : tensor<2xi64>
    check.expect_eq_const %results#1, dense<[2, 4]> : tensor<2xi64>
    check.expect_eq_const %results#2, dense<[1, 3]> : tensor<2xi64>
    check.expect_eq_const %results#3, dense<[2, 4]> : tensor<2xi64>
    return
  }
}
// -----
module @cross_replica_and_partition {
  func.func @process(%operand: tensor<1xi64>) -> tensor<4xi64> {
    %result = "stablehlo.all_gather"(%operand) {
      all_gather_dim = 0 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
    } : (tensor<1xi64>) -> tensor<4xi64>
    return %result : tensor<4xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %operand1 = stablehlo.constant dense<[2]> : tensor<1xi64>
    %operand2 = stablehlo.constant dense<[3]> : tensor<1xi64>
    %operand3 = stablehlo.constant dense<[4]> : tensor<1xi64>
    %results:4 = "interpreter.run_parallel"(%operand0, %operand1, %operand2, %operand3) {
      programs = [[@process, @process], [@process, @process]]
    } : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>)
    check.expect_eq_const %results#0, dense<[1, 3, 2, 4]> : tensor<4xi64>
    check.expect_eq_const %results#1, dense<[1, 3, 2, 4]> : tensor<4xi64>
    check.expect_eq_const %results#2, dense<[1, 3, 2, 4]> : tensor<4xi64>
    check.expect_eq_const %results#3, dense<[1, 3, 2, 4]> : tensor<4xi64>
    return
  }
}
// -----
module @flattened_ids {
  func.func @process(%operand: tensor<1xi64>) -> tensor<2xi64> {
    %result = "stablehlo.all_gather"(%operand) {
      all_gather_dim = 0 : i64,
      replica_groups = dense<[[3, 0], [2, 1]]> : tensor<2x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
      use_global_device_ids
    } : (tensor<1xi64>) -> tensor<2xi64>
    return %result : tensor<2xi64>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %operand1 = stablehlo.constant dense<[2]> : tensor<1xi64>
    %operand2 = stablehlo.constant dense<[3]> : tensor<1xi64>
    %operand3 = stablehlo.constant dense<[4]> : tensor<1xi64>
    %results:4 = "interpreter.run_parallel"(%operand0, %operand1, %operand2, %operand3) {
      programs = [[@process, @process], [@process, @process]]
    } : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %results#0, dense<[4, 1]> : tensor<2xi64>
    check.expect_eq_const %results#1, dense<[3, 2]> : tensor<2xi64>
    check.expect_eq_const %results#2, dense<[3, 2]> : tensor<2xi64>
    check.expect_eq_const %results#3, dense<[4, 1]> : tensor<2xi64>
    return
  }
}
// -----
module @empty_and_complex {
  func.func @process(%operand: tensor<0x2xcomplex<f32>>) -> tensor<0x4xcomplex<f32>> {
    %result = "stablehlo.all_gather"(%operand) {
      all_gather_dim = 1 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    } : (tensor<0x2xcomplex<f32>>) -> tensor<0x4xcomplex<f32>>
    return %result : tensor<0x4xcomplex<f32>>
  }
  func.func @main() {
    %operand0 = stablehlo.constant dense<> : tensor<0x2xcomplex<f32>>
    %operand1 = stablehlo.constant dense<> : tensor<0x2xcomplex<f32>>
    %results:2 = "interpreter.run_parallel"(%operand0, %operand1) {
      programs = [[@process], [@process]]
    } : (tensor<0x2xcomplex<f32>>, tensor<0x2xcomplex<f32>>) -> (tensor<0x4xcomplex<f32>>, tensor<0x4xcomplex<f32>>)
    check.expect_eq_const %results#0, dense<> : tensor<0x4xcomplex<f32>>
    check.expect_eq_const %results#1, dense<> : tensor<0x4xcomplex<f32>>
    return
  }
}
