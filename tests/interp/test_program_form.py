"""A program as data: what its evaluation checks, whatever the op set; and torch's operators as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conform.errors import InvalidArguments, KitDefect, NoGolden
from conform.interp.program.aten import aten
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Function, Op, Program, Value
from conform.interp.program.goldens import FACTOR, goldens_of
from conform.interp.program.number import Number
from conform.numerics.real import Real

F32 = np.float32


def value(name: str, *shape: int, dtype: str = "float32") -> Value:
    return Value(name, dtype, shape)


def program(*ops: Op, results: Sequence[str] = ("y",), constants: Mapping[str, np.ndarray] | None = None) -> Program:
    return Program(Function((value("x", 2),), ops, tuple(results)), constants or {})


X = Number.exact(F32([1.0, 2.0]))


# --- Whatever the op set ----------------------------------------------------------------------------------------------


def toy(op: Op, operands: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Number, ...]:
    """Ops named by what they do."""
    if op.name == "twice":
        return (Number.exact(operands[0].array * F32(2)),)
    if op.name == "times":
        return (Number.exact(operands[0].array * F32(attributes["by"])),)
    if op.name == "both":
        return (operands[0], operands[1])
    if op.name == "largest of":
        return (Number.exact(np.maximum.reduce([one.array for one in operands[0] if one is not None])),)
    raise NoGolden(f"nobody knows {op.name}")


def test_values_go_by_name_from_op_to_op() -> None:
    steps = (
        Op("twice", ("x",), {}, (value("a", 2),)),
        Op("times", ("held",), {"by": 3}, (value("b", 2),)),
        Op("both", ("b", "a"), {}, (None, value("c", 2))),
        Op("largest of", (("c", None, "b"),), {}, (value("y", 2),)),
    )
    held = {"held": F32([1.0, 1.0])}
    assert [one.array.tolist() for one in evaluate(program(*steps, constants=held), toy, [X])] == [[3.0, 4.0]]
    (x, held_back, x_again) = evaluate(program(results=("x", "held", "x"), constants=held), toy, [X])
    assert x is X
    assert x_again is X
    assert held_back.array.tolist() == [1.0, 1.0]


def test_a_listener_hears_every_op() -> None:
    heard: list[tuple[str, list[float], list[float]]] = []

    def listener(op: Op, operands: Sequence[Any], results: Sequence[Number]) -> None:
        heard.append((op.name, operands[0].array.tolist(), results[0].array.tolist()))

    steps = (Op("twice", ("x",), {}, (value("a", 2),)), Op("times", ("a",), {"by": 5}, (value("y", 2),)))
    evaluate(program(*steps), toy, [X], listener)
    assert heard == [("twice", [1.0, 2.0], [2.0, 4.0]), ("times", [2.0, 4.0], [10.0, 20.0])]


@pytest.mark.parametrize(
    ("step", "error", "message"),
    [
        (Op("thrice", ("x",), {}, (value("y", 2),), "model.py:7"), NoGolden, r"nobody knows thrice \(model.py:7\)"),
        (Op("twice", ("x",), {"by": 2, "at": 1}, (value("y", 2),)), NoGolden, "nothing reads its attribute at, by"),
        (Op("twice", ("x",), {}, (value("y", 2), value("z", 2))), NoGolden, "2 results are stated, its meaning has 1"),
        (Op("twice", ("x",), {}, (value("y", 3),)), KitDefect, r"float32\[2\], where .* float32\[3\]"),
        (Op("twice", ("x",), {}, (value("y", 2, dtype="float64"),)), KitDefect, r"float32\[2\], .* float64\[2\]"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_with_op_and_place(step: Op, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(program(step), toy, [X])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "a program of 1 arguments was given 0"),
        ([X, X], "a program of 1 arguments was given 2"),
        ([Number.exact(F32([1.0]))], r"argument x: found float32\[1\], expected float32\[2\]"),
        ([Number.exact(np.array([1, 2]))], r"argument x: found int64\[2\], expected float32\[2\]"),
    ],
)
def test_inputs_are_those_that_a_program_states(inputs: list[Number], message: str) -> None:
    with pytest.raises(NoGolden, match=message):
        evaluate(program(results=("x",)), toy, inputs)


# --- torch's operators ------------------------------------------------------------------------------------------------


def of(name: str, *operands: Any, dtype: str = "float32", **attributes: Any) -> Op:
    return Op(f"aten::{name}", operands, attributes, (value("y", 2, dtype=dtype),))


def test_operands_are_the_tensors_in_the_schemas_order() -> None:
    (y,) = evaluate(program(of("add.Tensor", "x", "x", alpha=3)), aten, [X])
    assert y.real.hi.tolist() == [4.0, 8.0]
    (y,) = evaluate(program(of("add.Tensor", "x", other=0.5)), aten, [X])  # a Python number in a tensor's place
    assert y.real.hi.tolist() == [1.5, 2.5]
    held = {"m": np.array([True, False]), "w": F32([7, 8])}
    (y,) = evaluate(program(of("where.self", "m", "x", "w"), constants=held), aten, [X])
    assert y.array.tolist() == [1.0, 8.0]


@pytest.mark.parametrize(
    ("step", "error", "message"),
    [
        (of("add.Tensor", "x"), NoGolden, "aten::add.Tensor: found 1 operands, expected 2: self, other"),
        (of("neg.default", "x", "x"), NoGolden, "aten::neg.default: found 2 operands, expected 1: self"),
        (of("nothing.default", "x"), NoGolden, "a program cannot use aten::nothing.default: unknown operator"),
        (of("angle.default", "x"), NoGolden, "a program cannot use aten::angle here: the kit knows no bound"),
        (of("sum.dim_IntList", "x", dim=[3]), InvalidArguments, "aten::sum.dim_IntList: argument dim"),
    ],
)
def test_what_torch_does_not_have_is_refused_by_name(step: Op, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        evaluate(program(step), aten, [X])


def test_what_a_program_asserts_is_looked_at() -> None:
    def asserting(mask: Sequence[bool]) -> Program:
        step = Op("aten::_assert_async.msg", ("m",), {"assert_msg": "classes are positive"}, ())
        return program(step, results=("x",), constants={"m": np.array(mask)})

    assert evaluate(asserting([True]), aten, [X]) == (X,)
    with pytest.raises(NoGolden, match="asserts what does not hold of these numbers: classes are positive"):
        evaluate(asserting([True, False]), aten, [X])


def bfloat16_program(*names: str) -> Callable[[], tuple[Number, ...]]:
    """x, then each op on what the one before gives and on 1."""
    values = ["x", *(f"v{at}" for at in range(1, len(names))), "y"]
    steps = [
        Op(f"aten::{name}", (values[at],), {"other": 1.0} if "Tensor" in name else {},
           (value(values[at + 1], 1, dtype="bfloat16"),))
        for at, name in enumerate(names)
    ]  # fmt: skip
    whole = Program(Function((value("x", 1, dtype="bfloat16"),), tuple(steps), ("y",)))
    return lambda: evaluate(whole, aten, [Number.exact(np.array([1.0], ml_dtypes.bfloat16))])


U, U32 = 2.0**-8, 2.0**-24  # of one rounding to bfloat16, and to float32, in which steps are taken


@pytest.mark.parametrize(
    ("names", "budget"),
    [
        (["add.Tensor"], 2 * U32),  # the last result's own rounding is the judge's matter
        (["add.Tensor", "mul.Tensor"], 2 * U + 4 * U32),  # 1 + 1, perhaps rounded, times 1
        (["add.Tensor", "view.default", "neg.default", "mul.Tensor"], 2 * U + 4 * U32),  # moved, and rounded once
        (["add.Tensor", "add.Tensor", "mul.Tensor"], 2 * U + 2 * U + 8 * U32),  # half an ulp of 2, and of 3
    ],
)
def test_a_result_may_be_rounded_to_its_dtype_wherever_it_is_used(names: list[str], budget: float) -> None:
    def with_sizes(op: Op) -> Op:
        return Op(op.name, op.operands, {"size": [1]}, op.results) if "view" in op.name else op

    made = bfloat16_program(*names)
    whole = made.__closure__[0].cell_contents
    ops = tuple(map(with_sizes, whole.function.ops))
    y = evaluate(Program(Function(whole.function.arguments, ops, ("y",))), aten,
                 [Number.exact(np.array([1.0], ml_dtypes.bfloat16))])[0]  # fmt: skip
    assert y.rad[0] == pytest.approx(budget, rel=2e-2)


def test_what_leaves_a_half_type_on_the_way_has_no_bound() -> None:
    large = Number.exact(np.array([60000.0], np.float16))
    steps = (Op("aten::add.Tensor", ("x", "x"), {}, (value("a", 1, dtype="float16"),)),
             Op("aten::mul.Tensor", ("a",), {"other": 0.25}, (value("y", 1, dtype="float16"),)))  # fmt: skip
    (y,) = evaluate(Program(Function((value("x", 1, dtype="float16"),), steps, ("y",))), aten, [large])
    assert y.real.hi.tolist() == [30000.0]
    assert np.isinf(y.rad).all()


# --- Bounds of programs -----------------------------------------------------------------------------------------------


def numbers(rad: Sequence[float], likely: Sequence[float]) -> Callable[[], tuple[Number, ...]]:
    """Four numbers of root mean square 1, with these errors: first those that add up, then the others."""
    each = iter((rad, likely))
    real = Real.exact(np.array([1.0, -1.0, 1.0, -1.0]))
    return lambda: (Number(X.format, real, np.array(next(each))),)


def test_the_linear_bound_decides_up_to_a_hundredth_of_the_scale() -> None:
    (golden,) = goldens_of(numbers([0.01, 0.0, 1e-3, 0.01], [1.0] * 4), "a")
    assert (golden.budget.tolist(), golden.statistical) == ([0.01, 0.0, 1e-3, 0.01], False)


def test_then_independent_errors_do_and_then_nothing() -> None:
    (golden,) = goldens_of(numbers([0.005, 0.02, 9.0, np.inf], [1e-4, 1e-3, 0.1 / FACTOR, 0.11 / FACTOR]), "a")
    assert golden.budget.tolist() == [0.005, FACTOR * 1e-3, 0.1, np.inf]
    assert golden.statistical
    (golden,) = goldens_of(numbers([9.0] * 4, [9.0] * 4), "a")
    assert (np.isinf(golden.budget).all(), golden.statistical) == (True, False)


def test_the_lesser_of_both_decides() -> None:
    """Of few roundings 8 times the root of the sum of squares is more than their sum."""
    (golden,) = goldens_of(numbers([0.03, 0.03, 0.11, 0.005], [0.02, 1e-3, 0.1, 0.005]), "a")
    assert golden.budget.tolist() == [0.03, FACTOR * 1e-3, np.inf, 0.005]
    (golden,) = goldens_of(numbers([0.03] * 4, [0.02] * 4), "a")
    assert (golden.budget.tolist(), golden.statistical) == ([0.03] * 4, False)


def test_the_scale_is_that_of_the_finite_numbers() -> None:
    real = Real.exact(np.array([0.0, 2.0**0.5, np.inf, np.nan]))  # of root mean square 1
    errors = iter(([0.0099, 0.0101, 0.0, 0.0], [1e-3] * 4))
    (golden,) = goldens_of(lambda: (Number(X.format, real, np.array(next(errors))),), "a")
    assert golden.budget.tolist() == [0.0099, FACTOR * 1e-3, 0.0, 0.0]
    (golden,) = goldens_of(lambda: (Number(X.format, Real.exact(np.zeros(2)), np.array([0.0, 1e-30])),), "a")
    assert golden.budget.tolist() == [0.0, np.inf]  # all cancels: nothing says how large an error is large


def test_what_is_not_known_of_a_number_is_added_where_it_is_less_than_what_may_be_lost() -> None:
    """Of numbers between two of float32, of the largest one, which may be infinite, and one of which less is known."""
    largest = float(np.finfo(np.float32).max)
    hi = np.array([1 + 2.0**-24, 1.0, largest * (1 + 2.0**-25), 1 + 2.0**-24])
    real = Real(hi, np.zeros(4), np.array([2.0**-40, 2.0**-40, largest * 2.0**-30, 1e-3]))
    number = Number(X.format, real, np.array([2.0**-20, 2.0**-20, largest * 2.0**-20, 2.0**-20]))
    (golden,) = goldens_of(lambda: (number,), "a")
    assert np.isinf(golden.budget).tolist() == [True, False, True, True]
    (golden,) = goldens_of(lambda: (number,), "a", nearest=True)
    assert golden.budget[:2].tolist() == [2.0**-20 + 2.0**-40, 2.0**-20]
    assert golden.value[0] in (1.0, np.nextafter(np.float32(1), np.float32(2)))
    assert np.isinf(golden.budget[3])
