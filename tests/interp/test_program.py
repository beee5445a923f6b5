"""Programs over ops: their exact numbers against mpmath, their bounds against float32, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest

import conform
from conform import ops
from conform.call import schemas
from conform.errors import InvalidArguments, Unjudged, UsageError
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_fraction
from conform.own_ops import op

pytestmark = pytest.mark.usefixtures("own_ops")

F32 = np.float32


def golden(program: Callable, *args: Any, **kwargs: Any) -> conform.Golden:
    return conform.golden(op("test::program", reference=program), *args, **kwargs)


# --- What the numbers are ---------------------------------------------------------------------------------------------


def test_a_program_is_rounded_once_at_its_end() -> None:
    """(1 + 2^-24) - 1 is 2^-24: op by op in float32 it would be 0."""
    x = F32([2.0**-24])
    assert golden(lambda x: (x + 1.0) - 1.0, x).value.tolist() == [2.0**-24]
    assert golden(lambda x: (x + 1.0).to("float32") - 1.0, x).value.tolist() == [2.0**-24]  # float32 is where steps are
    half = np.array([2.0**-9], ml_dtypes.bfloat16)
    assert golden(lambda x: (x + 1.0) - 1.0, half).value.astype(float).tolist() == [2.0**-9]
    assert golden(lambda x: (x + 1.0).to("bfloat16") - 1.0, half).value.astype(float).tolist() == [0.0]


def test_the_budget_is_that_of_each_step_in_the_compute_type() -> None:
    """x * x + 1 of 1: one product off by 2^-24, then a sum off by 2^-24 of at most 2 + 2^-24."""
    (found,) = golden(lambda x: x * x + 1.0, F32([1.0])).outcome.goldens
    assert found.real.hi.tolist() == [2.0]
    assert found.budget[0] == pytest.approx(2.0**-24 + 2.0**-24 * (2 + 2.0**-24), rel=1e-9)


MP = SimpleNamespace(
    exp=np.vectorize(mpmath.exp, otypes=[object]), log=np.vectorize(mpmath.log, otypes=[object]),
    log1p=np.vectorize(mpmath.log1p, otypes=[object]), sqrt=np.vectorize(mpmath.sqrt, otypes=[object]),
    tanh=np.vectorize(mpmath.tanh, otypes=[object]), sin=np.vectorize(mpmath.sin, otypes=[object]),
    erf=np.vectorize(mpmath.erf, otypes=[object]), sigmoid=lambda x: 1 / (1 + MP.exp(-x)),
    silu=lambda x: x * MP.sigmoid(x),
    rsqrt=lambda x: 1 / MP.sqrt(x), maximum=np.maximum, minimum=np.minimum, abs=abs, mm=lambda a, b: a.dot(b),
    sum=lambda x, dim, keepdim: x.sum(axis=dim[0], keepdims=keepdim),
    mean=lambda x, dim, keepdim: x.sum(axis=dim[0], keepdims=keepdim) / x.shape[dim[0]],
    amax=lambda x, dim, keepdim: x.max(axis=dim[0], keepdims=keepdim),
    permute=lambda x, dims: x.transpose(dims), cat=lambda parts, dim: np.concatenate(parts, dim),
)  # fmt: skip
NUMPY = SimpleNamespace(
    exp=np.exp, log=np.log, log1p=np.log1p, sqrt=np.sqrt, tanh=np.tanh, sin=np.sin, maximum=np.maximum,
    erf=lambda x: np.vectorize(mpmath.erf, otypes=[F32])(x), sigmoid=lambda x: 1 / (1 + np.exp(-x)),
    silu=lambda x: x / (1 + np.exp(-x)), rsqrt=lambda x: 1 / np.sqrt(x), minimum=np.minimum, abs=np.abs,
    mm=np.matmul, permute=lambda x, dims: x.transpose(dims), cat=np.concatenate,
    sum=lambda x, dim, keepdim: np.add.accumulate(x, dim[0]).take([-1], dim[0]) if keepdim else x.sum(dim[0]),
    mean=lambda x, dim, keepdim: x.mean(axis=dim[0], keepdims=keepdim),
    amax=lambda x, dim, keepdim: x.max(axis=dim[0], keepdims=keepdim),
)  # fmt: skip


def _softmax(f: Any, x: Any, y: Any) -> Any:
    e = f.exp(x - f.amax(x, [1], True))
    return e / f.sum(e, [1], True)


def _layer_norm(f: Any, x: Any, y: Any) -> Any:
    centred = x - f.mean(x, [1], True)
    return centred * f.rsqrt(f.mean(centred * centred, [1], True) + 0.00001)


PROGRAMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add_rms_norm": lambda f, x, y: (x + y) * f.rsqrt(f.mean((x + y) * (x + y), [1], True) + 0.5),
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "swiglu": lambda f, x, y: f.silu(x) * y,
    "gelu": lambda f, x, y: x * 0.5 * (f.erf(x * 0.7071067811865476) + 1.0),
    "gelu_tanh": lambda f, x, y: 0.5 * x * (1.0 + f.tanh(0.79788456 * (x + 0.044715 * x * x * x))),
    "softplus": lambda f, x, y: f.log1p(f.exp(x)),
    "entropy": lambda f, x, y: -f.sum(_softmax(f, x, y) * f.log(_softmax(f, x, y)), [1], False),
    "attention": lambda f, x, y: f.mm(_softmax(f, f.mm(x, f.permute(y, [1, 0])) * 0.25, y), y),
    "hinge": lambda f, x, y: f.mean(f.maximum(1.0 - x * y, x * 0.0), [1], False),
    "clip": lambda f, x, y: f.minimum(f.maximum(x, -y), y) / (f.abs(y) + 1.0),
    "waves": lambda f, x, y: f.sin(x) * f.sqrt(y * y + 1.0) - f.sigmoid(y),
    "halves": lambda f, x, y: f.cat([x * y, -x], 1) * 3.0,
}


def _on_mpmath(program: Callable, *arrays: np.ndarray) -> np.ndarray:
    with mpmath.workprec(400):
        return program(MP, *(np.vectorize(mpmath.mpf, otypes=[object])(x.astype(float)) for x in arrays))


def _as_fraction(number: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = number._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


def _inputs(dtype: Any, scale: float) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(7)
    x, y = (scale * draws.standard_normal((5, 5)) for _ in range(2))
    return x.astype(dtype), y.astype(dtype)


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("dtype", [F32, ml_dtypes.bfloat16, np.float64], ids=["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_value_is_that_of_mpmath_rounded_once(name: str, dtype: Any, scale: float) -> None:
    program, arrays = PROGRAMS[name], _inputs(dtype, scale)
    (found,) = golden(lambda x, y: program(ops, x, y), *arrays).outcome.goldens
    exact = _on_mpmath(program, *arrays)
    for index in np.ndindex(found.value.shape):
        if np.isinf(found.budget[index]):
            continue
        number = _as_fraction(exact[index])
        rounded = round_fraction(FORMATS[found.format.name], number)
        assert found.value[index] == rounded, index
        distance = abs(number - Fraction(float(found.real.hi[index])) - Fraction(float(found.real.lo[index])))
        assert distance <= Fraction(float(found.real.radius[index])) + Fraction(2) ** -350, index
    # Of large numbers all digits of double-double may cancel, as in 1 + tanh(-60): where the rounding is not decided,
    # nothing is judged.
    assert np.isfinite(found.budget).all() or scale > 1.0


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_float32_step_by_step_is_within_the_bound_and_a_wrong_program_is_not(name: str, scale: float) -> None:
    program, arrays = PROGRAMS[name], _inputs(F32, scale)
    truth = golden(lambda x, y: program(ops, x, y), *arrays)
    with np.errstate(all="ignore"):
        honest = program(NUMPY, *arrays)
    assert honest.dtype == F32
    assert truth.verdict(honest).status == "pass"
    assert truth.verdict(honest * F32(1.001)).status == "fail"
    assert truth.verdict(np.zeros_like(honest)).status == "fail"


FUNCTIONS = ["exp", "log", "log1p", "sin", "tanh", "erf", "erfc", "sigmoid", "silu", "sqrt", "rsqrt"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_numbers_of_any_size_and_rank(name: str) -> None:
    x = F32(10.0) ** np.arange(-30, 30, dtype=F32).reshape(2, 5, 6) * F32([1, -1]).reshape(2, 1, 1)
    own = conform.golden(f"aten::{name}", x).value
    truth = golden(lambda x: getattr(ops, name)(x), x)
    known = np.isfinite(truth.bound_ulp)
    assert np.array_equal(truth.value[known], own[known], equal_nan=True)
    too_large = np.abs(x) > 1e6 if name == "sin" else np.isinf(own)  # for the kernel; for the compute type
    assert (known | too_large).all()


def test_a_mask_of_large_negative_numbers_gives_zeros_that_are_judged() -> None:
    scores = F32([[1.0, 2.0, -1e9], [0.0, -1e9, -np.inf]])
    truth = golden(lambda x: _softmax(ops, x, None), scores)
    assert truth.value[:, 2].tolist() == [0.0, 0.0]
    assert truth.value[1].tolist() == [1.0, 0.0, 0.0]
    assert truth.verdict(truth.value).compared == 6
    assert truth.verdict(np.where(truth.value == 0, F32(1e-30), truth.value)).status == "fail"
    halves = golden(lambda x: _softmax(ops, x, None).to("bfloat16") * 2.0, scores)
    assert halves.value[:, 2].tolist() == [0.0, 0.0]
    assert np.isfinite(halves.outcome.goldens[0].budget).all()


def test_a_number_of_no_dims_and_a_wider_dtype_is_rounded_by_implementations() -> None:
    x, scale = F32([3.0]), np.float64(1.0)
    (found,) = golden(lambda x, s: x * (s / 3.0), x, scale).outcome.goldens
    assert found.format.name == "float32"
    assert found.budget[0] >= 3 * 2.0**-24 * (1 / 3)  # that of s / 3 in float32
    assert golden(lambda x: ops.where(ops.eq(x, 3.0), x * float("nan"), x), x).verdict(F32([np.nan])).compared == 1

# --- The kit's own composite ops, which are written otherwise ---------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "op_name", "arguments"),
    [
        (lambda x: _softmax(ops, x, None), "aten::_softmax", (1, False)),
        (lambda x: ops.silu(x), "aten::silu", ()),
        (lambda x: ops.sigmoid(x), "aten::sigmoid", ()),
        (lambda x: x * ops.rsqrt(ops.mean(x * x, [1], True) + 1e-5), "aten::rms_norm", ([33], None, 1e-5)),
        (lambda x: ops.log(ops.sum(ops.exp(x), [1])), "aten::logsumexp", ([1],)),
        (lambda x: ops.mean(x, [1]), "aten::mean", ([1],)),
        (lambda x: ops.amax(x + 0.0, [1]), "aten::amax", ([1],)),
        (lambda x: ops.mm(x, x.permute([1, 0])), "aten::mm", None),
    ],
    ids=["softmax", "silu", "sigmoid", "rms_norm", "logsumexp", "mean", "amax", "mm"],
)
@pytest.mark.parametrize("dtype", [F32, np.float16, np.float64], ids=["float32", "float16", "float64"])
def test_a_program_agrees_with_the_op_that_it_defines(
    program: Callable, op_name: str, arguments: tuple | None, dtype: Any
) -> None:
    x = np.random.default_rng(3).standard_normal((7, 33)).astype(dtype)
    own = conform.golden(op_name, x, *((x.T,) if arguments is None else arguments))
    assert golden(program, x).value.tobytes() == own.value.tobytes()


def test_other_ops_of_the_kit_may_be_used_on_arguments() -> None:
    x, weight = np.random.default_rng(5).standard_normal((2, 3, 4)).astype(F32)[:, :, :4], np.ones(4, F32)
    normed = conform.golden("aten::native_layer_norm", x, [4], weight, weight, 1e-5).value[0]
    doubled = golden(lambda x, w: 2.0 * ops.native_layer_norm(x, [4], w, w, 1e-5)[0], x, weight)
    assert doubled.value.tolist() == (2 * normed).tolist()
    assert np.isfinite(doubled.outcome.goldens[0].budget).all()
    order = golden(lambda x: ops.gather(x * 2.0, 1, ops.argmax(x, 1, True)), F32([[1, 5, 3]]))
    assert order.value.tolist() == [[10.0]]


# --- Special numbers --------------------------------------------------------------------------------------------------


def test_special_numbers_go_as_ieee_has_them() -> None:
    x = F32([np.nan, np.inf, -np.inf, 0.0, -0.0])
    truth = golden(lambda x: x * 2.0 + 1.0, x)
    assert [str(one) for one in truth.value.tolist()] == ["nan", "inf", "-inf", "1.0", "1.0"]
    assert truth.bound_ulp[:3].tolist() == [0.0, 0.0, 0.0]
    empty = golden(lambda x: ops.exp(x) * 2.0, x[:0])
    assert empty.value.shape == (0,)
    scalar = golden(lambda x: ops.exp(x) * 2.0, F32(0.0))
    assert (scalar.value.shape, scalar.value.item()) == ((), 2.0)


def test_an_overflow_on_the_way_leaves_nothing_to_judge() -> None:
    truth = golden(lambda x: ops.exp(x) / ops.exp(x), F32([1.0, 100.0, 1000.0]))
    assert truth.value[0] == 1.0
    assert np.isinf(truth.bound_ulp).tolist() == [False, True, True]
    assert truth.verdict(F32([1.0, np.nan, 7.0])).status == "pass"
    assert truth.verdict(F32([1.1, np.nan, 7.0])).status == "fail"


@pytest.mark.parametrize(
    ("x", "y", "is_known"), [([np.inf, 2], [-1, 3], True), ([np.inf, 3e38], [-1, 3e38], False)],
)  # fmt: skip
def test_an_infinity_beside_products_that_may_overflow(x: list[float], y: list[float], is_known: bool) -> None:
    """-inf + (+inf), if the other product is infinite, is NaN (P35)."""
    truth = golden(lambda x, y: ops.mm(x, y), F32([x]), F32(y)[:, None])
    assert truth.value.tolist() == [[-np.inf]]
    assert truth.verdict(F32([[np.nan]])).status == ("fail" if is_known else "unjudged")


@pytest.mark.parametrize(
    ("transposed", "is_known"),
    [(False, [False, True]), (True, [False, True, False, True, False, True, False])],
)
def test_zeros_around_and_between_beside_a_weight_that_is_no_number(transposed: bool, is_known: list[bool]) -> None:
    """Kernels multiply them, which gives NaN, or leave them out: P39, as of the operator by itself."""
    x, weight, others = F32([[[1, 2, 3, 4]]]), F32([[[np.nan, 1, 1]]]), (None, [2], [1], [1], transposed, [0], 1)
    truth = golden(lambda x, weight: ops.convolution(x + 0.0, weight, *others), x, weight)
    assert np.isfinite(truth.bound_ulp).reshape(-1).tolist() == is_known
    (alone,) = conform.golden("aten::convolution", x, weight, *others).outcome.goldens
    assert (~alone.open).reshape(-1).tolist() == is_known


@pytest.mark.parametrize(
    "program",
    [
        lambda x: ops.sqrt((x + 1.0) - 1.0 - x),  # an implementation may have a negative number
        lambda x: 1.0 / ((x + 1.0) - 1.0 - x),  # or a zero
        lambda x: ops.log((x + 1.0) - 1.0 - x),
        lambda x: (np.inf * F32([1.0])) * ((x + 1.0) - 1.0 - x),  # inf, -inf or NaN
        lambda x: ops.mm((np.inf * F32([[1.0]])) + 0.0 * x, ((x + 1.0) - 1.0 - x)),
    ],
    ids=["root", "quotient", "logarithm", "infinity", "matrices"],
)
def test_what_an_honest_error_may_turn_into_anything_is_not_judged(program: Callable) -> None:
    with pytest.raises(Unjudged, match="nothing was compared"):
        conform.assert_close(op("test::turns", reference=program), F32([[1.0]]), F32([[0.1]]))


def test_an_exact_zero_that_a_program_is_given_is_one() -> None:
    assert golden(lambda x: 1.0 / x, F32([0.0, -0.0])).value.tolist() == [np.inf, -np.inf]
    assert np.isinf(golden(lambda x: 1.0 / (x - x), F32([1.0])).bound_ulp).all()


# --- Steps ------------------------------------------------------------------------------------------------------------


def test_a_threshold_decides_where_no_honest_error_crosses_it() -> None:
    x = F32([[0.1, 0.7, 0.3]])
    assert golden(lambda x: ops.argmax(x * 3.0, 1), x).value.tolist() == [1]
    assert golden(lambda x: ops.round(x * 10.0 + 0.2), x).value.tolist() == [[1.0, 7.0, 3.0]]
    assert golden(lambda x: ops.where(ops.eq(x * 3.0, 1.0), x, -x), x).value.tolist() == (-x).tolist()


TIED = F32([0.3, 0.3])


@pytest.mark.parametrize(
    ("program", "allowed"),
    [
        (lambda x: ops.argmax(x * (1.0 / 3), 0), [0, 1]),
        (lambda x: ops.argmin(x * (1.0 / 3), 0), [0, 1]),
        (lambda x: ops.topk(x * (1.0 / 3), 2, 0)[1], [[0, 1], [1, 0]]),
        (lambda x: ops.sort(x * (1.0 / 3))[1], [[0, 1], [1, 0]]),
        (lambda x: ((x + 0.7) * (1.0 / 3) * 3.0).to("int64"), [[0, 0], [1, 1], [0, 1]]),
        (lambda x: ops.eq(x * (1.0 / 3), x / 3.0), [[True, True], [False, False]]),
        (lambda x: ops.flip(ops.eq(x * (1.0 / 3), x / 3.0), [0]), [[True, True], [False, False]]),
        (lambda x: ops.logical_not(ops.eq(x * (1.0 / 3), x / 3.0)), [[True, False]]),
        (lambda x: ops.eq(ops.argmax(x * (1.0 / 3), 0, True), np.array([0, 1])), [[True, False], [False, True]]),
    ],
)
def test_of_what_an_honest_error_turns_either_is_right(program: Callable, allowed: list) -> None:
    """And nothing else is."""
    truth = golden(program, TIED)
    for one in allowed:
        assert truth.verdict(np.array(one, truth.value.dtype)).status == "pass"
    wrong = truth.value + 2 if truth.value.dtype == np.int64 else None
    assert wrong is None or truth.verdict(wrong).status == "fail"
    sure = golden(program, F32([0.4, 0.1]))
    assert wrong is None or not sure.outcome.goldens[0].alternatives


def test_a_choice_leaves_alone_what_does_not_hang_on_it() -> None:
    """Two of three rows are decided; of the third a wrong bool is one, and what it picks is not judged."""
    x = F32([[0.3, 0.3, 0.1], [1.0, 2.0, 3.0], [5.0, 1.0, 2.0]])
    weight = np.arange(1, 13, dtype=F32).reshape(3, 4) ** 2
    rows = golden(lambda x: ops.embedding(weight, ops.argmax(x * (1.0 / 3), 1)) * 1.0, x)
    assert np.isinf(rows.outcome.goldens[0].budget).any(1).tolist() == [True, False, False]
    assert rows.verdict(weight[[1, 2, 0]]).status == "pass"
    assert rows.verdict(weight[[0, 1, 0]]).status == "fail"
    picked = golden(lambda x: ops.gather(x * 2.0, 1, ops.argmax(x * (1.0 / 3), 1, True)), x)
    assert picked.verdict(F32([[0.6], [6.0], [10.0]])).compared == 3  # both have the same number
    spread = golden(
        lambda x: ops.scatter(x * 0.0, 1, ops.topk(x * (1.0 / 3), 1)[1], ops.topk(x * (1.0 / 3), 1)[0]), x
    )
    assert np.isinf(spread.outcome.goldens[0].budget).tolist() == [[True, True, False], [False] * 3, [False] * 3]
    largest = golden(lambda x: ops.topk(x * (1.0 / 3), 2)[0], x)
    assert np.isfinite(largest.outcome.goldens[0].budget).all()  # in order, whichever comes first


def test_what_is_continuous_across_a_choice_is_judged() -> None:
    x = F32([0.3, 0.5, -2.0])
    hinge = golden(lambda x: ops.where(ops.gt(x * 3.0, 0.9), x * 3.0 - 0.9, x * 0.0), x)
    assert np.isfinite(hinge.outcome.goldens[0].budget).all()
    assert hinge.verdict(F32([0.0, 0.6, 0.0])).status == "pass"
    assert hinge.verdict(F32([0.1, 0.6, 0.0])).status == "fail"
    step = golden(lambda x: ops.where(ops.gt(x * 3.0, 0.9), x, -x), x)
    assert np.isinf(step.outcome.goldens[0].budget).tolist() == [True, False, False]
    product = golden(lambda x: ops.gt(x * 3.0, 0.9) * x, x)
    assert np.isinf(product.outcome.goldens[0].budget).tolist() == [True, False, False]
    attended = golden(
        lambda x: ops.scaled_dot_product_attention(
            ops.view(x, [3, 1]) * 1.0, ops.view(x, [3, 1]), ops.view(x, [3, 1]),
            ops.gt(ops.view(x, [1, 3]) * (1.0 / 3), x.view([3, 1]) / 3.0),
        ), x,
    )  # fmt: skip
    assert np.isinf(attended.outcome.goldens[0].budget)[0]


def test_of_choices_among_many_nothing_is_told() -> None:
    with pytest.raises(Unjudged, match="which int64 numbers it gives hangs on a choice"):
        golden(lambda x: ops.argmax(x * (1.0 / 3), 0), F32([0.3] * 12))
    with pytest.raises(Unjudged, match="which int64 numbers it gives hangs on a choice"):
        golden(lambda x: ops.topk(x * (1.0 / 3), 1, 0)[1], F32([0.3, np.nan, 0.1]))
    (found,) = golden(lambda x: ops.topk(x * (1.0 / 3), 1, 0)[0], F32([0.3, np.nan, 0.1])).outcome.goldens
    assert np.isinf(found.budget).all()


def test_comparisons_of_numbers_without_dims() -> None:
    assert golden(lambda x: ops.where(ops.gt(x * 2.0, 0.5), x, -x), F32(0.1)).value.tolist() == F32(-0.1).tolist()


def test_a_rounding_to_integers_is_left_open_where_it_may_go_either_way() -> None:
    truth = golden(lambda x: ops.round(x * 5.0), F32([0.1, 0.2]))  # 0.1f * 5 is just above a half
    assert np.isinf(truth.bound_ulp).tolist() == [True, False]


def test_a_rounding_on_the_way_carries_its_operands_error() -> None:
    x = np.array([1.0], ml_dtypes.bfloat16)
    (found,) = golden(lambda x: (x * (1.0 + 2.0**-8 - 2.0**-30)).to("bfloat16") * 1.0, x).outcome.goldens
    assert found.real.hi.tolist() == [1.0]  # just below the midpoint of 1 and 1 + 2^-7
    assert 2.0**-7 <= found.budget[0] <= 2.0**-7 * 1.01


# --- What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: ops.cummax(x * 2.0, 0), "a program cannot use aten::cummax on numbers that it has computed"),
        (lambda x: ops.polar(x, x), "a program cannot use aten::polar here: the kit knows no bound of its error"),
        (lambda x: ops.erfinv(x * 2.0), "a program cannot use aten::erfinv on numbers that it has computed"),
        (lambda x: ops.special_airy_ai(x), "a program cannot use aten::special_airy_ai: the kit has no semantics"),
        (lambda x: (x * 2.0).to("float8_e4m3fn"), "to float8_e4m3fn: what overflows may saturate"),
        (lambda x: x ** float("inf"), "aten::pow with exponent inf"),
        (lambda x: x if x else -x, "a program is straight"),
        (lambda x: np.exp(x), "TypeError: operand 'Number' does not support ufuncs"),
        (lambda x: 1.0, "it returned float; expected what ops return"),
        (lambda x: None, "it returned NoneType"),
        (lambda x: x + 1j, "a program cannot use aten::add.Scalar here: the kit knows no bound"),
        (lambda x: x + "a", "no overload takes"),
        (lambda x: x.nonsense(), "test_program.py:.*: AttributeError: a number of a program has no attribute"),
        (lambda x: ops.nonsense(x), "AttributeError: there is no operator aten::nonsense"),
        (lambda x: 1 / 0, "test_program.py:.*: ZeroDivisionError"),
    ],
)
def test_what_has_no_sound_golden_is_refused_by_its_name(program: Callable, message: str) -> None:
    with pytest.raises(UsageError, match=f"reference of test::program: .*{message}"):
        golden(program, F32([1.0, 2.0]))


def test_arguments_that_an_op_refuses_are_refused() -> None:
    with pytest.raises(InvalidArguments, match=r"reference of test::program: aten::add.Tensor: argument other"):
        golden(lambda x, y: x * 2.0 + y, F32([1, 2]), F32([1, 2, 3]))
    with pytest.raises(InvalidArguments, match=r"reference of test::program: aten::sum.dim_IntList: argument dim"):
        golden(lambda x: ops.sum(x * 2.0, [3]), F32([1, 2]))


# --- Definitions ------------------------------------------------------------------------------------------------------


def test_a_schema_follows_from_the_function_or_is_written() -> None:
    def scale(x, by: float, *, bias=None, mode="plain", twice=False):
        return x * by if bias is None else x * by + bias

    assert op("test::scale", reference=scale) == "test::scale"
    assert str(schemas.schema("test::scale")) == (
        'test::scale(Tensor x, float by, *, Tensor? bias=None, str mode="plain", bool twice=False) -> (Tensor, ...)'
    )
    assert conform.golden("test::scale", F32([2.0]), 3.0, bias=F32([1.0])).value.tolist() == [7.0]
    written = op("test::scale.int(Tensor x, int[] by) -> Tensor", reference=lambda x, by: x * float(by[0]))
    assert written == "test::scale.int"
    assert conform.golden("test::scale.int", F32([2.0]), [5]).value.tolist() == [10.0]
    op("test::scale", reference=lambda x: x * 2.0)
    assert conform.golden("test::scale", F32([2.0])).value.tolist() == [4.0]
    with pytest.raises(UsageError, match=r"test::scale has no argument 'by'|no overload takes"):
        conform.golden("test::scale", F32([2.0]), by=3.0)


@pytest.mark.parametrize(
    ("schema", "reference", "message"),
    [
        ("scale", lambda x: x, "operator 'scale': expected NAMESPACE::NAME"),
        ("aten::exp", lambda x: x, "the namespace aten is torch's"),
        ("test::scale(Tensor x", lambda x: x, "not an operator's schema"),
        ("test::scale(Tensor x) -> Tensor", lambda y: y, "does not take the schema's arguments: missing .*'y'"),
        ("test::scale", lambda *x: x, r"the reference takes \*x; write the whole schema"),
        ("test::scale", lambda x, by=[1]: x, r"'by' has the default \[1\]; write the whole schema"),
        ("test::scale", "x", "reference: found 'x', expected a Python function"),
    ],
)
def test_a_definition_that_is_none(schema: str, reference: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        op(schema, reference=reference)


def test_a_run_judges_a_users_op_like_any_other(tmp_path: Any) -> None:
    (tmp_path / "s.yaml").write_text(
        "tests:\n- {id: t, op: 'test::scaled', in: [{type: tensor, shape: [3], dtype: float32}], "
        "kwargs: {by: {type: const, value: 0.3}}}\n"
    )

    def run(name: str, args: list, kwargs: dict) -> Any:
        return (args[0] + 1) * kwargs["by"]

    op("test::scaled", reference=lambda x, by=2.0: (x + 1.0) * by)
    case = conform.check(str(tmp_path / "s.yaml"), backend=run).cases[0]
    assert (case["status"], case["compared"], case["contract"]["kind"]) == ("pass", 3, "derived")
    op("test::scaled", reference=lambda x, by=2.0: ops.special_airy_ai(x))
    case = conform.check(str(tmp_path / "s.yaml"), backend=run).cases[0]
    assert case["status"] == "unjudged"
    assert "a program cannot use aten::special_airy_ai" in case["reason"]
