!q = !quant.uniform<i8:f32, 0.5:3>

// Where there is no source the number is 0, which the zero point stands for.
func.func @permute(%x: tensor<2x!q>) -> tensor<2x!q> {
  %y = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!q>) -> tensor<2x!q>
  return %y : tensor<2x!q>
}
func.func @collective_permute() {
  %a = stablehlo.constant() {value = dense<[5, 7]> : tensor<2xi8>} : () -> tensor<2x!q>
  %b = stablehlo.constant() {value = dense<[9, 9]> : tensor<2xi8>} : () -> tensor<2x!q>
  %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@permute], [@permute]]} : (tensor<2x!q>, tensor<2x!q>) -> (tensor<2x!q>, tensor<2x!q>)
  check.expect_eq_const %r#0, dense<[3, 3]> : tensor<2x!q>
  check.expect_eq_const %r#1, dense<[5, 7]> : tensor<2x!q>
  return
}

func.func @sum(%x: tensor<2x!q>) -> tensor<2x!q> {
  %y = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<!q>, %b: tensor<!q>):
    %c = stablehlo.add %a, %b : tensor<!q>
    stablehlo.return %c : tensor<!q>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!q>) -> tensor<2x!q>
  return %y : tensor<2x!q>
}
func.func @all_reduce() {
  %a = stablehlo.constant() {value = dense<[5, 127]> : tensor<2xi8>} : () -> tensor<2x!q>
  %b = stablehlo.constant() {value = dense<[7, 127]> : tensor<2xi8>} : () -> tensor<2x!q>
  %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@sum], [@sum]]} : (tensor<2x!q>, tensor<2x!q>) -> (tensor<2x!q>, tensor<2x!q>)
  check.expect_eq_const %r#0, dense<[9, 127]> : tensor<2x!q>
  check.expect_eq %r#0, %r#1 : tensor<2x!q>
  return
}
