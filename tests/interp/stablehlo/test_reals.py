"""Programs on real numbers: honest engines lie within the bounds, wrong programs do not, what is free is not judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import NoGolden, Unjudged
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_to
from tests.interp.stablehlo import generated
from tests.interp.stablehlo.composed import composed
from tests.interp.stablehlo.generated import Case
from tests.interp.stablehlo.on_reals import computed, goldens, judged, stepwise, unary

F32 = np.float32
NAN = float("nan")
X, Y = (np.random.default_rng(3).standard_normal((2, 4, 5))).astype(F32)
KINDS = ("float16", "bfloat16", "float32", "float64")


def test_the_real_number_is_that_of_all_steps_together() -> None:
    """x / 3 * 3 is x, however the quotient is rounded; an engine may be off by what these two roundings make."""
    (golden,) = goldens(
        """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %three = stablehlo.constant dense<3.0> : tensor<3xf32>
      %0 = stablehlo.divide %x, %three : tensor<3xf32>
      %1 = stablehlo.multiply %0, %three : tensor<3xf32>
      return %1 : tensor<3xf32>
    }""",
        np.array([1, 0.7, -1e30], F32),
    )
    assert golden.value.tolist() == np.array([1, 0.7, -1e30], F32).tolist()
    ulps = golden.budget / np.spacing(np.abs(golden.value))
    assert ((ulps >= 0.5) & (ulps <= 5)).all()  # 2.5 of the quotient, half of each rounding, at both ends of a binade


@pytest.mark.parametrize(("op", "ulps"), [("exponential", 3), ("sine", 4), ("tan", 5), ("cbrt", 2)])
def test_functions_err_by_what_opencl_allows(op: str, ulps: float) -> None:
    (golden,) = goldens(unary(op), X)
    assert golden.budget == pytest.approx(ulps * 2.0**-23 * np.abs(golden.real.hi), rel=1e-6)


# --- Honest engines ---------------------------------------------------------------------------------------------------


EVERY: dict[str, Callable[[], Iterator[Case]]] = {
    "unary": generated.unary, "binary": generated.binary, "comparisons": generated.comparisons,
    "conversions": generated.conversions, "movements": generated.movements, "reductions": generated.reductions,
    "indexing": generated.indexing, "contractions": generated.contractions, "convolutions": generated.convolutions,
    "sorts": generated.sorts, "chlo functions": generated.chlo_functions, "chlo": generated.chlo_others,
}  # fmt: skip


@pytest.mark.rotating(60)
@pytest.mark.parametrize("share", EVERY)
@pytest.mark.parametrize("change", [str, computed])
def test_the_specification_s_own_steps_are_honest(share: str, change: Callable[[str], str]) -> None:
    """On special values of every element type, known or computed: nothing is called wrong, and much is judged."""
    compared, wrong, refused, cases = 0, [], [], list(EVERY[share]())
    for case in cases:
        text = change(case.program)
        try:
            found = judged(text, stepwise(text))
        except Unjudged as reason:
            refused.append(f"{case.op} {case.dtype}: {reason}")
            continue
        compared += sum(int(one.compared.sum()) for one in found)
        wrong += [f"{case.op} {case.dtype}" for one in found if not one.ok.all()]
    assert not wrong
    assert compared > 100, refused
    assert len(refused) < 0.7 * len(cases), refused


@pytest.mark.parametrize("dtype", KINDS)
def test_steps_that_follow_each_other_are_honest(dtype: str) -> None:
    """Random programs of five to ten ops, every result of which is rounded to its element type."""
    compared, size = 0, 0
    for seed in range(40):
        text, shape = composed(seed, dtype)
        rng = np.random.default_rng(seed)
        scale = 10.0 ** rng.integers(-2, 2)
        x, y = (np.asarray(round_to(FORMATS[dtype], scale * rng.standard_normal(shape))) for _ in "xy")
        (found,) = judged(text, stepwise(text, x, y), x, y)
        assert found.ok.all(), text
        compared, size = compared + int(found.compared.sum()), size + found.ok.size
    assert compared > size / 2


# --- Wrong ones -------------------------------------------------------------------------------------------------------

SOFTMAX = """func.func @main(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
  %most = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<4xf32>) -> tensor<4x5xf32>
  %below = stablehlo.subtract %x, %most : tensor<4x5xf32>
  %e = stablehlo.exponential %below : tensor<4x5xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
  %all = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<4xf32>) -> tensor<4x5xf32>
  %p = stablehlo.divide %e, %all : tensor<4x5xf32>
  %w = stablehlo.dot_general %p, %y, contracting_dims = [1] x [1] : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x4xf32>
  %v = stablehlo.dot_general %w, %y, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %0 = stablehlo.tanh %v : tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
"""  # noqa: E501
HALF = r"""  %{0}.whole = \1
  %{0}.half = stablehlo.convert %{0}.whole : (tensor<4x5xf32>) -> tensor<4x5xbf16>
  %{0} = stablehlo.convert %{0}.half : (tensor<4x5xbf16>) -> tensor<4x5xf32>"""


def in_half(name: str) -> tuple[str, str]:
    """A value rounded to bfloat16 on its way."""
    return rf"^  %{name} = (.*)$", HALF.format(name)


ANOTHER = r"""%five = \1across dimensions = [0]\2-> tensor<5xf32>
  %sum = stablehlo.slice %five [0:4] : (tensor<5xf32>) -> tensor<4xf32>"""
DEFECTS = {
    "another op": (r"stablehlo.tanh", "stablehlo.sine"),
    "another dimension": (r"%sum = (.*)across dimensions = \[1\](.*)-> tensor<4xf32>", ANOTHER),
    "an initial value": (r"%zero = stablehlo.constant dense<0.0>", "%zero = stablehlo.constant dense<1.0e-4>"),
    "transposed": (r"%w = (.*)%p, %y(.*)$", r"%w = \1%y, %p\2"),
    "in bfloat16": in_half("p"),
    "e^x in bfloat16": in_half("e"),
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS)
def test_wrong_programs_are_found(defect: str) -> None:
    wrong = re.sub(*DEFECTS[defect], SOFTMAX, flags=re.MULTILINE)
    assert wrong != SOFTMAX
    (right,) = judged(SOFTMAX, stepwise(SOFTMAX, X, Y), X, Y)
    assert right.ok.all()
    assert right.compared.all()
    (found,) = judged(SOFTMAX, stepwise(wrong, X, Y), X, Y)
    assert not found.ok.all()


# --- What cannot be judged --------------------------------------------------------------------------------------------

REFUSED = {
    "fft": (unary("fft", "tensor<4xcomplex<f32>>").replace('(%x)', '(%x) {fft_type = #stablehlo<fft_type FFT>, '
            'fft_length = array<i64: 4>}'), [np.full(4, np.inf, np.complex64)], "stablehlo.fft: nothing is known"),
    "a complex function": (unary("acosh", "tensor<4xcomplex<f32>>").replace("stablehlo.acosh", "chlo.acosh"),
                           [np.ones(4, np.complex64)],
                           "chlo.acosh: no rule tells what becomes of the errors of complex numbers"),
    "the next number of a sum": ("""func.func @main(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
      %0 = stablehlo.add %x, %x : tensor<4x5xf32>
      %1 = chlo.next_after %0, %x : tensor<4x5xf32>, tensor<4x5xf32> -> tensor<4x5xf32>
      return %1 : tensor<4x5xf32>
    }""", [X], r"chlo.next_after: no rule tells what becomes of the errors .* \(x.mlir:3\)"),
    "a collective": ("""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }""", [np.ones(4, F32)], "stablehlo.all_reduce: what it gives hangs on the processes of a grid"),
    "a branch": ("""func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.sine %x : tensor<f32>
      %1 = stablehlo.subtract %0, %0 : tensor<f32>
      %2 = stablehlo.compare GT, %1, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = "stablehlo.if"(%2) ({
        stablehlo.return %x : tensor<f32>
      }, {
        stablehlo.return %0 : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      return %3 : tensor<f32>
    }""", [np.array(1, F32)], r"stablehlo.if: what it does hangs on bool\[\]"),
    "another region": ("""func.func @main(%x: tensor<4xi32>) -> tensor<i32> {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
        reducer(%a: tensor<i32>, %b: tensor<i32>) {
          %1 = stablehlo.subtract %a, %b : tensor<i32>
          stablehlo.return %1 : tensor<i32>
        }
      return %0 : tensor<i32>
    }""", [np.arange(4, dtype=np.int32)], "stablehlo.reduce: its region may hang on the order of elements"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_named(name: str) -> None:
    text, arrays, message = REFUSED[name]
    with pytest.raises(NoGolden, match=message):
        goldens(text, *arrays)


# --- Places -----------------------------------------------------------------------------------------------------------

# argmax as jax.numpy.argmax is lowered, of a product.
ARGMAX = """func.func @main(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %p = stablehlo.multiply %x, %y : tensor<4x5xf32>
  %places = stablehlo.iota dim = 1 : tensor<4x5xi32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%p init: %lowest), (%places init: %zero) across dimensions = [1] : (tensor<4x5xf32>, tensor<4x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    %4 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.or %3, %6 : tensor<i1>
    %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
    %9 = stablehlo.select %7, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}
"""  # noqa: E501


def test_the_place_of_the_largest() -> None:
    values, places = goldens(ARGMAX, X, Y)
    assert places.value.tolist() == np.argmax(X.astype(np.float64) * Y, 1).tolist()
    assert places.value.dtype == np.int32
    assert values.value.tolist() == np.max(X * Y, 1).tolist()
    smallest = ARGMAX.replace("GT", "LT").replace("0xFF800000", "0x7F800000")
    assert goldens(smallest, X, Y)[1].value.tolist() == np.argmin(X.astype(np.float64) * Y, 1).tolist()


def test_of_numbers_that_rounding_may_turn_either_is_right() -> None:
    """3 * 0.1 beside 0.3 in float32: the products lie half an ulp apart."""
    x, y = np.ones((4, 5), F32), np.zeros((4, 5), F32)
    x[:, 0], y[:, 0] = 3, np.float32(0.1)
    x[:, 3], y[:, 3] = 1, np.float32(0.3)
    _, places = goldens(ARGMAX, x, y)
    allowed = {tuple(one.value.tolist()) for one in (places, *places.alternatives)}
    assert allowed == {(0, 0, 0, 0), (3, 3, 3, 3)}


def test_a_known_line_has_its_place() -> None:
    text = ARGMAX.replace("%p = stablehlo.multiply %x, %y", "%p = stablehlo.negate %x")
    x = np.zeros((4, 5), F32)
    x[1, 2], x[2, 4], x[3] = -1, np.nan, np.inf
    assert goldens(text, x, Y)[1].value.tolist() == [0, 2, 4, 0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("compare LT, %i, %j", "compare GT, %i, %j"),  # the last of equal ones
        ("select %7, %i, %j", "select %3, %j, %i"),
        ("0xFF800000", "0x00000000"),
        ("iota dim = 1", "iota dim = 0"),
        ("%zero = stablehlo.constant dense<0>", "%zero = stablehlo.constant dense<3>"),
    ],
)
def test_what_gives_something_else_is_not_taken_for_it(old: str, new: str) -> None:
    with pytest.raises(NoGolden, match="not known to give the largest or smallest number and its place"):
        goldens(ARGMAX.replace(old, new), X, Y)


# --- Sums that begin somewhere ----------------------------------------------------------------------------------------


def test_an_initial_value_is_a_term_of_every_sum() -> None:
    """1e8 and a hundred ones: added one by one each is lost, and that is honest."""
    text = """func.func @main(%x: tensor<100xf32>) -> tensor<f32> {
      %start = stablehlo.constant dense<1.0e8> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %start) applies stablehlo.add across dimensions = [0] : (tensor<100xf32>, tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""  # noqa: E501
    x = np.ones(100, F32)
    assert stepwise(text, x)[0] == 1e8
    (golden,) = goldens(text, x)
    assert golden.value == np.float32(100000100)
    assert judged(text, stepwise(text, x), x)[0].ok
