"""What ops are composed of in programs: on computed numbers that are exact, an op's own golden, which I8 pins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import conform
from conform import ops
from conform.errors import UsageError
from conform.interp.program import rules
from conform.own_ops import op

pytestmark = pytest.mark.usefixtures("own_ops")

F32 = np.float32
DRAWS = np.random.default_rng(23)
X, Y, Z = DRAWS.standard_normal((3, 3, 4, 6)).astype(F32)
UNIT, SHARE = DRAWS.uniform(0.05, 0.95, (2, 3, 4)).astype(F32)
SIGNS = np.where(X[..., 0] > 0, F32(1), F32(-1))
IMAGE = DRAWS.standard_normal((2, 4, 7, 6)).astype(F32)
KERNEL = DRAWS.standard_normal((4, 3, 3, 2)).astype(F32)
CLASSES = np.array([1, 0, 3])
WEIGHTS = DRAWS.uniform(0.5, 2, 4).astype(F32)
MASK = np.array([True, False, True, True, False, True])
TOKENS, EXPERTS = (DRAWS.standard_normal(shape).astype(F32) for shape in ((5, 16), (3, 16, 8)))
ENDS = np.array([2, 2, 5], np.int32)

CALLS: dict[str, list[tuple[Any, ...]]] = {
    "addcmul": [(X, Y, Z), (X, Y, Z, {"value": -0.75})],
    "addcdiv": [(X, Y, 1 + np.abs(Z)), (X, Y, 1 + np.abs(Z), {"value": 3})],
    "lerp.Scalar": [(X, Y, 0.3), (X, Y, 0.8)],
    "lerp.Tensor": [(X, Y, Z)],
    "positive": [(X,)],
    "real": [(X,)],
    "deg2rad": [(X,)],
    "rad2deg": [(X,)],
    "clamp_min": [(X, 0.25)],
    "clamp_min.Tensor": [(X, Y)],
    "clamp_max": [(X, 0.25)],
    "clamp_max.Tensor": [(X, Y)],
    "masked_fill.Scalar": [(X, MASK, -1.5)],
    "masked_fill.Tensor": [(X, MASK, np.array(-1.5, F32))],
    "nan_to_num": [(X,), (X, 1.0, 2.0, 3.0)],
    "diff": [(X,), (X, 2, 1), (X, 1, -1, Y[..., :1], Y[..., :2])],
    "celu": [(X,), (X, 0.7)],
    "selu": [(X,)],
    "softplus": [(X,), (X, 2), (30 * X, 1.5, 10)],
    "log_sigmoid": [(X,), (30 * X,)],
    "mish": [(X,)],
    "logaddexp": [(X, Y), (40 * X, Y)],
    "hardshrink": [(X,), (X, 0.1)],
    "softshrink": [(X,), (X, 0.1)],
    "hardsigmoid": [(4 * X,)],
    "hardswish": [(4 * X,)],
    "threshold": [(X, 0.5, -3.0)],
    "prelu": [(X, WEIGHTS), (X, WEIGHTS[:1])],
    "glu": [(X,), (X, 1)],
    "exp2": [(X,)],
    "special_exp2": [(X,)],
    "tan": [(X,)],
    "sinc": [(X,)],
    "special_sinc": [(X,)],
    "special_ndtr": [(X,)],
    "xlogy.Tensor": [(X, np.abs(Y))],
    "xlogy.Scalar_Other": [(X, 2.5)],
    "xlogy.Scalar_Self": [],  # the tensor comes second: below
    "special_xlogy": [(X, np.abs(Y))],
    "special_xlogy.other_scalar": [(X, 2.5)],
    "special_xlogy.self_scalar": [],
    "var": [(X,), (X, False)],
    "var.dim": [(X, [1]), (X, [0, 2], False, True)],
    "std": [(X,), (X, False)],
    "std.dim": [(X, [1]), (X, [0, 2], False, True)],
    "std.correction": [(X,), (X, [1], {"correction": 0, "keepdim": True})],
    "var_mean.correction": [(X, [1])],
    "std_mean.correction": [(X, [1], {"keepdim": True})],
    "logsumexp": [(X, [1]), (40 * X, [0, 2], True)],
    "nansum": [(X,), (X, [1], True)],
    "nanmean": [(X,), (X, [1], True)],
    "aminmax": [(X,), (X, {"dim": 1, "keepdim": True})],
    "norm.Scalar": [(X,), (X, 1)],
    "trace": [(X[0],)],
    "_grouped_mm": [
        (TOKENS, EXPERTS, ENDS), (EXPERTS.mT.copy(), TOKENS.T.copy()[:, [0, 1, 2, 3, 4, 0, 1, 2]], 2 * ENDS - 2),
        (EXPERTS.mT.copy()[0], EXPERTS[1], 3 * ENDS), (EXPERTS.mT.copy(), EXPERTS),
    ],
    "matmul": [
        (X, Y.swapaxes(1, 2)), (X[:, None], Y[0].T), (X[0, 0], Y.swapaxes(1, 2)), (X, Y[0, 0]), (X[0, 0], Y[0, 0]),
    ],
    "mv": [(X[0], Y[0, 0])],
    "dot": [(X[0, 0], Y[0, 0])],
    "vdot": [(X[0, 0], Y[0, 0])],
    "inner": [(X, Y[0]), (X, np.array(0.3, F32)), (X[0, 0], Y[0, 0])],
    "outer": [(X[0, 0], Y[0, 1])],
    "kron": [(X[0], Y[0, :2]), (X[0, 0], Y[:2])],
    "addmv": [(X[0, :, 0], Y[0], Z[0, 0]), (X[0, :1, 0], Y[0], Z[0, 0], {"beta": 0.5, "alpha": -2})],
    "addr": [(X[0], Y[0, :, 0], Z[0, 0]), (X[0], Y[0, :, 0], Z[0, 0], {"beta": 0.5, "alpha": -2})],
    "addbmm": [(X[0, :, :4], Y, Z.swapaxes(1, 2)), (X[0, :, :4], Y, Z.swapaxes(1, 2), {"beta": 0.5, "alpha": -2})],
    "linalg_cross": [(X[..., :3], Y[..., :3]), (X, Y[:, :1], {"dim": 0})],
    "cross": [(X, Y), (X[..., :3], Y[..., :3], 2)],
    "l1_loss": [(X, Y), (X, Y, 0), (X, Y, 2)],
    "mse_loss": [(X, Y), (X, Y, 0)],
    "smooth_l1_loss": [(X, Y), (X, Y, 0, 0.5), (X, Y, 2, 0.0)],
    "huber_loss": [(X, Y), (X, Y, 0, 0.5)],
    "binary_cross_entropy": [(UNIT, SHARE), (UNIT, SHARE, WEIGHTS, 0)],
    "binary_cross_entropy_with_logits": [(X[..., :4], SHARE[:, None]), (X[..., 0], SHARE, WEIGHTS, WEIGHTS[::-1], 0)],
    "kl_div": [(X[..., 0], SHARE), (X, Y, 0, {"log_target": True})],
    "soft_margin_loss": [(X[..., 0], SIGNS), (X[..., 0], SIGNS, 0)],
    "hinge_embedding_loss": [(X[..., 1], SIGNS), (X[..., 1], SIGNS, 0.3, 0)],
    "margin_ranking_loss": [(X[..., 1], Y[..., 1], SIGNS), (X[..., 1], Y[..., 1], SIGNS, 0.3, 0)],
    "cosine_similarity": [(X, Y), (X, Y, -1, 2.0)],
    "pairwise_distance": [(X, Y), (X, Y, 1.0, 1e-3, True), (X, Y, float("inf"))],
    "triplet_margin_loss": [(X, Y, Z), (X, Y, Z, 0.5, 1.0, 1e-6, True, 0)],
    "nll_loss": [(X[..., 0], CLASSES), (X[..., 0], CLASSES, WEIGHTS, 2, 3), (X[0, :, 0], CLASSES[0], WEIGHTS, 0)],
    "nll_loss2d": [(IMAGE, np.arange(84).reshape(2, 7, 6) % 4, WEIGHTS, 1, 2)],
    "nll_loss_nd": [(X, np.arange(18).reshape(3, 6) % 4, None, 0)],
    "cross_entropy_loss": [
        (X[..., 0], CLASSES), (X, np.arange(18).reshape(3, 6) % 4, WEIGHTS, 0, 1), (X[0, :, 0], CLASSES[0]),
    ],
    "take": [(X, np.array([[0, 71], [-1, 5]]))],
    "take_along_dim": [(X, np.array([[[2], [0], [5], [1]]]), 2), (X, np.array([[0, 71], [5, 5]]))],
    "avg_pool1d": [(X, [2]), (X, [3], [2], [1], True, False)],
    "max_pool1d": [(X, [2]), (X, [2], [1], [1], [3], True)],
    "adaptive_avg_pool1d": [(X, [4])],
    "conv1d.padding": [(IMAGE[..., 0], KERNEL[:, :2, :, 0], WEIGHTS, [1], "same", [2], 2)],
    "conv2d.padding": [(IMAGE, KERNEL.swapaxes(0, 1)), (IMAGE, KERNEL.swapaxes(0, 1), None, [1, 1], "same", [1, 2])],
    "conv3d.padding": [(IMAGE[:, :, None], KERNEL.swapaxes(0, 1)[:, :, None], None, [1, 1, 1], "same")],
    "conv_transpose1d": [(IMAGE[..., 0], KERNEL[..., 0], None, [2], [1], [1], 1, [1])],
    "conv_transpose2d.input": [(IMAGE, KERNEL, F32([1, 2, 3])), (IMAGE[0], KERNEL)],
    "conv_transpose3d.input": [(IMAGE[:, :, None], KERNEL[:, :, None])],
}  # fmt: skip
EACH = [(name, at) for name, calls in CALLS.items() for at in range(len(calls))]


def test_every_composition_is_called() -> None:
    assert sorted(rules.composed() - {"aten::einsum"} - {f"aten::{name}" for name in CALLS}) == []


@pytest.mark.rotating(130)
@pytest.mark.parametrize("dtype", [F32, np.float64, np.float16], ids=["float32", "float64", "float16"])
@pytest.mark.parametrize(("name", "at"), EACH)
def test_a_composition_has_the_number_of_the_ops_own_semantics(name: str, at: int, dtype: Any) -> None:
    """Its bound may be wider, but is none that says nothing, and no narrower than half of the op's own."""
    given = CALLS[name][at]
    args, kwargs = (given[:-1], given[-1]) if isinstance(given[-1], dict) else (given, {})
    args = [one.astype(dtype) if isinstance(one, np.ndarray) and one.dtype == F32 else one for one in args]
    overload = getattr(ops, name)
    own = conform.golden(f"aten::{name}", *args, **kwargs)
    found = conform.golden(op("test::program", reference=lambda x: overload(x * 1.0, *args[1:], **kwargs)), args[0])
    for mine, its in zip(found.outcome.goldens, own.outcome.goldens, strict=True):
        assert mine.value.dtype == its.value.dtype
        assert mine.value.shape == its.value.shape
        budget = np.zeros(mine.value.shape) if mine.budget is None else mine.budget
        known = np.isfinite(budget)
        assert known.mean() > 0.98
        np.testing.assert_array_equal(mine.value[known], its.value[known])
        size = np.abs(its.value.astype(float)).max(initial=0)
        assert (budget[known] <= 1e-2 * size).all()
        if its.budget is not None and its.real is not None:
            assert (budget >= 0.5 * np.where(np.isfinite(its.budget), its.budget, 0.0)).all()


def test_a_scalar_on_the_left() -> None:
    for name in ("xlogy.Scalar_Self", "special_xlogy.self_scalar"):
        own = conform.golden(f"aten::{name}", 2.5, np.abs(Y))
        program = op("test::program", reference=lambda y, name=name: getattr(ops, name)(2.5, y * 1.0))
        assert conform.golden(program, np.abs(Y)).value.tobytes() == own.value.tobytes()


OF_NO_SPECIAL = {"binary_cross_entropy": "probabilities", "hinge_embedding_loss": "targets of 1 and -1"}
SPECIAL = F32([np.inf, -np.inf, np.nan, 0.0, -0.0, 3e38, -3e38, 1e-45])


def _with_special(array: np.ndarray, share: float, draws: np.random.Generator) -> np.ndarray:
    return np.where(draws.random(array.shape) < share, draws.choice(SPECIAL, array.shape), array)


@pytest.mark.rotating(130)
@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize(("name", "at"), [one for one in EACH if one[0] not in OF_NO_SPECIAL])
def test_beside_special_values_it_says_nothing_else(name: str, at: int, share: float) -> None:
    """What a composition says at all is what the op's own semantics says, where that leaves nothing open."""
    given, draws = CALLS[name][at], np.random.default_rng(41)
    args, kwargs = (given[:-1], given[-1]) if isinstance(given[-1], dict) else (given, {})
    args = [
        _with_special(one, share, draws) if isinstance(one, np.ndarray) and one.dtype == F32 else one for one in args
    ]
    overload = getattr(ops, name)
    own = conform.golden(f"aten::{name}", *args, **kwargs)
    found = conform.golden(op("test::program", reference=lambda x: overload(x * 1.0, *args[1:], **kwargs)), args[0])
    for mine, its in zip(found.outcome.goldens, own.outcome.goldens, strict=True):
        told = np.ones(mine.value.shape, bool) if mine.budget is None else np.isfinite(mine.budget)
        for open_ in (mine.open, its.open):
            told = told if open_ is None else told & ~open_
        np.testing.assert_array_equal(mine.value[told], its.value[told])


LABELLED = [
    ("ij,kj->ik", (X[0], Y[0])), ("bij,bkj->bik", (X, Y)), ("...ij,kj->...k", (X, Y[0])), ("ii->i", (X[0, :, :4],)),
    ("ij->", (X[0],)), ("ii", (X[0, :, :4],)), ("ij,j", (X[0], Y[0, 0])), ("i,j", (X[0, 0], Y[0, :, 0])),
    ("ij->ji", (X[0],)),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "tensors"), LABELLED, ids=[equation for equation, _ in LABELLED])
def test_sums_over_labels(equation: str, tensors: tuple[np.ndarray, ...]) -> None:
    own = conform.golden("aten::einsum", equation, list(tensors))
    program = op("test::program", reference=lambda x: ops.einsum(equation, [x * 1.0, *tensors[1:]]))
    found = conform.golden(program, tensors[0])
    np.testing.assert_array_equal(found.value, own.value)
    assert found.value.shape == own.value.shape
    assert (found.bound_ulp >= 0.5 * own.bound_ulp).all()


def test_products_of_computed_numbers_by_the_operator() -> None:
    """x @ x^T of small integers, exactly, by vectors, matrices and stacks of them."""
    x = np.arange(12).reshape(2, 2, 3).astype(F32)
    program = op("test::program", reference=lambda x: (x * 1.0) @ (x * 1.0).mT)
    assert conform.golden(program, x).value.tolist() == [[[5, 14], [14, 50]], [[149, 212], [212, 302]]]
    program = op("test::program", reference=lambda x: (x * 1.0)[0, 0] @ (x * 1.0)[1, 1])
    assert conform.golden(program, x).value.tolist() == 0 * 9 + 1 * 10 + 2 * 11


def test_rows_behind_the_last_group_are_anything_and_what_is_made_of_them() -> None:
    program = op("test::program", reference=lambda x: ops._grouped_mm(x * 1.0, EXPERTS[:2], ENDS[:2] - 1).sum([1]))
    found = conform.golden(program, TOKENS)
    assert np.isfinite(found.outcome.goldens[0].budget).tolist() == [True, False, False, False, False]


def test_an_op_that_a_backend_may_refuse_is_a_step_where_its_meaning_leaves_nothing_open() -> None:
    program = op("test::program", reference=lambda x: ops._grouped_mm(x, EXPERTS, ENDS))
    own = conform.golden("aten::_grouped_mm", TOKENS, EXPERTS, ENDS)
    assert conform.golden(program, TOKENS).value.tolist() == own.value.tolist()
    indefinite = op("test::program", reference=lambda x: ops.linalg_cholesky(x))
    with pytest.raises(UsageError, match=r"linalg_cholesky here: an implementation may refuse \(P202\)"):
        conform.golden(indefinite, F32([[1, 2], [2, 1]]))


def test_what_is_not_composed_is_refused() -> None:
    with pytest.raises(UsageError, match="aten::lgamma on numbers that it has computed: no rule tells"):
        conform.golden(op("test::program", reference=lambda x: ops.lgamma(x * 1.0)), X)
    rows = X[..., 0]
    with pytest.raises(UsageError, match=r"cannot use aten::cross_entropy_loss with label_smoothing=0\.25"):
        conform.golden(_cross_entropy(CLASSES, label_smoothing=0.25), rows)
    with pytest.raises(UsageError, match="cannot use aten::cross_entropy_loss with probabilities of classes"):
        conform.golden(_cross_entropy(UNIT), rows)


def _cross_entropy(target: np.ndarray, **keywords: Any) -> Any:
    return op("test::program", reference=lambda x: ops.cross_entropy_loss(x * 1.0, target, **keywords))
