"""More programs of StableHLO's own ops: batches of indices, windows that choose, bits, rounded sums, matrices
and complex functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conform.inputs.specials import special_values
from conform.numerics.formats import FORMATS
from tests.interp.stablehlo.generated import Case, array_of, constant, main, numbers, region, type_of


def rounded() -> Iterator[Case]:
    """Sums and products of numbers that no format holds exactly."""
    draw = np.random.default_rng(35)
    for dtype in ("bfloat16", "float16", "float32", "float64"):
        for size in (1, 3, 17):
            x, y = (draw.standard_normal((size, 3)).astype(FORMATS[dtype].storage) for _ in "xy")
            type_, square, row, one = (type_of(dtype, shape) for shape in ((size, 3), (3, 3), (3,), ()))
            text = (
                constant("x", x, dtype) + constant("y", y, dtype) + constant("z", np.array(0.1).astype(x.dtype), dtype)
            )
            text += (
                f"  %d = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : ({type_}, {type_}) -> {square}\n"
            )
            text += (f'  %r = "stablehlo.reduce"(%x, %z) {region("add", dtype)} {{dimensions = array<i64: 0>}} : '
                     f"({type_}, {one}) -> {row}\n")  # fmt: skip
            yield Case("rounded", dtype, main(text, [("d", square), ("r", row)]))


def batching(count: int = 12) -> Iterator[Case]:
    """gather and scatter with batching dimensions, and indices out of bounds."""
    draw = np.random.default_rng(31)
    for dtype in ("int8", "float32", "bfloat16"):
        for _ in range(count):
            batch, rows, columns, places = (int(one) for one in draw.integers(1, 4, 4))
            size = int(draw.integers(1, columns + 1))
            of_x, of_i, of_y = (batch, rows, columns), (places, batch, 2), (places, batch, size)
            text = constant("x", numbers(draw, of_x, dtype), dtype)
            text += constant("i", draw.integers(-2, 5, of_i), "int64") + constant(
                "u", numbers(draw, of_y, dtype), dtype
            )
            types = [type_of(dtype, of_x), type_of("int64", of_i), type_of(dtype, of_y)]
            text += (
                f'  %y = "stablehlo.gather"(%x, %i) {{dimension_numbers = #stablehlo.gather<offset_dims = [2], '
                f"collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], "
                f"start_index_map = [2, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, {size}>}} : "
                f"({types[0]}, {types[1]}) -> {types[2]}\n"
                f'  %z = "stablehlo.scatter"(%x, %i, %u) {region("subtract", dtype)} {{scatter_dimension_numbers = '
                f"#stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], "
                f"scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 2>}} "
                f": ({types[0]}, {types[1]}, {types[2]}) -> {types[0]}\n"
            )
            yield Case("batching", dtype, main(text, [("y", types[2]), ("z", types[0])]))


def selections(count: int = 12) -> Iterator[Case]:
    draw = np.random.default_rng(32)
    for dtype in ("int8", "float32", "bfloat16"):
        for _ in range(count):
            shape = tuple(int(one) for one in draw.integers(2, 6, 2))
            window, strides = ([int(one) for one in draw.integers(1, 4, 2)] for _ in range(2))
            padding = draw.integers(-1, 3, (2, 2))
            sizes = [n + int(row.sum()) for n, row in zip(shape, padding, strict=True)]
            counts = tuple((n - w) // s + 1 if n >= w else 0 for n, w, s in zip(sizes, window, strides, strict=True))
            if 0 in counts:
                continue
            type_, of_source, one = type_of(dtype, shape), type_of(dtype, counts), type_of(dtype, ())
            select = region("SELECT", dtype).replace(
                f"stablehlo.SELECT %a, %b : {one}", f"stablehlo.compare GE, %a, %b : ({one}, {one}) -> tensor<i1>"
            )
            select = select.replace(f"return %c : {one}", "return %c : tensor<i1>")
            text = constant("x", numbers(draw, shape, dtype), dtype) + constant(
                "s", numbers(draw, counts, dtype), dtype
            )
            text += constant("v", numbers(draw, (), dtype), dtype)
            text += (
                f'  %y = "stablehlo.select_and_scatter"(%x, %s, %v) ({select[1:-1]}, {region("add", dtype)[1:-1]}) '
                f"{{window_dimensions = {array_of(window)}, window_strides = {array_of(strides)}, padding = "
                f"dense<{padding.tolist()}> : tensor<2x2xi64>}} : ({type_}, {of_source}, {one}) -> {type_}\n"
            )
            yield Case("select_and_scatter", dtype, main(text, [("y", type_)]))


def bits() -> Iterator[Case]:
    draw = np.random.default_rng(33)
    for source, to in (("int8", "int32"), ("int32", "int8"), ("float32", "uint32"), ("uint16", "float64"),
                       ("float64", "bfloat16"), ("int4", "int8"), ("int8", "int4"), ("uint2", "int16")):  # fmt: skip
        ratio = FORMATS[to].bits // FORMATS[source].bits
        shape = (3, max(ratio, 1))
        low, high = (-4, 4) if source[0] == "i" else (0, 4)
        x = draw.integers(low, high, shape).astype(FORMATS[source].storage)
        result = (3,) if ratio > 1 else shape if ratio == 1 else (*shape, FORMATS[source].bits // FORMATS[to].bits)
        types = f"({type_of(source, shape)}) -> {type_of(to, result)}"
        text = constant("x", x, source) + f"  %y = stablehlo.bitcast_convert %x : {types}\n"
        yield Case("bitcast_convert", source, main(text, [("y", type_of(to, result))]))


def norms() -> Iterator[Case]:
    """[2, features, 3] and the features last; with and without a variance."""
    draw = np.random.default_rng(36)
    for dtype in ("bfloat16", "float16", "float32", "float64"):
        for dim in (1, 2):
            shape = (2, 3, 3)
            x, g = (draw.standard_normal(shape).astype(FORMATS[dtype].storage) for _ in "xg")
            x[0, 0], x[1] = (x[0, 0], x[1]) if dim == 1 else (np.inf, -0.0)
            vectors = [draw.uniform(0.5, 2, 3).astype(x.dtype) for _ in range(3)]
            whole, vector = type_of(dtype, shape), type_of(dtype, (3,))
            text = constant("x", x, dtype) + constant("g", g, dtype)
            text += "".join(constant(name, one, dtype) for name, one in zip("svm", vectors, strict=True))
            given = f"{{epsilon = 1.0e-2 : f32, feature_index = {dim} : i64}}"
            of_three = f"({whole}, {vector}, {vector})"
            text += (
                f'  %a = "stablehlo.batch_norm_inference"(%x, %s, %v, %m, %v) {given} : '
                f"({whole}, {vector}, {vector}, {vector}, {vector}) -> {whole}\n"
                f'  %b:3 = "stablehlo.batch_norm_training"(%x, %s, %v) {given} : {of_three} -> {of_three}\n'
                f'  %c:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {given} : '
                f"({whole}, {vector}, {vector}, {vector}, {whole}) -> {of_three}\n"
            )
            yield Case("norms", dtype, main(text, [("a", whole)]))


def matrices() -> Iterator[Case]:
    draw = np.random.default_rng(34)
    for dtype in ("float32", "float64", "bfloat16", "float16"):
        for size in (1, 2, 4):
            storage = FORMATS[dtype].storage
            root = draw.standard_normal((size, size + 1))
            a = (root @ root.T + np.eye(size)).astype(storage)
            type_ = type_of(dtype, a.shape)
            for at in range(8):
                left, lower, unit = (("false", "true")[at >> k & 1] for k in range(3))
                shape = (size, 2) if left == "true" else (2, size)
                b = draw.standard_normal(shape).astype(storage)
                to, transpose = type_of(dtype, shape), ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")[at % 3]
                text = constant("a", a, dtype) + constant("b", b, dtype)
                text += (
                    f'  %x = "stablehlo.triangular_solve"(%a, %b) {{left_side = {left}, lower = {lower}, '
                    f"unit_diagonal = {unit}, transpose_a = #stablehlo<transpose {transpose}>}} : "
                    f"({type_}, {to}) -> {to}\n"
                    f"  %l = stablehlo.cholesky %a, lower = {lower} : {type_}\n"
                )
                yield Case("matrices", dtype, main(text, [("x", to), ("l", type_)]))


def transforms() -> Iterator[Case]:
    """Integers, of which many sums are exact or cancel, and other numbers, over one to three dimensions."""
    draw = np.random.default_rng(37)
    shapes = [((2, 3), 1), ((1,), 1), ((4,), 1), ((2, 6), 2), ((2, 2, 5), 3), ((3, 1, 4), 2)]
    for part, whole in (("float32", "complex64"), ("float64", "complex128")):
        for shape, rank in shapes:
            lengths, half = list(shape[-rank:]), (*shape[:-1], shape[-1] // 2 + 1)
            for kind in ("FFT", "IFFT", "RFFT", "IRFFT"):
                source, of = (part, shape) if kind == "RFFT" else (whole, half if kind == "IRFFT" else shape)
                to, result = (part, shape) if kind == "IRFFT" else (whole, half if kind == "RFFT" else shape)
                for x in (draw.integers(-3, 4, (*of, 2)).astype(part), draw.standard_normal((*of, 2)).astype(part)):
                    operand = x[..., 0] if kind == "RFFT" else x.view(whole)[..., 0]
                    text = constant("x", operand, source)
                    text += (f"  %y = stablehlo.fft %x, type = {kind}, length = {lengths} : "
                             f"({type_of(source, of)}) -> {type_of(to, result)}\n")  # fmt: skip
                    yield Case("fft", source, main(text, [("y", type_of(to, result))]))


def complex_functions(count: int = 60) -> Iterator[Case]:
    """Special values; cubes; numbers of all sizes; and such beside the cuts, and beside the poles of atan2."""
    draw = np.random.default_rng(38)
    for part, whole in (("float32", "complex64"), ("float64", "complex128")):
        specials = special_values(whole)
        cubes = draw.integers(-9, 10, (count, 2)).astype(part).view(whole)[:, 0] ** 3
        a, b, c, d, least = (_of_all_sizes(draw, part, count) for _ in range(5))
        pairs = [
            (draw.permutation(specials), specials), (draw.permutation(cubes), cubes), (_joined(a, b), _joined(c, d)),
            (_joined(0 * a, b), _joined(-abs(c), least)),  # the cut of cbrt, and that of a root of x^2 + y^2
            (_joined(a, least), _joined(-abs(b), least)),  # the quotient is near -1, or x^2 + y^2 is real
            (_joined(a, b), _joined(np.nextafter(-b, c), a)),  # x is near iy, so x^2 + y^2 near 0
        ]  # fmt: skip
        y, x = (np.concatenate(each).astype(whole) for each in zip(*pairs, strict=True))
        type_ = type_of(whole, x.shape)
        text = constant("x", x, whole) + constant("y", y, whole)
        text += f"  %r = stablehlo.cbrt %x : {type_}\n  %a = stablehlo.atan2 %y, %x : {type_}\n"
        yield Case("complex functions", whole, main(text, [("r", type_), ("a", type_)]))


def _of_all_sizes(draw: np.random.Generator, part: str, count: int) -> np.ndarray:
    """Numbers of every exponent of the format; one in five is 0."""
    fmt = FORMATS[part]
    exponents = draw.integers(fmt.emin - fmt.mantissa_bits, fmt.emax, count)
    numbers_ = np.ldexp(draw.uniform(-2, 2, count) * (draw.random(count) < 0.8), exponents)
    return numbers_.astype(fmt.storage)


def _joined(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    return np.stack([real, imag], -1).reshape(-1).view(FORMATS[f"complex{16 * real.itemsize}"].storage)
