// The examples of the specification.
func.func @floats_per_axis() {
  %operand = stablehlo.constant dense<[4.0, 15.0]> : tensor<2xf32>
  %result = stablehlo.uniform_quantize %operand : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>
  check.expect_eq_const %result, dense<[10, 10]> : tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>
  return
}

func.func @from_one_quantized_type_to_another() {
  %operand = stablehlo.constant() {value = dense<[10, 10]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>
  %result = stablehlo.uniform_quantize %operand : (tensor<2x!quant.uniform<i8:f32:0, {0.1:-30,0.5:-20}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.1:-20,0.2:-30}>>
  check.expect_eq_const %result, dense<[20, 45]> : tensor<2x!quant.uniform<i8:f32:0, {0.1:-20,0.2:-30}>>
  return
}

// In halves of the scale: 0.5, 1.5, 2.5, -0.5, -1.5 are ties.
func.func @ties_go_to_the_even_integer() {
  %operand = stablehlo.constant dense<[0.25, 0.75, 1.25, -0.25, -0.75, 0.26]> : tensor<6xf32>
  %result = stablehlo.uniform_quantize %operand : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.5>>
  check.expect_eq_const %result, dense<[0, 2, 2, 0, -2, 1]> : tensor<6x!quant.uniform<i8:f32, 0.5>>
  return
}

// The zero point is added before: 0.5 + 1 = 1.5 is nearest to 2, the even one.
func.func @ties_are_those_of_the_sum() {
  %operand = stablehlo.constant dense<[0.25, 0.75, -0.25]> : tensor<3xf32>
  %result = stablehlo.uniform_quantize %operand : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5:1>>
  check.expect_eq_const %result, dense<[2, 2, 0]> : tensor<3x!quant.uniform<i8:f32, 0.5:1>>
  return
}

// NaN is 0, as convert has it; infinities are the ends of the range.
func.func @what_no_integer_holds() {
  %operand = stablehlo.constant dense<[1.0e+9, -1.0e+9, 0x7F800000, 0xFF800000, 0x7FC00000, -0.0]> : tensor<6xf32>
  %result = stablehlo.uniform_quantize %operand : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.5:3>>
  check.expect_eq_const %result, dense<[127, -128, 127, -128, 0, 3]> : tensor<6x!quant.uniform<i8:f32, 0.5:3>>
  return
}

func.func @the_ends_of_a_narrow_range() {
  %operand = stablehlo.constant dense<[-9.0, -5.0, -4.8, 9.6, 10.0, 11.0]> : tensor<6xf32>
  %result = stablehlo.uniform_quantize %operand : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8<-5:10>:f32, 1.0>>
  check.expect_eq_const %result, dense<[-5, -5, -5, 10, 10, 10]> : tensor<6x!quant.uniform<i8<-5:10>:f32, 1.0>>
  return
}

func.func @four_bits_and_unsigned() {
  %operand = stablehlo.constant dense<[-9.0, -1.0, 3.0, 300.0]> : tensor<4xf32>
  %four = stablehlo.uniform_quantize %operand : (tensor<4xf32>) -> tensor<4x!quant.uniform<i4:f32, 1.0>>
  check.expect_eq_const %four, dense<[-8, -1, 3, 7]> : tensor<4x!quant.uniform<i4:f32, 1.0>>
  %unsigned = stablehlo.uniform_quantize %operand : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32, 1.0:4>>
  check.expect_eq_const %unsigned, dense<[0, 3, 7, 255]> : tensor<4x!quant.uniform<u8:f32, 1.0:4>>
  return
}

// 2147483647 is 2147483648 in float32, which no integer of 32 bits is.
func.func @the_end_of_a_wide_range() {
  %operand = stablehlo.constant dense<[3.0e+9, -3.0e+9, 2147483520.0]> : tensor<3xf32>
  %result = stablehlo.uniform_quantize %operand : (tensor<3xf32>) -> tensor<3x!quant.uniform<i32:f32, 1.0>>
  check.expect_eq_const %result, dense<[2147483647, -2147483648, 2147483520]> : tensor<3x!quant.uniform<i32:f32, 1.0>>
  return
}

// The numbers nearest to 12.05 and 0.1 have the quotient 120.50000001; rounded to float32 it is 120.5, a tie.
func.func @each_step_is_rounded_to_the_expressed_type() {
  %f = stablehlo.constant dense<12.05> : tensor<f32>
  %q = stablehlo.uniform_quantize %f : (tensor<f32>) -> tensor<!quant.uniform<i8:f32, 0.1>>
  check.expect_eq_const %q, dense<120> : tensor<!quant.uniform<i8:f32, 0.1>>
  %g = stablehlo.constant dense<1.05> : tensor<f16>
  %r = stablehlo.uniform_quantize %g : (tensor<f16>) -> tensor<!quant.uniform<i8:f16, 0.1>>
  check.expect_eq_const %r, dense<10> : tensor<!quant.uniform<i8:f16, 0.1>>
  return
}

!q = !quant.uniform<i16:f64, 0.5>
func.func @a_type_by_another_name() {
  %operand = stablehlo.constant dense<[1.0, -1.25]> : tensor<2xf64>
  %result = stablehlo.uniform_quantize %operand : (tensor<2xf64>) -> tensor<2x!q>
  check.expect_eq_const %result, dense<[2, -2]> : tensor<2x!q>
  return
}
