"""Small programs without arguments, for every op and element type, on numbers that ops go wrong at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conform.inputs.specials import special_values
from conform.numerics.formats import FORMATS, Format

# float8_e8m0fnu, which has neither zero nor sign, is left out: of most results it has none.
FLOATS = [one.name for one in FORMATS.values() if one.is_float and one.has_zero]
INTEGERS = [one.name for one in FORMATS.values() if one.is_integer]
SIGNED = [one.name for one in FORMATS.values() if one.kind == "int"]
COMPLEX = ["complex64", "complex128"]

EVERY = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


def _each(names: str, dtypes: list[str]) -> dict[str, list[str]]:
    return dict.fromkeys(names.split(), dtypes)


UNARY = {
    **_each("negate", [*INTEGERS, *FLOATS, *COMPLEX]),
    **_each("abs sign", [*SIGNED, *FLOATS, *COMPLEX]),
    **_each("ceil floor round_nearest_afz round_nearest_even is_finite", FLOATS),
    **_each("cosine exponential exponential_minus_one log log_plus_one logistic rsqrt", [*FLOATS, *COMPLEX]),
    **_each("sine sqrt tan tanh cbrt real imag", [*FLOATS, *COMPLEX]),
    **_each("popcnt count_leading_zeros", INTEGERS),
    **_each("not", ["bool", *INTEGERS]),
}
BINARY = {
    **_each("add multiply maximum minimum", EVERY),
    **_each("subtract divide power", [*INTEGERS, *FLOATS, *COMPLEX]),
    **_each("remainder", [*INTEGERS, *FLOATS]),
    **_each("atan2", [*FLOATS, *COMPLEX]),
    **_each("and or xor", ["bool", *INTEGERS]),
    **_each("shift_left shift_right_arithmetic shift_right_logical", INTEGERS),
    **_each("complex", ["float32", "float64"]),
}


@dataclass(frozen=True)
class Case:
    """A program whose `main` gives the results of `op` on constants of `dtype`."""

    op: str
    dtype: str
    program: str


def type_of(dtype: str, shape: tuple[int, ...]) -> str:
    """`tensor<2x3xf32>`"""
    return f"tensor<{'x'.join([*map(str, shape), element(dtype)])}>"


def element(dtype: str) -> str:
    return FORMATS[dtype].stablehlo_name.replace("si", "i")


def constant(name: str, array: np.ndarray, dtype: str) -> str:
    """`%name = stablehlo.constant dense<...>`, floats by their codes."""
    return f"  %{name} = stablehlo.constant dense<{literal(array, FORMATS[dtype])}> : {type_of(dtype, array.shape)}\n"


def literal(array: np.ndarray, fmt: Format) -> str:
    if array.ndim:
        return f"[{', '.join(literal(row, fmt) for row in array)}]" if array.size else ""
    if fmt.is_complex:
        return f"({literal(array.real, fmt.component)}, {literal(array.imag, fmt.component)})"
    if fmt.kind == "bool":
        return "true" if array else "false"
    if fmt.is_integer:
        return str(int(array))
    return f"0x{int(np.asarray(array, fmt.storage).view(fmt.code_storage)):0{(fmt.bits + 3) // 4}X}"


def main(body: str, results: list[tuple[str, str]]) -> str:
    split = []
    for name, type_ in results:  # the peer ends at complex results
        if "complex" not in type_:
            split.append((name, type_))
            continue
        part = type_.replace("complex<", "").replace(">>", ">")
        for half in ("real", "imag"):
            body += f"  %{name}.{half} = stablehlo.{half} %{name} : ({type_}) -> {part}\n"
            split.append((f"{name}.{half}", part))
    results = split
    types = ", ".join(type_ for _, type_ in results)
    names = ", ".join(f"%{name}" for name, _ in results)
    return f"func.func @main() -> ({types}) {{\n{body}  return {names} : {types}\n}}\n"


def few(values: np.ndarray, count: int) -> np.ndarray:
    """The first of them, and some of the others."""
    if len(values) <= count:
        return values
    rest = values[count // 2 :]
    return np.concatenate([values[: count // 2], rest[:: max(len(rest) // (count // 2), 1)]])[:count]


def unary() -> Iterator[Case]:
    for op, dtypes in UNARY.items():
        for dtype in dtypes:
            values = special_values(dtype)[:96]
            result = {"is_finite": "bool"}.get(op, dtype)
            if op in ("abs", "real", "imag") and FORMATS[dtype].is_complex:
                result = FORMATS[dtype].component.name
            type_, to = type_of(dtype, values.shape), type_of(result, values.shape)
            text = f'{constant("x", values, dtype)}  %y = "stablehlo.{op}"(%x) : ({type_}) -> {to}\n'
            yield Case(op, dtype, main(text, [("y", to)]))


def pairs(dtype: str, count: int = 16) -> tuple[np.ndarray, np.ndarray]:
    values = few(special_values(dtype), count)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def binary() -> Iterator[Case]:
    for op, dtypes in BINARY.items():
        for dtype in dtypes:
            x, y = pairs(dtype, 10 if dtype in COMPLEX else 16)
            if op in ("divide", "remainder") and FORMATS[dtype].is_integer:  # which ends the peer's process
                x, y = x[y != 0], y[y != 0]
            result = {"float32": "complex64", "float64": "complex128"}[dtype] if op == "complex" else dtype
            type_, to = type_of(dtype, x.shape), type_of(result, x.shape)
            text = constant("x", x, dtype) + constant("y", y, dtype)
            text += f'  %z = "stablehlo.{op}"(%x, %y) : ({type_}, {type_}) -> {to}\n'
            yield Case(op, dtype, main(text, [("z", to)]))


def precisions() -> Iterator[Case]:
    for dtype in FLOATS:
        values, fmt = special_values(dtype)[:96], FORMATS[dtype]
        type_ = type_of(dtype, values.shape)
        text, results = constant("x", values, dtype), []
        for at, (e, m) in enumerate(((0, 0), (0, -1), (-1, 0), (-1, -2), (1, 1), (2, -1))):
            bits = f"e{max(fmt.exponent_bits + e, 1)}m{max(fmt.mantissa_bits + m, 0)}"
            text += f"  %y{at} = stablehlo.reduce_precision %x, format = {bits} : {type_}\n"
            results.append((f"y{at}", type_))
        yield Case("reduce_precision", dtype, main(text, results))


def comparisons() -> Iterator[Case]:
    for dtype in EVERY:
        x, y = pairs(dtype, 10)
        kind = FORMATS[dtype].kind
        kinds = {"int": ["SIGNED"], "uint": ["UNSIGNED"], "bool": ["UNSIGNED"], "complex": ["FLOAT"]}.get(
            kind, ["FLOAT", "TOTALORDER"])  # fmt: skip
        type_, to = type_of(dtype, x.shape), type_of("bool", x.shape)
        for each in kinds:
            text = constant("x", x, dtype) + constant("y", y, dtype)
            names = []
            for at, direction in enumerate(("EQ", "NE", "GE", "GT", "LE", "LT")):
                text += f"  %z{at} = stablehlo.compare {direction}, %x, %y, {each} : ({type_}, {type_}) -> {to}\n"
                names.append((f"z{at}", to))
            yield Case(f"compare {each}", dtype, main(text, names))


def conversions() -> Iterator[Case]:
    for source in EVERY:
        values = special_values(source)[:96]
        for to in EVERY:
            a, b = type_of(source, values.shape), type_of(to, values.shape)
            text = f"{constant('x', values, source)}  %y = stablehlo.convert %x : ({a}) -> {b}\n"
            yield Case(f"convert to {to}", source, main(text, [("y", b)]))


# Ops that move elements, and regions, on random shapes

STREAM = 20261123
DTYPES = [
    "bool",
    "int4",
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint64",
    "bfloat16",
    "float32",
    "float64",
    "float8_e4m3fn",
]


def numbers(draw: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Small integers, of which sums and products of a few are exact in most formats."""
    fmt = FORMATS[dtype]
    low = 0 if fmt.kind in ("bool", "uint") else -3
    values = draw.integers(low, 2 if fmt.kind == "bool" else 4, shape)
    return (
        values.astype(fmt.storage)
        if fmt.is_integer or fmt.kind == "bool"
        else values.astype(np.float64).astype(fmt.storage)
    )


def listed(values: object) -> str:
    return f"[{', '.join(map(str, values))}]"


def array_of(values: object) -> str:
    values = list(values)
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def movements(count: int = 6) -> Iterator[Case]:
    draw = np.random.default_rng(STREAM)
    for dtype in DTYPES:
        for _ in range(count):
            shape = tuple(int(n) for n in draw.integers(1, 5, draw.integers(1, 4)))
            x, rank = numbers(draw, shape, dtype), len(shape)
            type_ = type_of(dtype, shape)
            text, results = constant("x", x, dtype), []

            def add(body: str, to: tuple[int, ...], name: str) -> None:
                nonlocal text
                text += f"  %{name} = {body} -> {type_of(dtype, to)}\n"  # noqa: B023
                results.append((name, type_of(dtype, to)))  # noqa: B023

            order = [int(d) for d in draw.permutation(rank)]
            add(f"stablehlo.transpose %x, dims = {listed(order)} : ({type_})", tuple(shape[d] for d in order), "t")
            dims = sorted(int(d) for d in draw.choice(rank, draw.integers(1, rank + 1), replace=False))
            text += f"  %r = stablehlo.reverse %x, dims = {listed(dims)} : {type_}\n"
            results.append(("r", type_))
            start = [int(draw.integers(0, n)) for n in shape]
            limit = [int(draw.integers(s, n + 1)) for s, n in zip(start, shape, strict=True)]
            step = [int(draw.integers(1, 4)) for _ in shape]
            pieces = ", ".join(f"{s}:{e}:{k}" for s, e, k in zip(start, limit, step, strict=True))
            add(f"stablehlo.slice %x [{pieces}] : ({type_})",
                tuple(-(-(e - s) // k) for s, e, k in zip(start, limit, step, strict=True)), "s")  # fmt: skip
            low, high = ([int(n) for n in draw.integers(-1, 3, rank)] for _ in range(2))
            interior = [int(n) for n in draw.integers(0, 3, rank)]
            padded = tuple(n + max(n - 1, 0) * i + a + b for n, a, b, i in zip(shape, low, high, interior, strict=True))
            if min(padded) >= 0:
                text += constant("v", numbers(draw, (), dtype), dtype)
                add(f"stablehlo.pad %x, %v, low = {listed(low)}, high = {listed(high)}, interior = "
                    f"{listed(interior)} : ({type_}, {type_of(dtype, ())})", padded, "p")  # fmt: skip
            dim = int(draw.integers(0, rank))
            add(f"stablehlo.concatenate %x, %x, dim = {dim} : ({type_}, {type_})",
                tuple(2 * n if d == dim else n for d, n in enumerate(shape)), "c")  # fmt: skip
            add(f"stablehlo.reshape %x : ({type_})", (x.size,), "f")
            wide = [int(n) for n in draw.integers(1, 4, rank + 1)]
            places = [int(d) for d in draw.choice(rank + 1, rank, replace=False)]
            for d, n in zip(places, shape, strict=True):
                wide[d] = n
            add(f"stablehlo.broadcast_in_dim %x, dims = {listed(places)} : ({type_})", tuple(wide), "b")
            sizes = [int(draw.integers(1, n + 1)) for n in shape]
            starts = ", ".join(f"%i{d}" for d in range(rank))
            for d in range(rank):
                text += constant(f"i{d}", np.asarray(draw.integers(-2, 6), np.int32), "int32")
            integers = ", ".join(["tensor<i32>"] * rank)
            add(
                f"stablehlo.dynamic_slice %x, {starts}, sizes = {listed(sizes)} : ({type_}, {integers})",
                tuple(sizes),
                "d",
            )
            text += constant("u", numbers(draw, tuple(sizes), dtype), dtype)
            update = type_of(dtype, tuple(sizes))
            add(f"stablehlo.dynamic_update_slice %x, %u, {starts} : ({type_}, {update}, {integers})",
                shape, "w")  # fmt: skip
            if dtype != "bool":
                text += f"  %o = stablehlo.iota dim = {dim} : {type_}\n"
                results.append(("o", type_))
            yield Case("movement", dtype, main(text, results))


def region(op: str, dtype: str) -> str:
    one = f"tensor<{element(dtype)}>"
    return (f"({{\n  ^bb0(%a: {one}, %b: {one}):\n    %c = stablehlo.{op} %a, %b : {one}\n"
            f"    stablehlo.return %c : {one}\n  }})")  # fmt: skip


def bodies(dtype: str) -> list[str]:
    return ["and", "or", "maximum"] if dtype == "bool" else ["add", "maximum", "minimum", "multiply", "subtract"]


def reductions(count: int = 3) -> Iterator[Case]:
    draw = np.random.default_rng(STREAM + 1)
    for dtype in DTYPES:
        for op in bodies(dtype):
            for _ in range(count):
                shape = tuple(int(n) for n in draw.integers(1, 5, draw.integers(1, 4)))
                dims = sorted(int(d) for d in draw.choice(len(shape), draw.integers(1, len(shape) + 1), replace=False))
                type_, scalar = type_of(dtype, shape), type_of(dtype, ())
                to = type_of(dtype, tuple(n for d, n in enumerate(shape) if d not in dims))
                text = constant("x", numbers(draw, shape, dtype), dtype) + constant(
                    "z", numbers(draw, (), dtype), dtype
                )
                text += (f'  %y = "stablehlo.reduce"(%x, %z) {region(op, dtype)} {{dimensions = {array_of(dims)}}} : '
                         f"({type_}, {scalar}) -> {to}\n")  # fmt: skip
                window, strides, base, spread = (
                    tuple(int(n) for n in draw.integers(1, 4, len(shape))) for _ in range(4)
                )
                padding = draw.integers(0, 3, (len(shape), 2))
                sizes = []
                for n, w, s, b, k, (low, high) in zip(shape, window, strides, base, spread, padding, strict=True):
                    whole, extent = (n - 1) * b + 1 + low + high, (w - 1) * k + 1
                    sizes.append(0 if extent > whole else int((whole - extent) // s + 1))
                results = [("y", to)]
                if 0 not in sizes:
                    to = type_of(dtype, tuple(sizes))
                    text += (
                        f'  %w = "stablehlo.reduce_window"(%x, %z) {region(op, dtype)} {{window_dimensions = '
                        f"{array_of(window)}, window_strides = {array_of(strides)}, base_dilations = {array_of(base)}, "
                        f"window_dilations = {array_of(spread)}, padding = dense<{padding.tolist()}> : "
                        f"tensor<{len(shape)}x2xi64>}} : ({type_}, {scalar}) -> {to}\n"
                    )
                    results.append(("w", to))
                yield Case(f"reduce {op}", dtype, main(text, results))


def sorts(count: int = 4) -> Iterator[Case]:
    draw = np.random.default_rng(STREAM + 2)
    for dtype in DTYPES:
        for at in range(count):
            shape = tuple(int(n) for n in draw.integers(1, 9, draw.integers(1, 4)))
            dim, one, type_ = int(draw.integers(-len(shape), len(shape))), type_of(dtype, ()), type_of(dtype, shape)
            order = type_of("int32", shape)
            text = constant("x", numbers(draw, shape, dtype), dtype)
            text += f"  %i = stablehlo.iota dim = {dim % len(shape)} : {order}\n"
            text += (
                f'  %y:2 = "stablehlo.sort"(%x, %i) ({{\n'
                f"  ^bb0(%a: {one}, %b: {one}, %c: tensor<i32>, %d: tensor<i32>):\n"
                f"    %e = stablehlo.compare {('LT', 'GT')[at % 2]}, %a, %b : ({one}, {one}) -> tensor<i1>\n"
                f"    stablehlo.return %e : tensor<i1>\n  }}) {{dimension = {dim} : i64, is_stable = true}} : "
                f"({type_}, {order}) -> ({type_}, {order})\n"
            )
            yield Case("sort", dtype, main(text, [("y#0", type_), ("y#1", order)]))


def indexing(count: int = 12) -> Iterator[Case]:
    draw = np.random.default_rng(STREAM + 3)
    for dtype in DTYPES:
        for _ in range(count):
            rank = int(draw.integers(1, 4))
            shape = tuple(int(n) for n in draw.integers(1, 5, rank))
            map_ = [int(d) for d in draw.choice(rank, draw.integers(1, rank + 1), replace=False)]
            collapsed = sorted(int(d) for d in draw.choice(rank, draw.integers(0, rank), replace=False))
            sizes = [1 if d in collapsed else int(draw.integers(1, n + 1)) for d, n in enumerate(shape)]
            batch = [int(n) for n in draw.integers(1, 4, draw.integers(0, 3))]
            vector_dim = int(draw.integers(0, len(batch) + 1))
            indices = (*batch[:vector_dim], len(map_), *batch[vector_dim:])
            kept = [n for d, n in enumerate(sizes) if d not in collapsed]
            places = sorted(int(d) for d in draw.choice(len(batch) + len(kept), len(kept), replace=False))
            result, left, window = [], list(batch), list(kept)
            for d in range(len(batch) + len(kept)):
                result.append(window.pop(0) if d in places else left.pop(0))
            type_, of_indices, to = type_of(dtype, shape), type_of("int64", indices), type_of(dtype, tuple(result))
            text = constant("x", numbers(draw, shape, dtype), dtype)
            text += constant("i", draw.integers(-2, 6, indices), "int64")
            text += (
                f'  %y = "stablehlo.gather"(%x, %i) {{dimension_numbers = #stablehlo.gather<'
                f"offset_dims = {listed(places)}, "
                f"collapsed_slice_dims = {listed(collapsed)}, start_index_map = {listed(map_)}, index_vector_dim = "
                f"{vector_dim}>, slice_sizes = {array_of(sizes)}}} : ({type_}, {of_indices}) -> {to}\n"
            )
            text += constant("u", numbers(draw, tuple(result), dtype), dtype)
            text += (
                f'  %z = "stablehlo.scatter"(%x, %i, %u) {region(bodies(dtype)[0], dtype)} {{'
                f"scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {listed(places)}, "
                f"inserted_window_dims = {listed(collapsed)}, "
                f"scatter_dims_to_operand_dims = {listed(map_)}, index_vector_dim = {vector_dim}>}} : "
                f"({type_}, {of_indices}, {to}) -> {type_}\n"
            )
            yield Case("gather and scatter", dtype, main(text, [("y", to), ("z", type_)]))


def contractions(count: int = 8) -> Iterator[Case]:
    draw = np.random.default_rng(STREAM + 4)
    for dtype in DTYPES:
        for _ in range(count):
            batch, sums, rows, columns = ([int(n) for n in draw.integers(1, 4, draw.integers(0, 3))] for _ in range(4))
            lhs, rhs = [*batch, *sums, *rows], [*batch, *sums, *columns]
            left, right = (draw.permutation(len(one)) for one in (lhs, rhs))
            of_lhs, of_rhs = (tuple(one[d] for d in order) for one, order in ((lhs, left), (rhs, right)))
            find = [{int(d): at for at, d in enumerate(order)} for order in (left, right)]
            of_batch = [[place[d] for d in range(len(batch))] for place in find]
            of_sums = [[place[len(batch) + d] for d in range(len(sums))] for place in find]
            kept = [
                [n for at, n in enumerate(one) if at not in (*of_batch[k], *of_sums[k])]
                for k, one in enumerate((of_lhs, of_rhs))
            ]
            to = type_of(dtype, (*batch, *kept[0], *kept[1]))
            text = constant("x", numbers(draw, of_lhs, dtype), dtype) + constant(
                "y", numbers(draw, of_rhs, dtype), dtype
            )
            text += (
                f"  %z = stablehlo.dot_general %x, %y, batching_dims = {listed(of_batch[0])} x {listed(of_batch[1])}, "
                f"contracting_dims = {listed(of_sums[0])} x {listed(of_sums[1])} : ({type_of(dtype, of_lhs)}, "
                f"{type_of(dtype, of_rhs)}) -> {to}\n"
            )
            yield Case("dot_general", dtype, main(text, [("z", to)]))


def convolutions(count: int = 8) -> Iterator[Case]:
    draw = np.random.default_rng(STREAM + 5)
    for dtype in DTYPES[1:]:
        for _ in range(count):
            spatial = int(draw.integers(1, 3))
            groups, batches = ((int(draw.integers(1, 3)), 1), (1, int(draw.integers(1, 3))))[int(draw.integers(0, 2))]
            batch, per_group, out = (
                int(draw.integers(1, 3)) * batches,
                int(draw.integers(1, 3)),
                int(draw.integers(1, 3)) * groups * batches,
            )
            sizes, window = ([int(n) for n in draw.integers(1, top, spatial)] for top in (6, 4))
            strides, base, spread = ([int(n) for n in draw.integers(1, 4, spatial)] for _ in range(3))
            padding = draw.integers(0, 3, (spatial, 2)).tolist()
            counts = []
            for n, w, s, b, k, (low, high) in zip(sizes, window, strides, base, spread, padding, strict=True):
                whole, extent = (n - 1) * b + 1 + low + high, (w - 1) * k + 1
                counts.append(0 if extent > whole else (whole - extent) // s + 1)
            if 0 in counts:
                continue
            of = [str(d) for d in range(spatial)]
            lhs, kernel, result = ([str(one) for one in draw.permutation(list(marks))] for marks in
                                   (["b", "f", *of], ["i", "o", *of], ["b", "f", *of]))  # fmt: skip
            size = {"b": batch, "f": per_group * groups, "i": per_group, "o": out}
            shape = tuple(size.get(one) or sizes[int(one)] for one in lhs)
            of_kernel = tuple(size.get(one) or window[int(one)] for one in kernel)
            to = tuple({"b": batch // batches, "f": out}.get(one) or counts[int(one)] for one in result)
            reverse = [bool(one) for one in draw.integers(0, 2, spatial)]
            text = constant("x", numbers(draw, shape, dtype), dtype) + constant(
                "y", numbers(draw, of_kernel, dtype), dtype
            )
            text += (
                f"  %z = stablehlo.convolution(%x, %y) dim_numbers = {_marks(lhs)}x{_marks(kernel)}->{_marks(result)}, "
                f"window = {{stride = {strides}, pad = {padding}, lhs_dilate = {base}, rhs_dilate = {spread}, "
                f"reverse = {[str(one).lower() for one in reverse]}}} {{batch_group_count = {batches} : i64, "
                f"feature_group_count = "
                f"{groups} : i64}} : ({type_of(dtype, shape)}, {type_of(dtype, of_kernel)}) -> {type_of(dtype, to)}\n"
            ).replace("'", "")
            yield Case("convolution", dtype, main(text, [("z", type_of(dtype, to))]))


def _marks(marks: list[str]) -> str:
    return f"[{', '.join(marks)}]"


# Ops of chlo

WIDE = ["bfloat16", "float16", "float32", "float64"]
CHLO_UNARY = {
    **_each("acos acosh asin asinh atan atanh cosh sinh tan square conj", [*WIDE, *COMPLEX]),
    **_each("digamma erf erfc erf_inv lgamma is_inf is_pos_inf is_neg_inf", WIDE),
}


def chlo_functions() -> Iterator[Case]:
    for op, dtypes in CHLO_UNARY.items():
        for dtype in dtypes:
            values = special_values(dtype)[:96]
            to = type_of("bool" if op.startswith("is_") else dtype, values.shape)
            text = f"{constant('x', values, dtype)}  %y = chlo.{op} %x : {type_of(dtype, values.shape)} -> {to}\n"
            yield Case(f"chlo.{op}", dtype, main(text, [("y", to)]))


def chlo_others() -> Iterator[Case]:
    for op, dtypes in (("next_after", WIDE), ("mulhi", INTEGERS)):
        for dtype in dtypes:
            x, y = pairs(dtype)
            type_ = type_of(dtype, x.shape)
            text = constant("x", x, dtype) + constant("y", y, dtype)
            text += f"  %z = chlo.{op} %x, %y : {type_}, {type_} -> {type_}\n"
            yield Case(f"chlo.{op}", dtype, main(text, [("z", type_)]))
    for dtype in [*INTEGERS, *WIDE]:
        x = special_values(dtype)  # the peer's totalOrder has no place for NaN, and takes both zeros for equal (#2497)
        x = few(x[(x == x) & ~((x == 0) & np.signbit(x.astype(np.float64)))], 24)
        x = x[: len(x) // 2 * 2].reshape(2, -1)
        values, places = type_of(dtype, (2, 5)), type_of("int32", (2, 5))
        if x.shape[1] < 5:
            continue
        text = constant("x", x, dtype)
        text += f"  %v, %i = chlo.top_k(%x, k = 5) : {type_of(dtype, x.shape)} -> ({values}, {places})\n"
        yield Case("chlo.top_k", dtype, main(text, [("v", values), ("i", places)]))
    for op in ("add", "maximum", "subtract"):
        for dtype in (*WIDE, "int8", "uint64"):
            x, y = few(special_values(dtype), 6).reshape(2, 1, 3), few(special_values(dtype), 4).reshape(4, 1)
            to = type_of(dtype, (2, 4, 3))
            text = constant("x", x, dtype) + constant("y", y, dtype)
            types = f"({type_of(dtype, x.shape)}, {type_of(dtype, y.shape)})"
            text += f"  %z = chlo.broadcast_{op} %x, %y : {types} -> {to}\n"
            yield Case(f"chlo.broadcast_{op}", dtype, main(text, [("z", to)]))
