"""Rules of what modules consist of: on computed numbers that are exact, an op's own golden; moves, literally.

`x * 1.0` is x, of which an implementation may have another number: so the rule is asked, and its number must be that of
the op's own semantics, which I8 pins, and its bound at least as wide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import conform
from conform import ops
from conform.errors import InvalidArguments, Unjudged, UsageError
from conform.interp.program.apply import apply
from conform.own_ops import op

pytestmark = pytest.mark.usefixtures("own_ops")

F32 = np.float32
DRAWS = np.random.default_rng(11)
X = DRAWS.standard_normal((3, 4, 8)).astype(F32)
IMAGE = DRAWS.standard_normal((2, 4, 7, 6)).astype(F32)
KERNEL = DRAWS.standard_normal((6, 4, 3, 2)).astype(F32)
W, B = (1 + 0.5 * DRAWS.standard_normal((2, 8))).astype(F32)
QUERY, KEY, VALUE = DRAWS.standard_normal((3, 2, 4, 5, 8)).astype(F32)
PLACES = np.arange(64).reshape(2, 4, 8) % 3
MASK = np.array([[True, False, True, True, True]] * 5)


def golden(program: Callable, *args: Any) -> conform.Golden:
    return conform.golden(op("test::program", reference=program), *args)


SEMANTICS: dict[str, tuple[Any, ...]] = {
    "gelu": ("aten::gelu", (X,)),
    "gelu of large numbers": ("aten::gelu", (3 * X,)),
    "cos": ("aten::cos", (X,)),
    "softmax": ("aten::_softmax", (X, 1, False)),
    "log_softmax": ("aten::_log_softmax", (4 * X, 2, False)),
    "rms_norm": ("aten::rms_norm", (X, [8], W, 1e-3)),
    "rms_norm without eps": ("aten::rms_norm", (X, [4, 8], None, None)),
    "convolution": ("aten::convolution", (IMAGE, KERNEL, B[:6], [1, 1], [0, 0], [1, 1], False, [0, 0], 1)),
    "convolution with all": ("aten::convolution", (IMAGE, KERNEL[:, :2], None, [2, 1], [1, 2], [2, 3], False, [0], 2)),
    "convolution of rows": ("aten::convolution", (IMAGE[:, :, 0], KERNEL[..., 0], None, [2], [1], [1], False, [0], 1)),
    "conv2d": ("aten::conv2d", (IMAGE, KERNEL[:, :2], B[:6], [2, 1], [1, 2], [2, 3], 2)),
    "conv2d of one sample": ("aten::conv2d", (IMAGE[0], KERNEL)),
    "conv1d by its defaults": ("aten::conv1d", (IMAGE[:, :, 0], KERNEL[..., 0])),
    "batch_norm": ("aten::batch_norm", (X, W[:4], B[:4], B[4:], W[:4] ** 2, False, 0.1, 1e-3, False)),
    "batch_norm of the batch": ("aten::batch_norm", (X, None, None, None, None, True, 0.1, 1e-3, False)),
    "padding with numbers": ("aten::pad", (IMAGE, [2, 1, 0, 3], "constant", -0.75)),
    "padding with zeros": ("aten::pad", (IMAGE, [1, 1, 2, 0])),
    "padding by reflection": ("aten::pad", (IMAGE, [2, 1, 0, 3], "reflect")),
    "padding around": ("aten::pad", (IMAGE, [2, 1, 0, 3], "circular")),
    "avg_pool2d": ("aten::avg_pool2d", (IMAGE, [3, 2])),
    "avg_pool2d with padding": ("aten::avg_pool2d", (IMAGE, [3, 3], [2, 1], [1, 1], False, False)),
    "avg_pool2d divided otherwise": ("aten::avg_pool2d", (IMAGE, [2], [1, 2], [0, 0], False, True, 7)),
    "attention": ("aten::scaled_dot_product_attention", (QUERY, KEY, VALUE)),
    "attention with a mask": ("aten::scaled_dot_product_attention", (QUERY, KEY, VALUE, MASK), {"scale": 0.3}),
    "attention with added numbers": ("aten::scaled_dot_product_attention", (QUERY, KEY, VALUE, IMAGE[0, 0, :5, :5])),
    "causal attention": ("aten::scaled_dot_product_attention", (QUERY, KEY, VALUE, None, 0.0, True)),
    "transposed convolution": (
        "aten::convolution", (IMAGE, KERNEL[:4], B[:4], [1, 1], [0, 0], [1, 1], True, [0, 0], 1),
    ),
    "transposed convolution with all": (
        "aten::convolution", (IMAGE, KERNEL[:4, :3], None, [3, 2], [2, 0], [1, 3], True, [2, 1], 2),
    ),
    "transposed convolution that cuts off": (
        "aten::convolution", (IMAGE[:, :, 0], KERNEL[:4, :, :, 0], None, [1], [3], [1], True, [0], 1),
    ),
    "max_pool2d beyond the end": ("aten::max_pool2d", (IMAGE, [3, 2], [2, 3], [1, 0], [1, 2], True)),
    "max_pool3d": ("aten::max_pool3d", (X[None], [2, 3, 2], [1, 2, 2], [1, 1, 0], [1, 1, 2], True)),
    "avg_pool2d beyond the end": ("aten::avg_pool2d", (IMAGE, [3, 2], [3, 4], [1, 1], True)),
    "avg_pool2d of elements alone": ("aten::avg_pool2d", (IMAGE, [3, 4], [2, 3], [1, 2], True, False)),
    "avg_pool3d": ("aten::avg_pool3d", (X[None], [2, 3, 2], [2, 1, 3], [1, 1, 0], True)),
    "adaptive_avg_pool2d": ("aten::_adaptive_avg_pool2d", (IMAGE, [3, 4])),
    "adaptive_avg_pool3d": ("aten::_adaptive_avg_pool3d", (X[None], [2, 3, 5])),
    "upsample_linear1d": ("aten::upsample_linear1d.vec", (X, [16], False, None)),
    "upsample_linear1d by a scale": ("aten::upsample_linear1d.vec", (X, None, False, [0.5])),
    "upsample_bilinear2d": ("aten::upsample_bilinear2d.vec", (IMAGE, [13, 11], True, None)),
    "upsample_bilinear2d by a scale": ("aten::upsample_bilinear2d.vec", (IMAGE, None, False, [2.0, 4.0])),
    "upsample_trilinear3d": ("aten::upsample_trilinear3d.vec", (X[None, None], [6, 2, 16], False, None)),
    "upsample_nearest2d": ("aten::upsample_nearest2d.vec", (IMAGE[..., :5], [11, 3], None)),
    "norm": ("aten::linalg_vector_norm", (X, 2, [0, 2])),
    "sum of magnitudes": ("aten::linalg_vector_norm", (X, 1, None, True)),
    "largest magnitude": ("aten::linalg_vector_norm", (X, float("inf"), [1])),
    "variance": ("aten::var.correction", (X, [0, 2]), {"correction": 1, "keepdim": True}),
    "variance of all": ("aten::var.correction", (X, None), {"correction": 0}),
    "running sums": ("aten::cumsum", (X, 1)),
    "running products": ("aten::cumprod", (X, -1)),
    "product": ("aten::prod.dim_int", (X, 0, True)),
    "product of all": ("aten::prod", (2 * X[:1],)),
    "smallest": ("aten::amin", (X, [0, 2])),
    "scatter_add": ("aten::scatter_add", (X, 0, PLACES, X[:2])),
    "scatter_reduce by the product": ("aten::scatter_reduce.two", (X, 2, PLACES, X, "prod")),
    "scatter_reduce of others": ("aten::scatter_reduce.two", (X, 0, PLACES, X, "mean"), {"include_self": False}),
    "scatter_reduce by the largest": ("aten::scatter_reduce.two", (X, 0, PLACES, -X, "amax")),
    "index_add": ("aten::index_add", (X, 1, np.array([3, 0, 3]), X[:, :3]), {"alpha": 0.5}),
    "index_put with repetitions": ("aten::index_put", (X, [None, np.array([2, 2, 0])], W[:1], True)),
    "index_copy": ("aten::index_copy", (X, 1, np.array([3, 0]), X[:, :2])),
    "masked_scatter": ("aten::masked_scatter", (X, np.array([[[True], [False], [True], [True]]] * 3), -X)),
    "log2": ("aten::log2", (np.abs(X) + F32(0.25),)),
    "log10": ("aten::log10", (np.abs(X) + F32(0.25),)),
    "power": ("aten::pow.Tensor_Scalar", (np.abs(X) + F32(0.25), 0.75)),
    "negative power": ("aten::pow.Tensor_Scalar", (np.abs(X) + F32(0.25), -2.5)),
    "clamp between tensors": ("aten::clamp.Tensor", (X, W, W + 1)),
    "attention of groups": (
        "aten::scaled_dot_product_attention", (QUERY, KEY[:, :2], VALUE[:, :2]), {"enable_gqa": True},
    ),
}  # fmt: skip


def _as_computed(op_name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Callable:
    """The op on numbers that are those of its first argument, but computed."""
    overload = getattr(ops, op_name.removeprefix("aten::"))
    return lambda x: overload(x * 1.0, *arguments[1:], **keywords)


def _agrees(
    found: conform.Golden, own: conform.Golden, least_known: float = 0.999, least_share: float = 0.5
) -> None:
    """`least_known`: the share of elements that are decided; of midpoints between two numbers none is. `least_share`:
    how small the bound may be beside that of the op's own semantics, which is another one."""
    mine, its = found.outcome.goldens[0], own.outcome.goldens[0]
    if its.real is None:  # selected
        assert mine.value.tobytes() == its.value.tobytes()
        return
    known = np.isfinite(mine.budget)
    assert known.mean() > least_known
    assert mine.value[known].tobytes() == its.value[known].tobytes()
    size = np.abs(its.value.astype(float)).max()
    assert (mine.budget[known] <= 1e-2 * size).all()
    if its.budget is not None:
        assert (mine.budget >= least_share * np.where(np.isfinite(its.budget), its.budget, 0.0)).all()


@pytest.mark.parametrize("dtype", [F32, np.float64, np.float16], ids=["float32", "float64", "float16"])
@pytest.mark.parametrize("name", SEMANTICS)
def test_a_rule_has_the_number_of_the_ops_own_semantics(name: str, dtype: Any) -> None:
    op_name, given, keywords = (*SEMANTICS[name], {})[:3]
    arguments = tuple(one.astype(dtype) if isinstance(one, np.ndarray) and one.dtype == F32 else one for one in given)
    own = conform.golden(op_name, *arguments, **keywords)
    is_resampling = "upsample" in op_name  # of images that have midpoints, and whose dims come one after the other
    found = golden(_as_computed(op_name, arguments, keywords), arguments[0])
    _agrees(found, own, *((0.8, 0.4) if is_resampling else ()))


@pytest.mark.parametrize("dtype", [F32, np.float64, np.float16], ids=["float32", "float64", "float16"])
def test_norms_that_are_other_ops_too(dtype: Any) -> None:
    x, image, w, b = (one.astype(dtype) for one in (X, IMAGE, W, B))
    own = conform.golden("aten::native_layer_norm", x, [8], w, b, 1e-5)
    _agrees(golden(lambda x: ops.layer_norm(x * 1.0, [8], w, b), x), own)
    assert golden(lambda x: ops.layer_norm(x, [8], w, b), x).value.tobytes() == own.value[0].tobytes()
    own = conform.golden("aten::native_group_norm", image, w[:4], b[:4], 2, 4, 42, 2, 1e-5)
    _agrees(golden(lambda x: ops.group_norm(x * 1.0, 2, w[:4], b[:4]), image), own)
    mean, variance = b[:4], np.abs(w[4:])
    batch = ops._native_batch_norm_legit_no_training
    own = conform.golden("aten::_native_batch_norm_legit.no_stats", image, w[:4], b[:4], True, 0.1, 1e-5)
    standardized = getattr(ops, "_native_batch_norm_legit.no_stats")
    _agrees(golden(lambda x: standardized(x * 1.0, w[:4], b[:4], True, 0.1, 1e-5)[0], image), own)
    own = conform.golden("aten::_native_batch_norm_legit_no_training", image, w[:4], b[:4], mean, variance, 0.1, 1e-5)
    _agrees(golden(lambda x: batch(x * 1.0, w[:4], b[:4], mean, variance, 0.1, 1e-5)[0], image), own)


def test_products_are_sums_of_products() -> None:
    """Of small integers, exactly: linear over the last dim, bmm matrix by matrix, with or without an addend."""
    x, w = np.arange(12).reshape(2, 2, 3).astype(F32), np.arange(6).reshape(2, 3).astype(F32) - 2
    found = golden(lambda x: ops.linear(x * 1.0, w, F32([100, 200])), x)
    assert found.value.tolist() == [[[99, 208], [90, 226]], [[81, 244], [72, 262]]]
    assert golden(lambda x: ops.linear(x * 1.0, w[:1]), x).value.tolist() == [[[-1], [-10]], [[-19], [-28]]]
    found = golden(lambda x: ops.bmm(x * 1.0, x.permute([0, 2, 1])), x)
    assert found.value.tolist() == [[[5, 14], [14, 50]], [[149, 212], [212, 302]]]
    found = golden(lambda x: ops.baddbmm(F32([100, 200]), x * 1.0, x.permute([0, 2, 1]), beta=2, alpha=-1), x)
    assert found.value.tolist() == [[[195, 386], [186, 350]], [[51, 188], [-12, 98]]]
    assert golden(lambda x: ops.linear(x * 1.0, w), x[:0]).value.shape == (0, 2, 2)
    assert golden(lambda x: ops.bmm(x * 1.0, x.permute([0, 2, 1])), x[:0]).value.shape == (0, 2, 2)


def test_an_addend_times_0_is_no_part_of_a_product() -> None:
    nan, one = F32([[np.nan, np.inf]]), F32([[1, 2]])
    found = golden(lambda x: ops.addmm(nan, x * 1.0, F32([[1, 2], [3, 4]]), beta=0), one)
    assert found.value.tolist() == [[7, 10]]
    found = golden(lambda x: ops.baddbmm(nan, x * 1.0, F32([[[1, 2], [3, 4]]]), beta=0), one[None])
    assert found.value.tolist() == [[[7, 10]]]


@pytest.mark.parametrize("size", [1.0, 1e-4])
def test_a_cosine_loss_is_that_of_its_definition_with_or_without_a_guard(size: float) -> None:
    """P154: what is added to the squared lengths may be 0 or 1e-12; a margin may not be lost."""
    x, y = (np.random.default_rng(seed).standard_normal((4, 3)) * size for seed in (0, 1))
    x, y, signs = x.astype(F32), y.astype(F32), F32([1, -1, -1, 1])
    truth = golden(lambda x: ops.cosine_embedding_loss(x * 1.0, y, signs, margin=-0.5, reduction=0), x)
    (found,) = truth.outcome.goldens
    a, b = x.astype(np.float64), y.astype(np.float64)
    for guard, margin, ok in ((0, -0.5, True), (1e-12, -0.5, True), (0, -0.45, False)):
        cosine = (a * b).sum(-1) / np.sqrt(((a * a).sum(-1) + guard) * ((b * b).sum(-1) + guard))
        losses = np.where(signs == 1, 1 - cosine, np.maximum(cosine - margin, 0))
        assert (np.abs(losses - found.real.hi) <= found.budget).all() == ok


def test_of_lines_without_a_direction_no_cosine_is_known() -> None:
    x, y, signs = F32([[0, 0], [np.inf, 1], [1, 2]]), F32([[1, 2], [1, 2], [1, -2]]), F32([1, 1, 1])
    found = golden(lambda x: ops.cosine_embedding_loss(x * 1.0, y, signs, reduction=0), x)
    assert np.isinf(found.outcome.goldens[0].budget).tolist() == [True, True, False]
    with pytest.raises(Unjudged, match="others than 1, -1"):
        golden(lambda x: ops.cosine_embedding_loss(x * 1.0, y, F32([1, 0, 1])), x)


def test_a_sum_that_may_overflow_before_it_is_scaled_has_no_bound() -> None:
    """2^127 + 2^127, halved: 2^127 or infinity. Whole matrices of a stack too."""
    x, zeros, two = F32([[2.0**127, 1.0]]), F32([[0.0, 0.0]]), F32([[1.0, 1.0], [1.0, 0.0]])
    for program in (
        lambda x: ops.addmm(zeros, ops.cat([x[:, :1]] * 2, 1) * 1.0, two, alpha=0.5),
        lambda x: ops.baddbmm(zeros[None], (ops.cat([x[:, :1]] * 2, 1) * 1.0)[None], two[None], alpha=0.5)[0],
    ):
        (found,) = golden(program, x).outcome.goldens
        assert np.isinf(found.budget).tolist() == [[True, False]]
        assert found.value[0, 1] == 2.0**126


def test_a_product_of_computed_numbers_is_exact_to_106_bits() -> None:
    """Of (1 + 2^-40)(1 - 2^-40) - 1 = -2^-80 float64 would leave nothing."""
    x = np.array([[2.0**-40, 1.0]])
    found = golden(lambda x: ops.mm(x + np.array([[1.0, 0.0]]), (x * np.array([[-1.0, -1.0]]) + np.array([[1.0, 0.0]]))
                                    .permute([1, 0])), x)  # fmt: skip
    assert found.value.tolist() == [[-(2.0**-80)]]


# --- Moves ------------------------------------------------------------------------------------------------------------



def test_of_two_numbers_that_go_to_one_place_either_may_stand_there() -> None:
    x = F32([1.0, 2.0, 3.0])
    (found,) = golden(lambda x: ops.scatter(x * 0.0, 0, np.array([0, 0, 1]), x * 2.0), x).outcome.goldens
    assert np.isinf(found.budget).tolist() == [True, False, False]
    assert found.value.tolist()[1:] == [6.0, 0.0]


def test_rows_of_a_cache_are_put_in_their_places() -> None:
    cache, rows, at = np.zeros((3, 2), F32), F32([[0.3, 2.0]]), np.array([1])
    found = golden(lambda c, x: ops.index_put(c, [at], x * 1.5), cache, rows)
    assert found.value.tolist() == [[0, 0], [F32(0.45000002), 3.0], [0, 0]]
    assert (found.outcome.goldens[0].budget > 0).tolist() == [[False] * 2, [True] * 2, [False] * 2]
    twice = golden(lambda c, x: ops.index_put(c, [np.array([1, 1])], x * 1.5), cache, np.concatenate([rows, rows + 1]))
    assert np.isinf(twice.outcome.goldens[0].budget).any(1).tolist() == [False, True, False]
    added = golden(lambda c, x: ops.index_put(c, [np.array([1, 1])], x * 1.5, True), cache + F32(1), rows)
    assert added.value.tolist() == [[1, 1], [F32(1.9000001), 7], [1, 1]]


NUMBERS = np.arange(6).reshape(2, 3)
MOVES: dict[str, tuple[Callable[[Any], Any], list]] = {
    "view": (lambda x: ops.view(x, [3, -1]), [[0, 1], [2, 3], [4, 5]]),
    "reshape": (lambda x: ops.reshape(x, [6]), [0, 1, 2, 3, 4, 5]),
    "expand": (lambda x: ops.expand(ops.select(x, 0, 1), [2, -1]), [[3, 4, 5], [3, 4, 5]]),
    "unsqueeze": (lambda x: ops.unsqueeze(x, -1), [[[0], [1], [2]], [[3], [4], [5]]]),
    "squeeze": (lambda x: ops.squeeze(ops.unsqueeze(x, 0)), [[0, 1, 2], [3, 4, 5]]),
    "squeeze of a dim": (lambda x: ops.squeeze(ops.unsqueeze(x, 1), -2), [[0, 1, 2], [3, 4, 5]]),
    "squeeze of a larger dim": (lambda x: ops.squeeze(x, 0), [[0, 1, 2], [3, 4, 5]]),
    "squeeze of dims": (lambda x: ops.squeeze(ops.view(x, [1, 6, 1]), [0, -1, 1]), [0, 1, 2, 3, 4, 5]),
    "transpose": (lambda x: ops.transpose(x, -1, 0), [[0, 3], [1, 4], [2, 5]]),
    "t": (lambda x: ops.t(x), [[0, 3], [1, 4], [2, 5]]),
    "select": (lambda x: ops.select(x, 1, -1), [2, 5]),
    "flip": (lambda x: ops.flip(x, [-1]), [[2, 1, 0], [5, 4, 3]]),
    "repeat": (lambda x: ops.repeat(ops.select(x, 0, 0), [2, 2]), [[0, 1, 2, 0, 1, 2], [0, 1, 2, 0, 1, 2]]),
    "clone": (lambda x: ops.clone(x), [[0, 1, 2], [3, 4, 5]]),
    "unbind": (lambda x: ops.unbind(x, 1)[1], [1, 4]),
    "split": (lambda x: ops.split(x, 2, 1)[1], [[2], [5]]),
    "split_with_sizes": (lambda x: ops.split_with_sizes(x, [1, 0, 2], -1)[2], [[1, 2], [4, 5]]),
    "pad": (lambda x: ops.constant_pad_nd(x, [1, -2, 0, 1]), [[0, 0], [0, 3], [0, 0]]),
    "slice_scatter": (lambda x: ops.slice_scatter(x, ops.slice(x, 1, 0, 2), 1, 0, 3, 2), [[0, 1, 1], [3, 4, 4]]),
    "select_scatter": (lambda x: ops.select_scatter(x, ops.select(x, 0, 1), 0, 0), [[3, 4, 5], [3, 4, 5]]),
    "copy": (lambda x: ops.copy(x, ops.select(x, 0, 1)), [[3, 4, 5], [3, 4, 5]]),
    "tril": (lambda x: ops.tril(x, 1), [[0, 1, 0], [3, 4, 5]]),
    "triu": (lambda x: ops.triu(x), [[0, 1, 2], [0, 4, 5]]),
    "embedding": (lambda x: ops.embedding(x, np.array([[1, 0], [1, 1]])),
                  [[[3, 4, 5], [0, 1, 2]], [[3, 4, 5], [3, 4, 5]]]),
    "index_select": (lambda x: ops.index_select(x, -1, np.array([2, 0])), [[2, 0], [5, 3]]),
    "index": (lambda x: ops.index(x, [None, np.array([0, -1])]), [[0, 2], [3, 5]]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [F32, np.int64, ml_dtypes.bfloat16], ids=["float32", "int64", "bfloat16"])
@pytest.mark.parametrize("name", MOVES)
def test_a_move_keeps_elements_of_any_dtype_and_their_errors(name: str, dtype: Any) -> None:
    program, expected = MOVES[name]
    found = golden(program, NUMBERS.astype(dtype))
    assert (found.value.astype(float).tolist(), found.value.dtype) == (expected, np.dtype(dtype))
    assert found.outcome.goldens[0].real is None  # exact
    if dtype is F32:
        (moved,) = golden(lambda x: program(x * 0.1), NUMBERS.astype(F32)).outcome.goldens
        (plain,) = golden(lambda x: x * 0.1, NUMBERS.astype(F32)).outcome.goldens
        places = np.array(expected)
        assert np.array_equal(moved.budget[places > 0], plain.budget.reshape(-1)[places[places > 0]])


def test_tensors_of_one_number() -> None:
    x = F32([[1.0, 2.0]])
    assert golden(lambda x: x + ops.full([2], 3.0), x).value.tolist() == [[4.0, 5.0]]
    assert golden(lambda x: ops.full([2], 3), x).value.dtype == np.int64
    assert golden(lambda x: ops.full([1], 0.1, dtype="float16"), x).value.tolist() == [float(np.float16(0.1))]
    assert golden(lambda x: ops.ones_like(x) + ops.zeros_like(x) + ops.ones([2]), x).value.tolist() == [[2.0, 2.0]]
    assert golden(lambda x: ops.full_like(x, True, dtype="bool"), x).value.tolist() == [[True, True]]
    assert golden(lambda x: x * ops.scalar_tensor(0.5) + ops.zeros([2]), x).value.tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: ops.embedding(x * 2.0, ops.argmax(x, 1)), r"found int64\[2\] with \{2\} in it, expected indices <"),
        (lambda x: ops.index(x, [ops.gt(x, 0.0)]), "with a mask: its elements decide the result's shape"),
        (lambda x: ops.topk(x * 2.0, 1, 0, True, False), "with sorted=False: the order is open"),
        (lambda x: ops.linalg_vector_norm(x * 2.0, 3), "with ord=3: expected 2, 1 or inf"),
        (lambda x: ops.logical_not(x * 2.0), "expected bools"),
    ],
)
def test_what_a_rule_does_not_take_is_refused_by_name(program: Callable, message: str) -> None:
    with pytest.raises((Unjudged, InvalidArguments), match=message):
        golden(program, NUMBERS.astype(F32))


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"])
def test_dropout_is_nothing_but_in_training(name: str) -> None:
    def dropped(p: float, train: bool) -> Callable:
        return lambda x: getattr(ops, name)(x * 1.0, p, train)

    assert golden(dropped(0.5, False), X).value.tobytes() == X.tobytes()
    assert golden(dropped(0.0, True), X).value.tobytes() == X.tobytes()
    with pytest.raises(UsageError, match="chance has a part in it"):
        golden(dropped(0.5, True), X)


def test_of_batch_norm_in_training_a_program_has_the_result() -> None:
    def normed(x: Any, *running: Any) -> Any:
        return ops.batch_norm(x, None, None, *running, True, 0.1, 1e-3, False)

    plain = golden(lambda x: normed(x * 1.0, None, None), X)
    for program in (lambda x: normed(x * 1.0, B[:4], W[:4] ** 2), lambda x: normed(x, B[:4], W[:4] ** 2)):
        assert golden(program, X).value.tobytes() == plain.value.tobytes()


def test_the_statistics_that_batch_norm_gives_back_are_those_of_the_op() -> None:
    def normed(x: Any) -> Any:
        return apply("aten::_native_batch_norm_legit_functional", x, None, None, B[:4], W[:4] ** 2, True, 0.3, 1e-3)

    result, *_, mean, variance = golden(lambda x: normed(x * 1.0), X).value
    of_op = golden(normed, X).value
    for found, expected in ((result, of_op[0]), (mean, of_op[3]), (variance, of_op[4])):
        assert found.tobytes() == expected.tobytes()


def test_negative_padding_cuts_off() -> None:
    found = golden(lambda x: ops.pad(x * 1.0, [-1, 1, 0, -2], "constant", 2.0), F32([[1, 2], [3, 4], [5, 6]]))
    assert found.value.tolist() == [[2.0, 2.0]]


def test_a_dim_in_several_and_what_is_repeated() -> None:
    found = golden(lambda x: apply("aten::unflatten.int", x * 1.0, -2, [2, -1]), X)
    assert found.value.tobytes() == X.reshape(3, 2, 2, 8).tobytes()
    wide, long = golden(lambda x, y: ops.broadcast_tensors([x * 1.0, y * 1.0]), W[None], F32([[2.0], [3.0]])).value
    assert (wide.tolist(), long.tolist()) == ([W.tolist()] * 2, [[2.0] * 8, [3.0] * 8])
