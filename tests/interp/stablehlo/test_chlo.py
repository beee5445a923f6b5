"""Ops of chlo: literal numbers, of functions those that mpmath gives at 60 digits, rounded once."""

from __future__ import annotations

import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import ConformError
from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO

# float32: operands and results; bfloat16 likewise.
FUNCTIONS = {
    "acos": ("0x3E99999A, 0xBF7D70A4", "0x3FA20FAF, 0x404000DF", "0x3E9A, 0xBF7D", "0x3FA2, 0x403F"),
    "acosh": ("0x3F800001, 0x42200000", "0x3A000000, 0x408C3848", "0x3FC0, 0x4220", "0x3F76, 0x408C"),
    "asin": ("0x3E99999A, 0xBF800000", "0x3E9C00AD, 0xBFC90FDB", "0x3E9A, 0xBF80", "0x3E9C, 0xBFC9"),
    "asinh": ("0x358637BD, 0x46EA6000", "0x358637BD, 0x4130089A", "0x3586, 0x46EA", "0x3586, 0x4130"),
    "atan": ("0x3F333333, 0xCE6E6B28", "0x3F1C5889, 0xBFC90FDB", "0x3F33, 0xCE6E", "0x3F1C, 0xBFC9"),
    "atanh": ("0x38D1B717, 0x3F7FBE77", "0x38D1B717, 0x4073369A", "0x38D2, 0x3F80", "0x38D2, 0x7F80"),
    "cosh": ("0x3A83126F, 0x41A00000", "0x3F800004, 0x4D675844", "0x3A83, 0x41A0", "0x3F80, 0x4D67"),
    "sinh": ("0xBA83126F, 0x41A00000", "0xBA831270, 0x4D675844", "0xBA83, 0x41A0", "0xBA83, 0x4D67"),
    "tan": ("0x3FC00000, 0xC0400000", "0x41619F6B, 0x3E11F7B9", "0x3FC0, 0xC040", "0x4162, 0x3E12"),
    "square": ("0x3F8CCCCD, 0x8E736390", "0x3F9AE148, 0x00000000", "0x3F8D, 0x8E73", "0x3F9B, 0x0000"),
    "digamma": ("0x3DCCCCCD, 0xBFC00000", "0xC126C7B3, 0x3F340213", "0x3DCD, 0xBFC0", "0xC127, 0x3F34"),
    "erf": ("0x3A83126F, 0xC0000000", "0x3A93E61C, 0xBF7ECD71", "0x3A83, 0xC000", "0x3A94, 0xBF7F"),
    "erfc": ("0x40A00000, 0xC0000000", "0x2BD860D4, 0x3FFF66B8", "0x40A0, 0xC000", "0x2BD8, 0x3FFF"),
    "erf_inv": ("0x3DCCCCCD, 0xBF7FBE77", "0x3DB5FA21, 0xC014E993", "0x3DCD, 0xBF80", "0x3DB6, 0xFF80"),
    "lgamma": ("0x3FC00000, 0xC0200000", "0xBDF75CAE, 0xBD665FD0", "0x3FC0, 0xC020", "0xBDF7, 0xBD66"),
}


def run(body: str) -> list[bool]:
    """Whether each check of a function holds."""
    op_set = StableHLO()
    evaluate(Program(parse(f"func.func @main() {{\n{body}\n  return\n}}", "x.mlir").functions["main"]), op_set, [])
    return [check.failure is None for check in op_set.checks]


@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_are_correctly_rounded(op: str) -> None:
    operands, results, *narrow = FUNCTIONS[op]
    body = ""
    for at, (x, y, dtype) in enumerate(((operands, results, "f32"), (*narrow, "bf16"))):
        body += f"""  %x{at} = stablehlo.constant dense<[{x}]> : tensor<2x{dtype}>
  %y{at} = chlo.{op} %x{at} : tensor<2x{dtype}> -> tensor<2x{dtype}>
  check.expect_eq_const %y{at}, dense<[{y}]> : tensor<2x{dtype}>
"""
    assert run(body) == [True, True]


def constants(*texts: str) -> str:
    return "".join(f"  %{name} = stablehlo.constant {text}\n" for name, text in zip("xyz", texts, strict=False))


F4, F22 = "tensor<4xf32>", "tensor<2x2xf32>"
EDGES = "dense<[0.0, 0x7F7FFFFF, -0.0, 1.0]> : tensor<4xf32>"
F8 = "tensor<3xf8E4M3FNUZ>"
OTHERS = {
    "next_after": (constants(EDGES, "dense<[-1.0, 0x7F800000, 0.0, 1.0]> : tensor<4xf32>"),
                   f"chlo.next_after %x, %y : {F4}, {F4} -> {F4}",
                   f"dense<[0x80000001, 0x7F800000, 0.0, 1.0]> : {F4}"),
    "next_after of NaN": (constants("dense<[0x7FC00000, 1.0]> : tensor<2xf32>",
                                    "dense<[1.0, 0x7FC00000]> : tensor<2xf32>"),
                          "chlo.next_after %x, %y : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>",
                          "dense<0x7FC00000> : tensor<2xf32>"),
    "next_after of float64": (constants("dense<[1.0, -1.0]> : tensor<2xf64>", "dense<0.0> : tensor<2xf64>"),
                              "chlo.next_after %x, %y : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>",
                              "dense<[0x3FEFFFFFFFFFFFFF, 0xBFEFFFFFFFFFFFFF]> : tensor<2xf64>"),
    "next_after of a format without -0": (constants(f"dense<[0x01, 0x81, 0x00]> : {F8}",
                                                    f"dense<[0x00, 0x01, 0x81]> : {F8}"),
                                          f"chlo.next_after %x, %y : {F8}, {F8} -> {F8}",
                                          f"dense<[0x00, 0x00, 0x81]> : {F8}"),
    "mulhi": (constants("dense<[-128, 127, -1]> : tensor<3xi8>", "dense<[-128, 127, 1]> : tensor<3xi8>"),
              "chlo.mulhi %x, %y : tensor<3xi8>, tensor<3xi8> -> tensor<3xi8>", "dense<[64, 63, -1]> : tensor<3xi8>"),
    "mulhi of uint64": (constants("dense<18446744073709551615> : tensor<ui64>", "dense<3> : tensor<ui64>"),
                        "chlo.mulhi %x, %y : tensor<ui64>, tensor<ui64> -> tensor<ui64>", "dense<2> : tensor<ui64>"),
    "mulhi of int4": (constants("dense<[-8, 7]> : tensor<2xi4>", "dense<[-8, 7]> : tensor<2xi4>"),
                      "chlo.mulhi %x, %y : tensor<2xi4>, tensor<2xi4> -> tensor<2xi4>", "dense<[4, 3]> : tensor<2xi4>"),
    "is_inf": (constants("dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>"),
               f"chlo.is_inf %x : {F4} -> tensor<4xi1>", "dense<[true, true, false, false]> : tensor<4xi1>"),
    "is_pos_inf": (constants("dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>"),
                   f"chlo.is_pos_inf %x : {F4} -> tensor<4xi1>", "dense<[true, false, false, false]> : tensor<4xi1>"),
    "is_neg_inf": (constants("dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>"),
                   f"chlo.is_neg_inf %x : {F4} -> tensor<4xi1>", "dense<[false, true, false, false]> : tensor<4xi1>"),
    "conj": (constants("dense<[(1.0, 2.0), (0.0, -0.0)]> : tensor<2xcomplex<f32>>"),
             "chlo.conj %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>",
             "dense<[(1.0, -2.0), (0.0, 0.0)]> : tensor<2xcomplex<f32>>"),
    "constant": ("", "chlo.constant dense<[1, 2]> : tensor<2xi32>", "dense<[1, 2]> : tensor<2xi32>"),
    "constant_like": (constants("dense<0.0> : tensor<2x2xf32>"),
                      f'"chlo.constant_like"(%x) {{value = 0.1 : f32}} : ({F22}) -> {F22}', f"dense<0.1> : {F22}"),
    "broadcast_add": (constants("dense<[1.0, 2.0]> : tensor<2xf32>", "dense<[[10.0], [20.0]]> : tensor<2x1xf32>"),
                      f"chlo.broadcast_add %x, %y : (tensor<2xf32>, tensor<2x1xf32>) -> {F22}",
                      f"dense<[[11.0, 12.0], [21.0, 22.0]]> : {F22}"),
    "broadcast_subtract at dimensions": (
        constants("dense<[1.0, 2.0]> : tensor<2xf32>", f"dense<[[10.0, 20.0], [30.0, 40.0]]> : {F22}"),
        f"chlo.broadcast_subtract %x, %y {{broadcast_dimensions = array<i64: 0>}} : (tensor<2xf32>, {F22}) -> {F22}",
        f"dense<[[-9.0, -19.0], [-28.0, -38.0]]> : {F22}"),
    "broadcast_compare": (constants("dense<[1.0, 2.0]> : tensor<2xf32>", "dense<2.0> : tensor<f32>"),
                          ("chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : "
                          "(tensor<2xf32>, tensor<f32>) -> tensor<2xi1>"), "dense<[true, false]> : tensor<2xi1>"),
    "broadcast_multiply of nothing": (constants("dense<> : tensor<0xf32>", "dense<2.0> : tensor<1xf32>"),
                                      ("chlo.broadcast_multiply %x, %y : (tensor<0xf32>, tensor<1xf32>) -> "
                                      "tensor<0xf32>"), "dense<> : tensor<0xf32>"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_ops(name: str) -> None:
    given, op, expected = OTHERS[name]
    assert run(f"{given}  %r = {op}\n  check.expect_eq_const %r, {expected}\n") == [True]


TOP_K = {
    "f32": ("[[0x7FC00000, 1.0, 0x7F800000], [-0.0, 0.0, 0xFFC00000]]", "[[0x7FC00000, 0x7F800000], [0.0, -0.0]]",
            "[[0, 2], [1, 0]]"),
    "i8": ("[[-128, 127, 127], [0, -1, 0]]", "[[127, 127], [0, 0]]", "[[1, 2], [0, 2]]"),
    "ui64": ("[[0, 18446744073709551615, 1], [5, 5, 5]]", "[[18446744073709551615, 1], [5, 5]]", "[[1, 2], [0, 1]]"),
}  # fmt: skip


@pytest.mark.parametrize("dtype", TOP_K)
def test_top_k(dtype: str) -> None:
    """By totalOrder, and the first of equal ones first."""
    operand, values, places = TOP_K[dtype]
    assert run(f"""  %x = stablehlo.constant dense<{operand}> : tensor<2x3x{dtype}>
  %v, %i = chlo.top_k(%x, k = 2) : tensor<2x3x{dtype}> -> (tensor<2x2x{dtype}>, tensor<2x2xi32>)
  check.expect_eq_const %v, dense<{values}> : tensor<2x2x{dtype}>
  check.expect_eq_const %i, dense<{places}> : tensor<2x2xi32>""") == [True, True]


REFUSED = {
    "no function of the kit": (3, "no meaning for chlo.polygamma (x.mlir:3)",
                               f"chlo.polygamma %x, %x : {F22}, {F22} -> {F22}"),
    "shapes without one in common": (2, "have no shape in common (x.mlir:3)",
                                     f"chlo.broadcast_add %x, %y : ({F22}, tensor<3xf32>) -> {F22}"),
    "a k beyond the dimension": (2, "x.mlir:3: ", ("chlo.top_k(%x, k = 3) : tensor<2x2xf32> -> (tensor<2x3xf32>, "
                                                  "tensor<2x3xi32>)")),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name: str) -> None:
    code, told, op = REFUSED[name]
    given = "  %x = stablehlo.constant dense<1.0> : tensor<2x2xf32> "
    given += "%y = stablehlo.constant dense<1.0> : tensor<3xf32>\n"
    results = "%r:2" if "top_k" in op else "%r"
    with pytest.raises(ConformError) as found:
        run(f"{given}  {results} = {op}")
    assert (found.value.exit_code, told in str(found.value)) == (code, True)
