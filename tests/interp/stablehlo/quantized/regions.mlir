!q = !quant.uniform<i8:f32, 0.5:3>
!wide = !quant.uniform<i32:f32, 0.25>

// Halves of 2, 4, 6 from 0 on: 1 + 2 + 3 = 6, which is 12 + 3. In the type of the elements each step is cut to its range.
func.func @reduce() {
  %x = stablehlo.constant() {value = dense<[5, 7, 9]> : tensor<3xi8>} : () -> tensor<3x!q>
  %zero = stablehlo.constant() {value = dense<3> : tensor<i8>} : () -> tensor<!q>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x!q>, tensor<!q>) -> tensor<!q>
  check.expect_eq_const %sum, dense<15> : tensor<!q>
  %large = stablehlo.constant() {value = dense<[127, 127, -128]> : tensor<3xi8>} : () -> tensor<3x!q>
  %cut = stablehlo.reduce(%large init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x!q>, tensor<!q>) -> tensor<!q>
  check.expect_eq_const %cut, dense<-4> : tensor<!q>
  return
}

// The region has a wider type: elements are quantized in it first.
func.func @reduce_in_a_wider_type() {
  %x = stablehlo.constant() {value = dense<[[127, 127], [-128, 5]]> : tensor<2x2xi8>} : () -> tensor<2x2x!q>
  %zero = stablehlo.constant() {value = dense<3> : tensor<i8>} : () -> tensor<!q>
  %sum = "stablehlo.reduce"(%x, %zero) ({
  ^bb0(%a: tensor<!wide>, %b: tensor<!wide>):
    %c = stablehlo.add %a, %b : tensor<!wide>
    stablehlo.return %c : tensor<!wide>
  }) {dimensions = array<i64: 1>} : (tensor<2x2x!q>, tensor<!q>) -> tensor<2x!wide>
  check.expect_eq_const %sum, dense<[496, -258]> : tensor<2x!wide>
  return
}

func.func @reduce_window_and_map() {
  %x = stablehlo.constant() {value = dense<[5, 7, 9]> : tensor<3xi8>} : () -> tensor<3x!q>
  %zero = stablehlo.constant() {value = dense<3> : tensor<i8>} : () -> tensor<!q>
  %sums = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<!q>, %b: tensor<!q>):
    %c = stablehlo.add %a, %b : tensor<!q>
    stablehlo.return %c : tensor<!q>
  }) {window_dimensions = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<3x!q>, tensor<!q>) -> tensor<3x!q>
  check.expect_eq_const %sums, dense<[5, 9, 13]> : tensor<3x!q>
  %squares = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<!q>):
    %c = stablehlo.multiply %a, %a : tensor<!q>
    stablehlo.return %c : tensor<!q>
  }) {dimensions = array<i64: 0>} : (tensor<3x!q>) -> tensor<3x!q>
  check.expect_eq_const %squares, dense<[5, 11, 21]> : tensor<3x!q>
  return
}

func.func @sort_and_scatter() {
  %x = stablehlo.constant() {value = dense<[5, -7, 9]> : tensor<3xi8>} : () -> tensor<3x!q>
  %sorted = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<!q>, %b: tensor<!q>):
    %c = stablehlo.compare LT, %a, %b : (tensor<!q>, tensor<!q>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<3x!q>) -> tensor<3x!q>
  check.expect_eq_const %sorted, dense<[-7, 5, 9]> : tensor<3x!q>
  %i = stablehlo.constant dense<[[1], [1]]> : tensor<2x1xi64>
  %u = stablehlo.constant() {value = dense<[5, 7]> : tensor<2xi8>} : () -> tensor<2x!q>
  %added = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<!q>, %b: tensor<!q>):
    %c = stablehlo.add %a, %b : tensor<!q>
    stablehlo.return %c : tensor<!q>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3x!q>, tensor<2x1xi64>, tensor<2x!q>) -> tensor<3x!q>
  check.expect_eq_const %added, dense<[5, -1, 9]> : tensor<3x!q>
  return
}

func.func @select_and_scatter() {
  %x = stablehlo.constant() {value = dense<[5, 7, 9, 3]> : tensor<4xi8>} : () -> tensor<4x!q>
  %s = stablehlo.constant() {value = dense<[5, 7]> : tensor<2xi8>} : () -> tensor<2x!q>
  %zero = stablehlo.constant() {value = dense<3> : tensor<i8>} : () -> tensor<!q>
  %y = "stablehlo.select_and_scatter"(%x, %s, %zero) ({
  ^bb0(%a: tensor<!q>, %b: tensor<!q>):
    %c = stablehlo.compare GE, %a, %b : (tensor<!q>, tensor<!q>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<!q>, %b: tensor<!q>):
    %c = stablehlo.add %a, %b : tensor<!q>
    stablehlo.return %c : tensor<!q>
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4x!q>, tensor<2x!q>, tensor<!q>) -> tensor<4x!q>
  check.expect_eq_const %y, dense<[3, 5, 7, 3]> : tensor<4x!q>
  return
}

func.func @control() {
  %x = stablehlo.constant() {value = dense<5> : tensor<i8>} : () -> tensor<!q>
  %end = stablehlo.constant() {value = dense<9> : tensor<i8>} : () -> tensor<!q>
  %last = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<!q>):
    %c = stablehlo.compare LT, %a, %end : (tensor<!q>, tensor<!q>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<!q>):
    %c = stablehlo.add %a, %x : tensor<!q>
    stablehlo.return %c : tensor<!q>
  }) : (tensor<!q>) -> tensor<!q>
  check.expect_eq_const %last, dense<9> : tensor<!q>
  %pair = stablehlo.tuple %x, %last : tuple<tensor<!q>, tensor<!q>>
  %second = stablehlo.get_tuple_element %pair[1] : (tuple<tensor<!q>, tensor<!q>>) -> tensor<!q>
  check.expect_eq %second, %last : tensor<!q>
  %kept = stablehlo.optimization_barrier %second : tensor<!q>
  check.expect_eq_const %kept, dense<9> : tensor<!q>
  return
}

// (1 * 2), (2 * 2) and |-6 * 2|, with a number from around the region; and a region that is run element by element.
func.func @map_with_a_number_from_outside() {
  %x = stablehlo.constant() {value = dense<[5, 7, -9]> : tensor<3xi8>} : () -> tensor<3x!q>
  %two = stablehlo.constant() {value = dense<7> : tensor<i8>} : () -> tensor<!q>
  %y = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<!q>):
    %c = stablehlo.multiply %a, %two : tensor<!q>
    %d = stablehlo.abs %c : tensor<!q>
    stablehlo.return %d : tensor<!q>
  }) {dimensions = array<i64: 0>} : (tensor<3x!q>) -> tensor<3x!q>
  check.expect_eq_const %y, dense<[7, 11, 27]> : tensor<3x!q>
  %z = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<!q>):
    %p = stablehlo.compare LT, %a, %two : (tensor<!q>, tensor<!q>) -> tensor<i1>
    %d = "stablehlo.if"(%p) ({
      stablehlo.return %a : tensor<!q>
    }, {
      stablehlo.return %two : tensor<!q>
    }) : (tensor<i1>) -> tensor<!q>
    stablehlo.return %d : tensor<!q>
  }) {dimensions = array<i64: 0>} : (tensor<3x!q>) -> tensor<3x!q>
  check.expect_eq_const %z, dense<[5, 7, -9]> : tensor<3x!q>
  return
}
