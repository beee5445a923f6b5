// The sum of bools is their or.
func.func @main(%p: tensor<8xi1>, %q: tensor<8xi1>) -> tensor<8xi1> {
  %0 = stablehlo.add %p, %q : tensor<8xi1>
  return %0 : tensor<8xi1>
}
