"""Ops that are algorithms, on real numbers: honest float32 implementations lie within the bounds, nearly right ones do
not."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.contracts.judge import judge
from conform.contracts.tables import OF_MODULE
from conform.errors import Unjudged
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_to
from tests.interp.stablehlo.test_reals import goldens, stepwise

F32 = np.float32
Arrays = tuple[np.ndarray, ...]

# --- batch_norm_grad --------------------------------------------------------------------------------------------------

EPSILON = F32(1e-3)


def of_norm(size: int, features: int) -> tuple[str, Arrays]:
    """A program, and its operands: [size, features, 3], with the statistics of the operand."""
    rng = np.random.default_rng(size)
    x, grad = rng.standard_normal((2, size, features, 3)).astype(F32) + F32(0.5)
    scale = rng.uniform(0.5, 2, features).astype(F32)
    whole, vector = f"tensor<{size}x{features}x3xf32>", f"tensor<{features}xf32>"
    types = f"({whole}, {vector}, {vector}, {vector}, {whole}) -> ({whole}, {vector}, {vector})"
    text = f"""func.func @main(%x: {whole}, %s: {vector}, %m: {vector}, %v: {vector}, %g: {whole}) -> ({whole}, {vector}, {vector}) {{
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}} : {types}
  return %0#0, %0#1, %0#2 : {whole}, {vector}, {vector}
}}
"""  # noqa: E501
    return text, (x, scale, x.mean((0, 2)), x.var((0, 2)), grad)


def by_means(x: np.ndarray, scale: np.ndarray, mean: np.ndarray, variance: np.ndarray, grad: np.ndarray) -> Arrays:
    """As frameworks write it: normalized numbers, and means of them."""
    at = (slice(None), None)
    inverse = 1 / np.sqrt(variance + EPSILON)
    normalized = (x - mean[at]) * inverse[at]
    of_scale, of_offset = (grad * normalized).sum((0, 2)), grad.sum((0, 2))
    count = F32(x.size // x.shape[1])
    rest = grad - (of_offset / count)[at] - normalized * (of_scale / count)[at]
    return (scale * inverse)[at] * rest, of_scale, of_offset


@pytest.mark.parametrize(("size", "features"), [(1, 1), (4, 3), (64, 5), (300, 2)])
def test_gradients_of_batch_norm(size: int, features: int) -> None:
    text, given = of_norm(size, features)
    results = goldens(text, *given)
    for answer in (stepwise(text, *given), by_means(*given)):
        for golden, one in zip(results, answer, strict=True):
            found = judge(golden, one, OF_MODULE)
            assert found.ok.all()
            assert found.compared.all()
    x, scale, mean, variance, grad = given
    without = np.zeros(features, F32)
    for wrong in ((x, scale, mean, variance + EPSILON, grad), (x, scale, without, variance, grad),
                  (x, scale * F32(1 + 1e-3), mean, variance, grad)):  # fmt: skip
        answers = zip(results[:2], by_means(*wrong)[:2], strict=True)
        assert not all(judge(golden, one, OF_MODULE).ok.all() for golden, one in answers)


# --- batch_norm_inference and batch_norm_training ---------------------------------------------------------------------

NORM = """func.func @main(%x: {whole}, {vectors}) -> ({results}) {{
  %0:{count} = "stablehlo.{op}"(%x, {names}) {{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}} : ({types}) -> ({results})
  return {given} : {results}
}}
"""  # noqa: E501
TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}


def norm(op: str, type_: str, size: int) -> str:
    """Of [size, 3] numbers, normalized by two vectors, or by their own statistics, scaled and shifted."""
    whole, vector = f"tensor<{size}x3x{type_}>", f"tensor<3x{type_}>"
    inputs, results = (4, [whole]) if op == "batch_norm_inference" else (2, [whole, vector, vector])
    names = [f"%v{at}" for at in range(inputs)]
    return NORM.format(
        op=op, whole=whole, vectors=", ".join(f"{name}: {vector}" for name in names), names=", ".join(names),
        types=", ".join([whole, *[vector] * inputs]), results=", ".join(results), count=len(results),
        given=", ".join(f"%0#{at}" for at in range(len(results))),
    )  # fmt: skip


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("size", [2, 8, 40])
@pytest.mark.parametrize(("op", "vectors"), [("batch_norm_inference", 4), ("batch_norm_training", 2)])
def test_steps_that_are_each_rounded_to_the_element_type(op: str, vectors: int, size: int, type_: str) -> None:
    """As the specification has them; and by another formula, x a + (offset - mean a) of a factor a."""
    fmt, text, rng = FORMATS[TYPES[type_]], norm(op, type_, size), np.random.default_rng(size)
    draws = [rng.standard_normal((size, 3)), *rng.standard_normal((vectors, 3))]
    draws[-1] = np.abs(draws[-1]) if vectors == 4 else draws[-1]
    given = [round_to(fmt, one) for one in draws]
    results = goldens(text, *given)
    for golden, answer in zip(results, stepwise(text, *given), strict=True):
        assert judge(golden, answer, OF_MODULE).ok.all()
    x, scale, offset, *statistics = (one.astype(np.float64) for one in given)
    mean, variance = statistics or (x.mean(0), x.var(0))

    def rounded(number: np.ndarray) -> np.ndarray:
        return round_to(fmt, number).astype(np.float64)

    factor = rounded(scale * rounded(1 / np.sqrt(rounded(variance + float(EPSILON)))))
    shift = rounded(offset - rounded(mean * factor))
    found = judge(results[0], round_to(fmt, rounded(x * factor) + shift), OF_MODULE)
    assert found.ok.all()
    assert found.compared.any() or (type_, size) == ("bf16", 40)
    without = scale / np.sqrt(variance + 0.3)
    wrong = judge(results[0], round_to(fmt, (x - mean) * without + offset), OF_MODULE)
    if found.compared.all():
        assert not wrong.ok.all()


# --- triangular_solve and cholesky ------------------------------------------------------------------------------------

SOLVE = """func.func @main(%a: tensor<{n}x{n}xf32>, %b: tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
  %x = "stablehlo.triangular_solve"(%a, %b) {{left_side = {left}, lower = {lower}, unit_diagonal = {unit}, transpose_a = #stablehlo<transpose {transpose}>}} : (tensor<{n}x{n}xf32>, tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  return %x : tensor<{rows}x{columns}xf32>
}}
"""  # noqa: E501


def triangle(size: int, seed: int) -> np.ndarray:
    """Lower; what lies above its diagonal is to be left alone."""
    rng = np.random.default_rng(seed)
    matrix = (rng.standard_normal((size, size)) / np.sqrt(size)).astype(F32)
    np.fill_diagonal(matrix, rng.uniform(1, 2, size))
    return matrix


def substituted(lower: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Row by row, in float32."""
    x = np.zeros_like(sides)
    for row in range(len(lower)):
        x[row] = (sides[row] - (lower[row, :row, None] * x[:row]).sum(0, dtype=F32)) / lower[row, row]
    return x


def by_columns(lower: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Each unknown is taken out of all rows below, and the diagonal's reciprocals are multiplied by."""
    rest, x = sides.copy(), np.zeros_like(sides)
    for row in range(len(lower)):
        x[row] = rest[row] * (F32(1) / lower[row, row])
        rest[row + 1 :] -= lower[row + 1 :, row, None] * x[row]
    return x


def by_inverse(lower: np.ndarray, sides: np.ndarray) -> np.ndarray:
    return substituted(lower, np.eye(len(lower), dtype=F32)) @ sides


SOLVERS = (substituted, by_columns, by_inverse)
FLAGS = [
    {"left": left, "lower": lower, "unit": unit, "transpose": transpose}
    for left in ("true", "false")
    for lower in ("true", "false")
    for unit in ("true", "false")
    for transpose in ("NO_TRANSPOSE", "TRANSPOSE")
]


def lower_system(a: np.ndarray, b: np.ndarray, flags: dict[str, str]) -> tuple[np.ndarray, np.ndarray, bool]:
    """The system as one of a lower triangle on the left, and whether its rows are in the opposite order."""
    matrix = np.tril(a) if flags["lower"] == "true" else np.triu(a)
    if flags["unit"] == "true":
        np.fill_diagonal(matrix, 1)
    matrix = matrix if flags["transpose"] == "NO_TRANSPOSE" else matrix.T
    matrix, sides = (matrix, b) if flags["left"] == "true" else (matrix.T, b.T)
    is_upper = bool((np.tril(matrix, -1) == 0).all() and len(matrix) > 1)
    return (matrix[::-1, ::-1], sides[::-1], True) if is_upper else (matrix, sides, False)


@pytest.mark.parametrize("flags", FLAGS, ids=lambda one: "-".join(one.values()))
@pytest.mark.parametrize(("size", "columns"), [(1, 1), (4, 3), (24, 2)])
def test_triangular_systems(flags: dict[str, str], size: int, columns: int) -> None:
    a = triangle(size, size)
    a = a if flags["lower"] == "true" else a.T.copy()
    shape = (size, columns) if flags["left"] == "true" else (columns, size)
    b = np.random.default_rng(1).standard_normal(shape).astype(F32)
    text = SOLVE.format(n=size, rows=shape[0], columns=shape[1], **flags)
    unread = np.triu(np.full((size, size), np.nan), 1) if flags["lower"] == "true" else None
    a = np.where(np.isnan(unread), F32(7), a) if unread is not None else a
    (golden,) = goldens(text, a, b)

    def answer(solver: object, a: np.ndarray = a) -> np.ndarray:
        matrix, sides, is_turned = lower_system(a, b, flags)
        x = solver(np.ascontiguousarray(matrix), np.ascontiguousarray(sides))  # type: ignore[operator]
        x = x[::-1] if is_turned else x
        return np.ascontiguousarray(x if flags["left"] == "true" else x.T)

    for solver in SOLVERS:
        found = judge(golden, answer(solver), OF_MODULE)
        assert found.ok.all()
        assert found.compared.all()
    assert not judge(golden, answer(substituted) * F32(1 + 1e-3), OF_MODULE).ok.all()
    if size > 1:
        wrong = a.copy()
        wrong[-1, 0] *= F32(1.01)
        wrong[0, -1] *= F32(1.01)
        assert not judge(golden, answer(substituted, wrong), OF_MODULE).ok.all()
        other = {**flags, "transpose": "TRANSPOSE" if flags["transpose"] == "NO_TRANSPOSE" else "NO_TRANSPOSE"}
        matrix, sides, is_turned = lower_system(a, b, other)
        x = substituted(np.ascontiguousarray(matrix), np.ascontiguousarray(sides))
        x = x[::-1] if is_turned else x
        assert not judge(golden, np.ascontiguousarray(x if flags["left"] == "true" else x.T), OF_MODULE).ok.all()


def test_a_system_of_computed_numbers() -> None:
    """The errors of both operands come through the inverse."""
    text = SOLVE.format(n=8, rows=8, columns=2, left="true", lower="true", unit="false", transpose="NO_TRANSPOSE")
    text = text.replace(
        '  %x = "stablehlo.triangular_solve"(%a, %b)',
        """  %c = stablehlo.constant dense<1.1> : tensor<8x8xf32>
  %d = stablehlo.constant dense<1.3> : tensor<8x2xf32>
  %e = stablehlo.multiply %a, %c : tensor<8x8xf32>
  %f = stablehlo.multiply %b, %d : tensor<8x2xf32>
  %x = "stablehlo.triangular_solve"(%e, %f)""",
    )
    a, b = triangle(8, 3), np.random.default_rng(4).standard_normal((8, 2)).astype(F32)
    (golden,) = goldens(text, a, b)
    exact = goldens(SOLVE.format(n=8, rows=8, columns=2, left="true", lower="true", unit="false",
                                 transpose="NO_TRANSPOSE"), a, b)[0]  # fmt: skip
    assert (golden.budget > exact.budget * (1.3 / 1.1)).all()
    for solver in SOLVERS:
        assert judge(golden, solver(np.tril(a * F32(1.1)), b * F32(1.3)), OF_MODULE).ok.all()
    assert not judge(golden, substituted(np.tril(a * F32(1.1)), b * F32(1.3001)), OF_MODULE).ok.all()


CHOLESKY = """func.func @main(%a: tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> {{
  %x = stablehlo.cholesky %a, lower = {lower} : tensor<{n}x{n}xf32>
  return %x : tensor<{n}x{n}xf32>
}}
"""


def definite(size: int) -> np.ndarray:
    rng = np.random.default_rng(size)
    root = rng.standard_normal((size, size + 2))
    return (root @ root.T / size + 0.1 * np.eye(size)).astype(F32)


def by_rows(a: np.ndarray) -> np.ndarray:
    factor = np.zeros_like(a)
    for row in range(len(a)):
        for column in range(row + 1):
            rest = a[row, column] - (factor[row, :column] * factor[column, :column]).sum(dtype=F32)
            factor[row, column] = np.sqrt(rest) if row == column else rest / factor[column, column]
    return factor


def outward(a: np.ndarray) -> np.ndarray:
    """Each column is taken out of all that is left; reciprocals of roots are multiplied by."""
    rest, factor = a.copy(), np.zeros_like(a)
    for at in range(len(a)):
        factor[at:, at] = rest[at:, at] * (F32(1) / np.sqrt(rest[at, at]))
        rest[at + 1 :, at + 1 :] -= factor[at + 1 :, at, None] * factor[None, at + 1 :, at]
    return factor


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("size", [1, 3, 16])
def test_decompositions(size: int, lower: bool) -> None:
    a = definite(size)
    (golden,) = goldens(CHOLESKY.format(n=size, lower=str(lower).lower()), a)
    free = np.triu(np.ones((size, size), bool), 1)
    assert (np.isinf(golden.budget) == (free if lower else free.T)).all()
    for factor in (by_rows(a), outward(a), np.linalg.cholesky(a)):
        found = judge(golden, np.ascontiguousarray(factor if lower else factor.T), OF_MODULE)
        assert found.ok.all()
        assert (found.compared == ~(free if lower else free.T)).all()
        assert not judge(golden, (factor if lower else factor.T) * F32(1 + 1e-3), OF_MODULE).ok.all()
    shifted = by_rows((a + 1e-3 * np.eye(size)).astype(F32))
    assert not judge(golden, np.ascontiguousarray(shifted if lower else shifted.T), OF_MODULE).ok.all()


@pytest.mark.parametrize("size", [2, 6])
def test_a_bound_is_reached_by_a_matrix_that_was_perturbed(size: int) -> None:
    """Backward errors of the size that the theorems allow: the results lie within the bound, and not far within."""
    a, shares = definite(size), []
    (golden,) = goldens(CHOLESKY.format(n=size, lower="true"), a)
    for seed in range(200):
        signs = np.sign(np.random.default_rng(seed).standard_normal((size, size)))
        spent = (size + 12) * 2.0**-24
        exact = np.linalg.cholesky(a.astype(np.float64))
        moved = a + spent * np.tril(signs) * (np.abs(exact) @ np.abs(exact).T)
        moved = np.tril(moved) + np.tril(moved, -1).T
        error = np.abs(np.linalg.cholesky(moved) - exact)
        lower = np.tril(np.ones((size, size), bool))
        shares.append(np.max(error[lower] / golden.budget[lower]))
    assert 0.2 < max(shares) <= 1


@pytest.mark.parametrize(("text", "arrays", "message"), [
    (CHOLESKY.format(n=2, lower="true"), [np.array([[1, 2], [2, 1]], F32)], "not positive definite"),
    (CHOLESKY.format(n=2, lower="true"), [np.array([[1, np.nan], [np.nan, 1]], F32)], "infinities or NaN"),
    (CHOLESKY.format(n=65, lower="true"), [np.eye(65, dtype=F32)], "65 rows are too many"),
])  # fmt: skip
def test_what_no_bound_is_known_of(text: str, arrays: list[np.ndarray], message: str) -> None:
    with pytest.raises(Unjudged, match=message):
        goldens(text, *arrays)


@pytest.mark.parametrize("lower", [True, False])
def test_what_an_algorithm_does_not_read_may_be_nan(lower: bool) -> None:
    """x = 2 and 3 x + y = 7, of a diagonal that counts as 1; by the bounds, and by the specification's interpreter."""
    solve = SOLVE.format(n=2, rows=2, columns=1, left="true", lower=str(lower).lower(), unit="true",
                         transpose="NO_TRANSPOSE" if lower else "TRANSPOSE")  # fmt: skip
    system = np.array([[np.nan, np.nan], [3, np.nan]], F32)
    system, sides = system if lower else system.T.copy(), np.array([[2], [7]], F32)
    assert goldens(solve, system, sides)[0].value.tolist() == [[2], [1]]
    assert stepwise(solve, system, sides)[0].tolist() == [[2], [1]]
    text, square = CHOLESKY.format(n=2, lower=str(lower).lower()), np.array([[4, np.nan], [2, 10]], F32)
    square, factor = (square, [[2, 0], [1, 3]]) if lower else (square.T.copy(), [[2, 1], [0, 3]])
    (golden,) = goldens(text, square)
    assert golden.value[golden.budget < np.inf].tolist() == [one for row in factor for one in row if one]
    assert stepwise(text, square)[0].tolist() == factor


def test_solutions_beyond_float64_are_not_judged() -> None:
    text = SOLVE.format(n=2, rows=2, columns=1, left="true", lower="true", unit="false", transpose="NO_TRANSPOSE")
    text, a = text.replace("f32", "f64"), np.array([[1e-200, 0], [1, 1e-200]])
    with pytest.raises(Unjudged, match=r"stablehlo\.triangular_solve: its results are beyond the range of float64"):
        goldens(text, a, np.array([[1.0], [1.0]]))


def test_nearly_singular_systems_are_vacuous() -> None:
    a = np.array([[1, 0], [1, 1e-7]], F32)
    text = SOLVE.format(n=2, rows=2, columns=1, left="true", lower="true", unit="false", transpose="NO_TRANSPOSE")
    (golden,) = goldens(text, a, np.array([[0.1], [0.3]], F32))
    assert golden.budget[0] < 1e-6 < 1 < golden.budget[1]
