"""Products summed over shared dimensions: of floats the exact sum, rounded once to the element type of the result,
whatever precision_config allows; integers wrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from conform.interp.formulas.complexes import joined as joined_parts
from conform.interp.ops.contraction.sums import golden_of
from conform.interp.stablehlo.ops.movement import are_dims, is_unique, padded, states
from conform.interp.stablehlo.ops.reduction import window_counts, window_rows
from conform.interp.stablehlo.quantized import CONVOLVED, DOTTED
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor
from conform.numerics.digits import dots
from conform.numerics.formats import Format, format_named, format_of
from conform.numerics.matmul import elements, matmul
from conform.numerics.rounding import convert


def product(lhs: np.ndarray, rhs: np.ndarray, fmt: Format) -> np.ndarray:
    """[m, k] @ [k, n] in `fmt`."""
    if fmt.is_complex:
        return _complex_product(lhs, rhs, fmt)
    if fmt.is_float:
        return _float_product(lhs.astype(np.float64), rhs.astype(np.float64), fmt)
    if fmt.kind == "bool":
        return (lhs.astype(np.int64) @ rhs.astype(np.int64)) > 0
    wide = np.dtype(np.uint64 if fmt.kind == "uint" else np.int64)
    with np.errstate(over="ignore"):
        return convert(lhs.astype(wide) @ rhs.astype(wide), format_of(wide), fmt)


def _float_product(lhs: np.ndarray, rhs: np.ndarray, fmt: Format) -> np.ndarray:
    with np.errstate(all="ignore"):
        return golden_of(fmt, matmul(lhs, rhs), lambda index: dots(elements(lhs, rhs, *index))).value


def _complex_product(lhs: np.ndarray, rhs: np.ndarray, fmt: Format) -> np.ndarray:
    """Each part one exact sum."""
    a, b, c, d = (part.astype(np.float64) for part in (lhs.real, lhs.imag, rhs.real, rhs.imag))
    real = _float_product(np.concatenate([a, -b], 1), np.concatenate([c, d], 0), fmt.component)
    imag = _float_product(np.concatenate([a, b], 1), np.concatenate([d, c], 0), fmt.component)
    return joined_parts(fmt, np.stack([real, imag], -1))


@dataclass(frozen=True)
class Products:
    """Pairs of matrices [m, k] and [k, n] that are to be multiplied, and how the result of `shape` is made of the
    products, if there are any: nothing that depends on what the elements are."""

    pairs: list[tuple[np.ndarray, np.ndarray]]
    joined: Callable[[Sequence[np.ndarray]], np.ndarray]
    shape: tuple[int, ...]


def multiplied(call: Call, products: Products) -> np.ndarray:
    fmt = format_named(call.results[0].dtype)
    found = [product(lhs, rhs, fmt) for lhs, rhs in products.pairs]
    return products.joined(found) if found else np.empty(products.shape, fmt.storage)


@meaning("stablehlo.dot_general", quantized=DOTTED)
def dot_general(call: Call) -> np.ndarray:
    """The sums of products of lhs and rhs over the contracting dimensions, one for each place in the batching ones"""
    return multiplied(call, dot_products(call))


def dot_products(call: Call) -> Products:
    """A matrix of each operand for each place in the batching dimensions."""
    lhs, rhs = call.operands
    numbers = call.attributes["dot_dimension_numbers"]
    batch_l, batch_r, sum_l, sum_r = (tuple(numbers.get(name, ())) for name in (
        "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions"
    ))  # fmt: skip
    _precision(call, "C11")
    _algorithm(call)
    require = call.require
    require("C1", len(batch_l) == len(batch_r), f"batching dimensions {list(batch_l)} and {list(batch_r)}")
    require("C2", len(sum_l) == len(sum_r), f"contracting dimensions {list(sum_l)} and {list(sum_r)}")
    require("C3", is_unique((*batch_l, *sum_l)), f"dimensions {[*batch_l, *sum_l]} of lhs")
    require("C4", is_unique((*batch_r, *sum_r)), f"dimensions {[*batch_r, *sum_r]} of rhs")
    for name, dims, one in (("C5", batch_l, lhs), ("C6", sum_l, lhs), ("C7", batch_r, rhs), ("C8", sum_r, rhs)):
        require(name, are_dims(dims, one.rank), f"dimensions {list(dims)} of {one}")
    for name, of_lhs, of_rhs in (("C9", batch_l, batch_r), ("C10", sum_l, sum_r)):
        require(
            name,
            _sizes(lhs, of_lhs) == _sizes(rhs, of_rhs),
            f"dimensions {list(of_lhs)} of {lhs} and {list(of_rhs)} of {rhs}",
        )
    rows, columns = (
        [dim for dim in range(one.rank) if dim not in taken] for one, taken in
        ((lhs, (*batch_l, *sum_l)), (rhs, (*batch_r, *sum_r)))
    )  # fmt: skip
    states(call, "C12", call.results[0].dtype, (*_sizes(lhs, batch_l), *_sizes(lhs, rows), *_sizes(rhs, columns)))
    require("C13", lhs.dtype == rhs.dtype, f"operands of the types {lhs} and {rhs}")
    left = _matrices(lhs, batch_l, rows, sum_l)
    right = _matrices(rhs, batch_r, sum_r, columns)
    shape = (*_sizes(lhs, batch_l), *_sizes(lhs, rows), *_sizes(rhs, columns))
    return Products(list(zip(left, right, strict=True)), lambda found: np.concatenate(found).reshape(shape), shape)


def _precision(call: Call, constraint: str) -> None:
    """Without a meaning for values."""
    precision = call.get("precision_config", ("DEFAULT", "DEFAULT"))
    call.require(constraint, len(precision) in (0, 2), f"precision_config {list(precision)}")


def _algorithm(call: Call) -> None:
    """Without a meaning, as precision_config. (C22) to (C24) hold by its spelling."""
    precision = call.get("precision_config", ())
    is_free = call.get("algorithm", None) is None or all(one == "DEFAULT" for one in precision)
    call.require("C21", is_free, f"precision_config {list(precision)} beside an algorithm")


def _sizes(one: Tensor, dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(one.shape[dim] for dim in dims)


def _matrices(one: Tensor, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """[batches, rows, columns]"""
    sizes = (prod(_sizes(one, dims)) for dims in (batch, rows, columns))
    return one.array.transpose([*batch, *rows, *columns]).reshape(tuple(sizes))


# Convolution


@meaning("stablehlo.convolution", quantized=CONVOLVED)
def convolution(call: Call) -> np.ndarray:
    """The sums of products of each window of lhs and the kernels rhs"""
    lhs, rhs = call.operands
    padding = np.asarray(call.get("padding", np.zeros((max(lhs.rank - 2, 0), 2), np.int64)), np.int64)
    return multiplied(call, window_products(call, lhs, rhs, padding))


@meaning("stablehlo.dynamic_conv", quantized=CONVOLVED)
def dynamic_conv(call: Call) -> np.ndarray:
    """convolution with a padding that is an operand"""
    lhs, rhs, padding = call.operands
    return multiplied(call, window_products(call, lhs, rhs, padding.array.astype(np.int64)))


def window_products(call: Call, lhs: Tensor, rhs: Tensor, padding: np.ndarray) -> Products:
    """Of each group the windows of lhs, in rows, and the kernels."""
    numbers, rank = call.attributes["dimension_numbers"], lhs.rank
    call.require("C1", lhs.rank == rhs.rank, f"operands of the types {lhs} and {rhs}")
    ones = (1,) * (rank - 2)
    strides, base, dilations = (call.dims(name, ones) for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    reversal = tuple(map(bool, call.get("window_reversal", (False,) * (rank - 2))))
    for (size, sign), name, values in (
        (("C2", "C3"), "window_strides", strides), (("C5", "C6"), "lhs_dilation", base),
        (("C7", "C8"), "rhs_dilation", dilations),
    ):  # fmt: skip
        call.require(size, len(values) == rank - 2, f"{name} {list(values)} of {lhs}")
        call.require(sign, all(each > 0 for each in values), f"{name} {list(values)}")
    call.require("C4", padding.shape == (rank - 2, 2), f"padding of the shape {list(padding.shape)} of {lhs}")
    call.require("C9", len(reversal) == rank - 2, f"window_reversal {list(reversal)}")
    _precision(call, "C24")
    groups, batches = int(call.get("feature_group_count", 1)), int(call.get("batch_group_count", 1))
    _require_numbers(call, numbers, lhs, rhs, groups, batches)
    x = _arranged(lhs, numbers, "input", "batch", "feature")
    kernel = _arranged(rhs, numbers, "kernel", "input_feature", "output_feature")
    kernel = np.flip(kernel, [at + 1 for at, turned in enumerate(reversal) if turned])
    window = kernel.shape[1:-1]
    counts = window_counts(x.shape[1:-1], window, strides, base, dilations, padding)
    call.require("C27", lhs.dtype == rhs.dtype, f"operands of the types {lhs} and {rhs}")
    spread = _padded(x, padding, base)
    rows = window_rows(
        spread, (x.shape[0], *counts, x.shape[-1]), (1, *window, 1), (1, *strides, 1), (1, *dilations, 1)
    )
    rows = np.moveaxis(rows, 0, -2)  # [batch, *counts, window, features]
    flat_kernel = np.moveaxis(kernel, 0, -2).reshape(prod(window), kernel.shape[0], kernel.shape[-1])
    ends = (numbers["output_batch_dimension"], *numbers["output_spatial_dimensions"],
            numbers["output_feature_dimension"])  # fmt: skip
    batch = (x.shape[0] // batches, *counts)
    shape = np.moveaxis(np.empty((*batch, kernel.shape[-1]), bool), range(rank), ends).shape
    call.require("C26", len(call.results[0].shape) == rank, f"the result {call.results[0]} of {lhs}")
    states(call, "C25", call.results[0].dtype, shape)

    def joined(found: Sequence[np.ndarray]) -> np.ndarray:
        return np.moveaxis(np.concatenate([one.reshape(*batch, one.shape[-1]) for one in found], -1), range(rank), ends)

    return Products(_grouped(rows, flat_kernel, groups, batches), joined, shape)


def _padded(x: np.ndarray, padding: np.ndarray, base: Sequence[int]) -> np.ndarray:
    edges = [(0, 0), *((int(low), int(high)) for low, high in padding), (0, 0)]
    interior = [0, *(each - 1 for each in base), 0]
    sizes = [(0 if n == 0 else (n - 1) * (i + 1) + 1) + low + high
             for n, i, (low, high) in zip(x.shape, interior, edges, strict=True)]  # fmt: skip
    if min(sizes) < 0:
        return np.zeros([max(size, 0) for size in sizes], x.dtype)
    return padded(x, np.zeros((), x.dtype), *zip(*edges, strict=True), interior)


def _grouped(
    rows: np.ndarray, kernel: np.ndarray, groups: int, batches: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The matrices of each group, of rows [batch, *counts, window, in] and a kernel [window, in, out]."""
    outs = np.split(kernel, max(groups, batches), axis=-1)
    ins = np.split(rows, groups, axis=-1) if groups > 1 else np.split(rows, batches, axis=0)
    return [
        (x.reshape(prod(x.shape[:-2]), prod(x.shape[-2:])), weights.reshape(prod(weights.shape[:2]), weights.shape[2]))
        for x, weights in zip(ins, outs, strict=True)
    ]


def _arranged(one: Tensor, numbers: dict[str, object], name: str, first: str, last: str) -> np.ndarray:
    """[first, *spatial, last]"""
    order = (
        numbers[f"{name}_{first}_dimension"],
        *numbers[f"{name}_spatial_dimensions"],
        numbers[f"{name}_{last}_dimension"],
    )
    return one.array.transpose(order)


def _require_numbers(
    call: Call, numbers: dict[str, object], lhs: Tensor, rhs: Tensor, groups: int, batches: int
) -> None:
    rank, require = lhs.rank, call.require
    require("C21", groups > 0, f"feature_group_count {groups}")
    require("C22", batches > 0, f"batch_group_count {batches}")
    require("C23", groups == 1 or batches == 1, f"feature_group_count {groups} and batch_group_count {batches}")
    for name, ends, (size, unique) in (
        ("input", ("batch", "feature"), ("C12", "C13")),
        ("kernel", ("input_feature", "output_feature"), ("C17", "C18")),
        ("output", ("batch", "feature"), ("C19", "C20")),
    ):  # fmt: skip
        spatial = numbers[f"{name}_spatial_dimensions"]
        require(size, len(spatial) == rank - 2, f"{name}_spatial_dimensions {list(spatial)} of {lhs}")
        dims = (*spatial, *(numbers[f"{name}_{end}_dimension"] for end in ends))
        require(unique, is_unique(dims) and are_dims(dims, rank), f"dimensions {list(dims)} of {name}")
    batch, features = (lhs.shape[numbers[f"input_{name}_dimension"]] for name in ("batch", "feature"))
    taken, given = (rhs.shape[numbers[f"kernel_{name}_feature_dimension"]] for name in ("input", "output"))
    require("C10", batch % batches == 0, f"{batch} batches in {batches} groups")
    require("C11", features % groups == 0, f"{features} features in {groups} groups")
    require("C14", taken == features // groups, f"kernels of {taken} features for {features} in {groups} groups")
    require("C15", given % batches == 0, f"{given} output features in {batches} groups of batches")
    require("C16", given % groups == 0, f"{given} output features in {groups} groups")
