"""StableHLO's own ops in the interpreter against references written from the specification, on generated programs:
every op that such a program runs is computed again, element by element, and compared bit for bit."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import ConformError
from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Function, Op, Program
from conform.interp.stablehlo import registry
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import FORMATS
from conform.refs import UNSPECIFIED, RefTensor, lookup
from conform.refs.exact.rounding import COMPONENTS, FLOAT_FORMATS, INTEGER_RANGES, round_ratio, wrap_integer
from conform.refs.stablehlo import (
    casts,
    complex_functions,
    contraction,
    indexing,
    linear_algebra,
    movement,
    normalization,
    reduction,
    transforms,
)
from conform.selftest.agreement.tensors import from_reference, to_reference
from tests.interp.stablehlo import generated
from tests.refs.stablehlo_programs import batching, bits, matrices, norms, rounded, selections
from tests.refs.stablehlo_programs import complex_functions as of_complex_numbers
from tests.refs.stablehlo_programs import transforms as transforming

ARITHMETIC = ("bool", *FLOAT_FORMATS, *INTEGER_RANGES)  # what the references of arithmetic know
ATEN = {"add": "add.Tensor", "subtract": "sub.Tensor", "multiply": "mul.Tensor", "maximum": "maximum",
        "minimum": "minimum", "and": "bitwise_and.Tensor", "or": "bitwise_or.Tensor"}  # fmt: skip


class Unknown(Exception):
    """No reference for an op, or for its element type."""


# --- Elements, as references take them --------------------------------------------------------------------------------


def codes(tensor: Tensor) -> RefTensor:
    """Of ops that only move elements: what they are is not looked at."""
    array = np.ascontiguousarray(tensor.array).view(tensor.format.code_storage)
    return RefTensor(tensor.dtype, tensor.shape, array.ravel().tolist())


def same_codes(found: RefTensor, tensor: Tensor) -> bool:
    return found.shape == tensor.shape and found.data == codes(tensor).data


def numbers_of(*tensors: Tensor) -> list[RefTensor]:
    if any(one.dtype not in ARITHMETIC for one in tensors):
        raise Unknown
    return [to_reference(one.array) for one in tensors]


def same_numbers(found: RefTensor, tensor: Tensor) -> bool:
    """By their codes, NaNs whatever theirs."""
    values, _ = from_reference(found)
    both_nan = (values != values) & (tensor.array != tensor.array)
    return found.shape == tensor.shape and same_codes(codes(Tensor(np.where(both_nan, tensor.array, values))), tensor)


def combining(function: Function, dtype: str) -> Callable[..., Sequence[Any]]:
    """A region of ops of two elements, by the references of torch's operators."""

    def combined(*elements: Any) -> Sequence[Any]:
        scope = dict(zip((one.name for one in function.arguments), elements, strict=True))
        for op in function.ops:
            name = op.name.removeprefix("stablehlo.")
            given = [scope[name] for name in op.operands]
            if name == "compare":
                compare = {"LT": operator.lt, "GT": operator.gt, "GE": operator.ge}
                scope[op.results[0].name] = compare[op.attributes["comparison_direction"]](*given)
            elif name in ATEN:
                one, other = (RefTensor(dtype, (1,), [element]) for element in given)
                (scope[op.results[0].name],) = lookup(f"aten::{ATEN[name]}")(self=one, other=other).data
            else:
                raise Unknown
        return [scope[name] for name in function.results]

    return combined


def dot_of(dtype: str) -> Callable[[Sequence[tuple[Any, Any]]], Any]:
    """The exact sum of the products, rounded once; integers wrap."""

    def dot(pairs: Sequence[tuple[Any, Any]]) -> Any:
        if dtype == "bool":
            return any(x and y for x, y in pairs)
        total = sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))
        if dtype in INTEGER_RANGES:
            return wrap_integer(dtype, int(total))
        return round_ratio(dtype, total.numerator, total.denominator) if total else 0.0

    return dot


# --- What a reference makes of an op ----------------------------------------------------------------------------------

Answer = tuple[list[RefTensor], Callable[[RefTensor, Tensor], bool]]


def moved(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    a, (x, *others) = op.attributes, (*map(codes, given), None)
    starts = [int(one.array) for one in given if one.shape == () and one.dtype.startswith(("int", "uint"))]
    shape = op.results[0].shape
    name = op.name.removeprefix("stablehlo.")
    if name == "dynamic_slice":
        return [movement.dynamic_slice(x, starts, a["slice_sizes"])]
    if name == "dynamic_update_slice":
        starts = [int(one.array) for one in given[2:]]
        return [movement.dynamic_update_slice(x, others[0], starts)]
    found = {
        "transpose": lambda: movement.transpose(x, a["permutation"]),
        "reverse": lambda: movement.reverse(x, a["dimensions"]),
        "slice": lambda: movement.slice_(x, a["start_indices"], a["limit_indices"], a["strides"]),
        "pad": lambda: movement.pad(x, others[0].data[0], a["edge_padding_low"], a["edge_padding_high"],
                                    a["interior_padding"]),
        "concatenate": lambda: movement.concatenate([x, *others[:-1]], int(a["dimension"])),
        "reshape": lambda: movement.reshape(x, shape),
        "broadcast_in_dim": lambda: movement.broadcast_in_dim(x, a["broadcast_dimensions"], shape),
        "bitcast_convert": lambda: movement.bitcast_convert(x, given[0].format.bits, FORMATS[op.results[0].dtype].bits),
    }.get(name)  # fmt: skip
    if found is None:
        raise Unknown
    return [found()]


def plain(numbers_: dict[str, Any]) -> dict[str, Sequence[int]]:
    return {name: value for name, value in numbers_.items() if isinstance(value, tuple)}


def reference(op: Op, given: Sequence[Tensor]) -> Answer:
    """The results by a reference, and how they are compared. Unknown where there is none."""
    a, name = op.attributes, op.name.removeprefix("stablehlo.")
    if name == "gather":
        dims = a["dimension_numbers"]
        starts = to_reference(given[1].array)
        return [indexing.gather(codes(given[0]), starts, plain(dims), dims.get("index_vector_dim", 0), a["slice_sizes"],
                                op.results[0].shape)], same_codes  # fmt: skip
    if name == "iota":
        shape, dtype = op.results[0].shape, op.results[0].dtype
        found = movement.iota("int64", shape, int(a["iota_dimension"]))
        array = np.array(found.data).reshape(shape).astype(FORMATS[dtype].storage)  # small integers, exact in all
        return [codes(Tensor(array))], same_codes
    if name == "fft":
        return transformed(op, given), same_parts
    if name in OF_COMPLEX:
        if any(one.dtype not in COMPONENTS for one in given):
            raise Unknown
        return [OF_COMPLEX[name](*(to_reference(one.array) for one in given))], same_where_specified
    if name not in OF_NUMBERS:
        return moved(op, given), same_codes
    return OF_NUMBERS[name](op, given), same_numbers


def scattered(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    x, updates = numbers_of(given[0], given[2])
    dims = op.attributes["scatter_dimension_numbers"]
    return indexing.scatter([x], to_reference(given[1].array), [updates], plain(dims), dims.get("index_vector_dim", 0),
                            combining(op.regions[0], x.dtype))  # fmt: skip


def reduced(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    x, init = numbers_of(*given)
    return reduction.reduce([x], init.data, op.attributes["dimensions"], combining(op.regions[0], x.dtype))


def windowed(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    x, init = numbers_of(*given)
    a, ones = op.attributes, (1,) * len(x.shape)
    lists = [a.get(name, ones) for name in ("window_strides", "base_dilations", "window_dilations")]
    padding = a.get("padding", np.zeros((len(ones), 2), int)).tolist()
    return reduction.reduce_window([x], init.data, a["window_dimensions"], *lists, padding,
                                   combining(op.regions[0], x.dtype))  # fmt: skip


def chosen(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    x, source, init = numbers_of(*given)
    a = op.attributes
    select, scatter = (combining(one, x.dtype) for one in op.regions)
    return [reduction.select_and_scatter(x, source, init.data[0], a["window_dimensions"], a["window_strides"],
                                         a["padding"].tolist(), select, scatter)]  # fmt: skip


def ordered(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    dtype = given[0].dtype
    return reduction.sort(numbers_of(*given), int(op.attributes["dimension"]), combining(op.regions[0], dtype))


def dotted(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    x, y = numbers_of(*given)
    return [contraction.dot_general(x, y, plain(op.attributes["dot_dimension_numbers"]), x.dtype, dot_of(x.dtype))]


def convolved(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    x, kernel = numbers_of(*given)
    a, ones = op.attributes, (1,) * (len(x.shape) - 2)
    return [contraction.convolution(
        x, kernel, a.get("window_strides", ones), a["padding"].tolist(), a.get("lhs_dilation", ones),
        a.get("rhs_dilation", ones), a.get("window_reversal", (False,) * len(ones)), a["dimension_numbers"],
        int(a["feature_group_count"]), int(a["batch_group_count"]), x.dtype, dot_of(x.dtype),
    )]  # fmt: skip


def fractions(matrix: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(each) for each in row] for row in matrix.tolist()]


def solved(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    a, (left, right) = op.attributes, (one.array.astype(np.float64) for one in given)
    matrix = np.tril(left) if a["lower"] else np.triu(left)
    if a["unit_diagonal"]:
        np.fill_diagonal(matrix, 1)
    matrix = matrix.T if a["transpose_a"] != "NO_TRANSPOSE" else matrix
    pair = (matrix, right) if a["left_side"] else (matrix.T, right.T)
    found = np.array(linear_algebra.solve(*map(fractions, pair), given[1].dtype))
    return [to_reference((found if a["left_side"] else found.T).astype(given[1].array.dtype))]


def decomposed(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    lower, matrix = bool(op.attributes.get("lower", False)), given[0].array.astype(np.float64)
    found = np.array(linear_algebra.cholesky(fractions(matrix if lower else matrix.T), given[0].dtype))
    return [to_reference((found if lower else found.T).astype(given[0].array.dtype))]


def cut(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    (x,), dtype = map(codes, given), given[0].dtype
    bits = (int(op.attributes[f"{name}_bits"]) for name in ("exponent", "mantissa"))
    exponent, mantissa = bits
    if dtype not in FLOAT_FORMATS:
        raise Unknown
    data = [casts.reduce_precision(FLOAT_FORMATS[dtype], code, exponent, mantissa) for code in x.data]
    array = np.array(data, given[0].format.code_storage).view(given[0].format.storage)
    return [to_reference(array.reshape(x.shape))]


def normalized(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    epsilon = float(np.float32(op.attributes["epsilon"]))
    function = getattr(normalization, op.name.removeprefix("stablehlo."))
    found = function(*numbers_of(*given), epsilon, int(op.attributes["feature_index"]))
    return found if isinstance(found, list) else [found]


def transformed(op: Op, given: Sequence[Tensor]) -> list[RefTensor]:
    (x,), result = given, op.results[0]
    fmt = FORMATS[result.dtype]
    found = transforms.fft(op.attributes["fft_type"], x.array.reshape(-1).tolist(), x.shape,
                           op.attributes["fft_length"], (fmt.component if fmt.is_complex else fmt).name)  # fmt: skip
    return [RefTensor(result.dtype, result.shape, found)]


def same_parts(found: RefTensor, tensor: Tensor) -> bool:
    """By the codes of real and imaginary parts."""
    part = tensor.array.real.dtype
    parts = np.array(found.data, tensor.array.dtype).reshape(-1).view(part)
    return found.shape == tensor.shape and parts.tobytes() == np.ascontiguousarray(tensor.array).view(part).tobytes()


def same_where_specified(found: RefTensor, tensor: Tensor) -> bool:
    """By the numbers that the parts are, so zeros whatever their signs, but for elements that are left open."""
    pairs = zip(found.data, tensor.array.reshape(-1).tolist(), strict=True)
    return found.shape == tensor.shape and all(one is UNSPECIFIED or one == other for one, other in pairs)


OF_COMPLEX: dict[str, Callable[..., RefTensor]] = {"cbrt": complex_functions.cbrt, "atan2": complex_functions.atan2}
OF_NUMBERS: dict[str, Callable[[Op, Sequence[Tensor]], list[RefTensor]]] = {
    "scatter": scattered, "reduce": reduced, "reduce_window": windowed, "select_and_scatter": chosen, "sort": ordered,
    "reduce_precision": cut, "dot_general": dotted, "convolution": convolved, "triangular_solve": solved,
    "cholesky": decomposed, "batch_norm_inference": normalized, "batch_norm_training": normalized,
    "batch_norm_grad": normalized,
}  # fmt: skip


# --- The comparison ---------------------------------------------------------------------------------------------------

SHARES: dict[str, tuple[Callable[[], Iterator[generated.Case]], set[str]]] = {
    "movements": (generated.movements, {"transpose", "reverse", "slice", "pad", "concatenate", "reshape", "iota",
                                        "broadcast_in_dim", "dynamic_slice", "dynamic_update_slice"}),
    "reductions": (generated.reductions, {"reduce", "reduce_window"}),
    "sorts": (generated.sorts, {"sort"}),
    "indexing": (generated.indexing, {"gather", "scatter"}),
    "batching": (batching, {"gather", "scatter"}),
    "contractions": (generated.contractions, {"dot_general"}),
    "convolutions": (generated.convolutions, {"convolution"}),
    "selections": (selections, {"select_and_scatter"}),
    "bits": (bits, {"bitcast_convert"}),
    "precisions": (generated.precisions, {"reduce_precision"}),
    "rounded": (rounded, {"dot_general", "reduce"}),
    "norms": (norms, {"batch_norm_inference", "batch_norm_training", "batch_norm_grad"}),
    "transforms": (transforming, {"fft"}),
    "matrices": (matrices, {"triangular_solve", "cholesky"}),
    "complex functions": (of_complex_numbers, {"cbrt", "atan2"}),
}  # fmt: skip


def differences(share: str) -> tuple[Counter[str], list[str]]:
    """How many elements of each op were compared, and the programs of which a result is another."""
    cases, expected = SHARES[share]
    compared: Counter[str] = Counter()
    wrong: list[str] = []

    def hear(op: Op, operands: Sequence[Any], results: Sequence[Any]) -> None:
        name = op.name.removeprefix("stablehlo.")
        if name not in expected:
            return
        try:
            found, same = reference(op, operands)
        except Unknown:
            return
        compared[name] += sum(each is not UNSPECIFIED for one in found for each in one.data)
        for one, result in zip(found, results, strict=True):
            if not same(one, result):
                wrong.append(f"{case.program}\n{name}: {result.array.tolist()}, the reference {one.data}")

    for case in cases():
        evaluate(Program(parse(case.program, "x.mlir").functions["main"]), StableHLO(), [], hear)
    return compared, wrong


@pytest.mark.parametrize("share", SHARES)
def test_every_op_is_what_its_reference_is(share: str) -> None:
    compared, wrong = differences(share)
    assert not wrong, wrong[0]
    assert set(compared) == SHARES[share][1]
    assert min(compared.values()) >= 20


PLANTS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "a dimension is taken for another": ("movements", "transpose", lambda values: values[::-1]),
    "a window begins one later": ("reductions", "reduce_window", lambda values: np.roll(values, 1, 0)),
    "equal elements change places": ("sorts", "sort", lambda values: np.flip(values, 0)),
    "an update is left out": ("indexing", "scatter", lambda values: np.where(values == values.max(), 0, values)),
    "a sum is one more": ("contractions", "dot_general", lambda values: values + np.ones_like(values)),
    "a transform is another's conjugate": ("transforms", "fft", np.conj),
    "a root is another's conjugate": ("complex functions", "cbrt", np.conj),
    "an angle is that of the conjugate": ("complex functions", "atan2", lambda values: -np.conj(values)),
    "a kernel is turned": ("convolutions", "convolution", lambda values: values[::-1]),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_defect_is_found(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    share, op, defect = PLANTS[plant]
    name = f"stablehlo.{op}"
    right = registry.table()[name]

    def wrong(call: registry.Call) -> Any:
        found = right.function(call)
        several = isinstance(found, tuple | list)
        return [defect(one) for one in found] if several else defect(found)

    monkeypatch.setitem(registry._table, name, replace(right, function=wrong))
    try:
        _, found = differences(share)
    except ConformError:
        return  # a result of another shape than the program states is one, too
    assert found
