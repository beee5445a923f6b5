"""Calls held against the spec of their op: which constraint they break first, whatever stands for their tensors."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

from conform.domains.engine.elements import BLOCK, Elements
from conform.domains.engine.membership import first_violation
from conform.domains.engine.spaces import ANYTHING, INTEGERS, REALS, Discrete, integers_between
from conform.domains.engine.stand_ins import stand_ins
from conform.domains.specs import spec_of
from conform.numerics.formats import FORMATS

LARGE = 10**7


def violated(op: str, *values: Any) -> str | None:
    """What the arguments, in the schema's order, break: "argument: constraint"; in parentheses why that may be."""
    spec = spec_of(op)
    found = first_violation(spec, dict(zip((one.name for one in spec.arguments), values, strict=True)))
    if found is None:
        return None
    return f"{found.argument}: {found.constraint}" + (f" ({found.lenience})" if found.lenience else "")


def f32(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def i64(*values: object) -> np.ndarray:
    return np.array(values, np.int64)


def test_what_is_said_of_a_call() -> None:
    found = first_violation(spec_of("aten::gather"), {"self": f32(2, 3), "dim": 1, "index": i64([0, 7, 3])})
    assert (found.argument, str(found.found), str(found.constraint), found.lenience) == (
        "index", "int64[1, 3] with {7} in it", "index < size(self, dim)", None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("op", "values", "broken"),
    [
        # of several, the first in the order of dependencies: that of index, on dim, comes after dim's own
        ("aten::gather", [f32(2, 3), 2, i64(-5)], "dim: dim < max(rank(self), 1)"),
        ("aten::gather", [f32(2, 3), 0, i64([0, 0, 0, 0])], "index: size(index, d) <= size(self, d) where d != dim"),
        ("aten::gather", [f32(), 0, np.array(0)], None),
        ("aten::gather", [f32(), -1, np.array(1)], "index: index < size(self, dim)"),
        ("aten::gather", [f32(0), 0, i64(0)], "index: size(index, d) in {0} for some d where size(self, dim) = 0"),
        ("aten::gather", [f32(0), 0, i64()], None),
        # numbers for tensors, which have no dimensions and the least to say about the common dtype
        ("aten::neg", [True], "self: dtype(self) != bool"),
        ("aten::neg", [1j], None),
        ("aten::bitwise_and.Tensor", [i64(1), 2], None),
        ("aten::bitwise_and.Tensor", [i64(1), 2.5],
         "other: dtype(other) in {bool, uint8, int8, int16, int32, int64}"),
        ("aten::add.Tensor", [np.zeros(1, np.int8), 300, 100], None),
        ("aten::add.Tensor", [np.zeros(1, np.int8), 300, 128],
         "alpha: alpha in the range of an integer common dtype of self, other (P19)"),
        ("aten::add.Tensor", [np.zeros(1, np.float16), 1j, 1], None),
        # 0-d tensors for numbers
        ("aten::softplus", [f32(1), np.array(2.0, np.float32), 20], None),
        ("aten::softplus", [f32(1), np.array(2j, np.complex64), 20], "beta: dtype(beta) != complex"),
        # None where it may be, and where it decides
        ("aten::argmax", [f32(2, 0), None, False], "dim: (dim is None) not in {True} where self has no elements"),
        ("aten::argmax", [f32(2, 0), 0, False], None),
        ("aten::argmax", [f32(2, 0), 1, False], "dim: dim not in dims of self whose size is 0"),
        ("aten::mean", [i64(1), None], "self: dtype(self) not in {bool, uint8, int8, int16, int32, int64} "),
        ("aten::mean", [i64(1), "float32"], None),
        # lists
        ("aten::permute", [f32(1, 2), [1, -1]], "dims: dims[i] not in the dims before it (modulo rank(self))"),
        ("aten::cat", [[], 0], "tensors: 1 <= length(tensors)"),
        ("aten::cat", [[f32(0), f32(2, 1), f32(2, 3)], 1], None),
        ("aten::cat", [[f32(2, 1), f32(3, 1)], 1], "tensors: size(tensors[i], d) in those of the tensors before it"),
        # numbers that no order holds for
        ("aten::huber_loss", [f32(1), f32(1), 0, math.nan], "delta: 0 < delta"),
        ("aten::arange.start_step", [math.nan, 3, 1, None], "start: start in the finite numbers"),
        ("aten::arange.start_step", [0, 3, math.nan, None], "step: step in all numbers but NaN"),
        ("aten::arange.start_step", [0, math.inf, 1, None], "end: end in [start, inf) if 0 < step"),
        ("aten::arange.start_step", [0, 3, math.inf, None], None),
        # integer division by zero is not refused
        ("aten::div.Tensor_mode", [i64(1), i64(0), "floor"], None),
        ("aten::div.Tensor_mode", [i64(1), i64(0), "ceil"], "rounding_mode: rounding_mode in {trunc, floor}"),
        # what some may accept, and nobody says with which result
        ("aten::logsumexp", [f32(2), [], False], "dim: 1 <= length(dim) (P56: not judged)"),
        ("aten::logsumexp", [f32(2), [1], False], "dim: dim[i] < max(rank(self), 1)"),
    ],
)  # fmt: skip
def test_the_first_constraint_that_a_call_breaks(op: str, values: list, broken: str | None) -> None:
    found = violated(op, *values)
    assert found == broken if broken is None or found is None else found.startswith(broken)


@pytest.mark.parametrize(
    ("indices", "values", "broken"),
    [
        ([np.array([True, False, True])], f32(2, 2), None),
        ([np.array([True, False, True])], f32(3, 2), "values: size(values, d) in {1, size d, from the end"),
        ([np.array([False, False, False])], f32(0, 2), None),
        ([np.array([False, True, True]), i64(0, 1)], f32(2), None),
        ([np.array([True, True, True]), i64(0, 1)], f32(3), "indices: size(indices[i], d) in what broadcasts with"),
        (
            [i64(0, 1, 2), np.array([True, True])],
            f32(3),
            "indices: size(indices[i], d) in those of a mask that chooses",
        ),
        ([None, i64(-2)], f32(3, 1), None),
        ([None, i64(-3)], f32(3, 1), "indices: indices[i] in [-n, n) of an index"),
        ([i64(0), i64(0), i64(0)], f32(1), "indices: length(indices) <= max(rank(self), 1)"),
        ([np.ones((3, 2, 1), bool)], f32(1), "indices: rank(indices[i]) in {1, ...} of a mask"),
        ([np.array(True)], f32(1), "indices: rank(indices[i]) in {1, ...} of a mask, with a dim of self for each"),
        ([np.ones((3, 2), bool)], np.zeros(1), "values: dtype(values) = dtype(self) (at a mask torch fills"),
        ([i64(0)], np.zeros(1), "values: dtype(values) = dtype(self)"),
    ],
)
def test_masks_choose_as_many_places_as_they_do(indices: list, values: np.ndarray, broken: str | None) -> None:
    found = violated("aten::index_put", f32(3, 2), indices, values, False)
    assert found == broken if broken is None or found is None else found.startswith(broken)


def test_an_index_into_nothing_has_no_elements() -> None:
    assert violated("aten::index_put", f32(0, 7), [np.zeros((0, 3), np.int64)], f32(7), False) is None
    assert violated("aten::index_put", f32(0, 7), [i64(0)], f32(7), False) is not None


def test_indices_into_an_empty_dim_may_have_any_sizes_that_broadcast() -> None:
    """What is drawn for them is less than what there is."""
    empty, broadcast, other = np.zeros((0, 1), np.int64), i64(0, 1, 0), np.zeros((0, 2), np.int64)
    assert violated("aten::index_put", f32(2, 0), [broadcast, empty], f32(0, 3), False) is None
    assert str(violated("aten::index_put", f32(2, 0), [broadcast, other], f32(1), False)).startswith("indices: ")


PROBABILITY = "self: 0 <= self"


@pytest.mark.parametrize("value", [math.nan, -math.inf, -1e-30])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (3, BLOCK)])
@pytest.mark.parametrize("place", [0, -1])
def test_an_element_that_is_no_probability(value: float, shape: tuple[int, ...], place: int) -> None:
    """NaN is none (torch: "all elements of input should be between 0 and 1")."""
    x = np.full(shape, 0.5, np.float32)
    assert violated("aten::binary_cross_entropy", x, x, None, 0) is None
    x.reshape(-1)[place] = value
    assert violated("aten::binary_cross_entropy", x, np.full(shape, 0.5, np.float32), None, 0) == PROBABILITY
    assert violated("aten::binary_cross_entropy", x.T, np.full(shape, 0.5, np.float32).T, None, 0) == PROBABILITY


def test_empty_tensors_break_nothing_that_is_said_of_elements() -> None:
    assert violated("aten::binary_cross_entropy", f32(0, 3), f32(0, 3), None, 0) is None
    assert violated("aten::nll_loss", f32(0, 3), i64(), None, 1, -100) is None


@pytest.mark.parametrize("classes", [3, 5000, LARGE])
def test_targets_are_classes_or_ignored(classes: int) -> None:
    """However many classes there are, and whatever is ignored."""
    logits = np.broadcast_to(np.float32(0), (4, classes))
    for ignored in (-100, 0, classes - 1, classes, classes + 7):
        good = i64(0, classes - 1, ignored, 1)
        assert violated("aten::cross_entropy_loss", logits, good, None, 1, ignored, 0.0) is None
        for bad in (-1, classes if ignored != classes else classes + 1, -(2**63), 2**63 - 1):
            target = i64(0, classes - 1, ignored, bad)
            assert "number of classes" in str(
                violated("aten::cross_entropy_loss", logits, target, None, 1, ignored, 0.0)
            )


def test_a_large_tensor_is_looked_at_in_little_memory() -> None:
    index = np.zeros((2, LARGE // 2), np.int64)
    index[-1, -1] = 3
    operand = np.broadcast_to(np.float32(0), (3, LARGE))
    for array in (index, index.T):
        tracemalloc.start()
        assert violated("aten::gather", operand, 0, array) == "index: index < size(self, dim)"
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 64 * BLOCK


def test_formats_that_specs_do_not_speak_of_are_those_of_their_kind() -> None:
    small, other = (np.zeros((2, 2), FORMATS[name].storage) for name in ("float8_e5m2", "float8_e4m3fn"))
    assert violated("aten::gelu", small, "none") is None
    assert violated("aten::mm", small, small) is None
    assert violated("aten::mm", small, other) == "mat2: dtype(mat2) = dtype(self)"
    assert violated("aten::mm", small, np.zeros((2, 2))) == "mat2: dtype(mat2) = dtype(self)"
    found = first_violation(spec_of("aten::neg"), {"self": np.zeros(1, bool)})
    assert str(found.found) == "bool[1]"
    found = first_violation(spec_of("aten::bitwise_and.Tensor"), {"self": small, "other": small})
    assert str(found.found) == "float8_e5m2[2, 2]"
    wide = np.zeros(1, np.uint16)
    assert violated("aten::add.Tensor", wide, wide, 65535) is None
    assert violated("aten::gather", f32(3), 0, wide) == "index: dtype(index) in {int64, int32}"
    assert violated("aten::_to_copy", wide, "float8_e5m2") is None


def test_stand_ins_differ_where_what_they_stand_for_does() -> None:
    names = ["float8_e5m2", "float64", "float8_e4m3fn", "uint32"]
    found = stand_ins(names)
    assert found == {"float8_e5m2": "bfloat16", "float8_e4m3fn": "float32", "uint32": "int64"}
    assert stand_ins(["bool", "float16"]) == {}


VALUES = [math.nan, -math.inf, -3.0, -0.0, 0.0, 0.5, 1.0, 2.0, 5.0, math.inf]
SPACES = [
    ("Lt", 1), ("Le", 1), ("Gt", 0), ("Ge", 0.5), ("Eq", 2), ("Ne", 2), ("In", (0, 2)), ("NotIn", (0, 2)),
    ("In", integers_between(0, 2)), ("In", REALS.narrowed("Gt", 0)), ("In", Discrete((5.0,))),
    ("NotIn", Discrete((5.0,))), ("In", INTEGERS.narrowed("NotIn", (1,))), ("In", ANYTHING), ("NotIn", ()),
    ("In", integers_between(0, -1)), ("In", ()),
]  # fmt: skip


@pytest.mark.parametrize(("suffix", "value"), SPACES, ids=str)
@pytest.mark.parametrize("element", VALUES)
def test_elements_satisfy_what_each_of_them_does(suffix: str, value: Any, element: float) -> None:
    """As the space of the one value does, but that of a space of integers the bounds count, not the fractions."""
    alone = Discrete((element,)).narrowed(suffix, value) == Discrete((element,))
    elements = Elements(np.array([element]))
    if getattr(value, "of_integers", False) and element == 0.5:
        return
    assert (elements.narrowed(suffix, value) is elements) == alone
