"""I8 notices a wrong interpreter: every argument that is not looked at, and named defects of each family, planted in
the semantics, part from the references on the calls that are derived from the specs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from conform.call import schemas
from conform.domains.specs import spec_of
from conform.interp import semantics
from conform.interp.evaluate import WITHOUT_MEANING
from conform.interp.golden import Golden, Outcome
from conform.selftest.agreement.agreement import witnesses
from conform.selftest.agreement.compare import compare

ROUNDS = 4  # of which one must find it
ROUNDS_FOR_RARE = 16
Meaning = Callable[..., Golden | tuple[Golden, ...] | Outcome]
Mutation = Callable[[Meaning, dict[str, Any]], Any]  # from the meaning and the arguments to the outcome


def differences(
    op: str, dtype: str, mutation: Mutation, monkeypatch: pytest.MonkeyPatch, count: int = ROUNDS
) -> Iterator[str]:
    """What tells the mutated semantics from the reference on the calls of the first rounds."""
    definition = semantics.find(op)
    assert definition is not None
    mutated = replace(definition, function=lambda **arguments: mutation(definition.function, arguments))
    monkeypatch.setitem(semantics._table, op, mutated)
    rounds = (witness for round_ in range(count) for witness in witnesses(op, dtype, round_))
    parted = (compare(op, call, is_valid).first for call, is_valid in rounds)
    return (first.what for first in parted if first is not None)


# --- Arguments that nothing reads -------------------------------------------------------------------------------------


def arguments_that_can_be_ignored() -> Iterator[tuple[str, str]]:
    """Those with another value than the one that they always have then, on which the meaning depends: numbers, lists,
    optional tensors."""
    for op in semantics.names():
        without = {*WITHOUT_MEANING, *semantics.traits_of(op).ignores}
        for declared in schemas.schema(op).arguments:
            is_needed = declared.type.startswith("Tensor") and not declared.type.endswith("?")
            if declared.name not in without and not is_needed:
                yield op, declared.name


# What has one value alone, or none that changes a result.
REDUNDANT = {
    # the shape of the input, of grad_output or of the mask tells it as well
    *(("aten::native_group_norm", name) for name in ("N", "C", "HxW")),
    *(("aten::convolution_backward", name) for name in ("bias_sizes", "output_padding")),
    ("aten::avg_pool2d_backward", "ceil_mode"), ("aten::native_layer_norm_backward", "bias"),
    # it is True, or False, or the dtype of grad_output, or 0
    ("aten::_native_batch_norm_legit.no_stats", "training"), ("aten::_native_batch_norm_legit", "training"),
    *((f"aten::{op}_backward_data", "input_dtype") for op in ("_softmax", "_log_softmax")),
    *((op, "dropout_p") for op in semantics.names() if "scaled_dot_product" in op),
    # with it all is open (P145); it says whether chance has a part, of which I8 compares what both sides leave to it
    *((f"aten::_upsample_{name}", "align_corners") for name in
      ("bilinear2d_aa", "bilinear2d_aa.vec", "bilinear2d_aa_backward", "bicubic2d_aa", "bicubic2d_aa.vec",
       "bicubic2d_aa_backward")),
    ("aten::dropout", "train"),
    # by it elements are spread that I8 leaves open on both sides
    ("aten::exponential", "lambd"), ("aten::geometric", "p"),
    *((f"aten::{op}", name) for op, names in (("cauchy", ("median", "sigma")), ("log_normal", ("mean", "std")))
      for name in names),
    # the quotient of the sizes, or close to it, as it is where no scale is given
    ("aten::upsample_nearest1d", "scales"), ("aten::upsample_nearest3d", "scales_w"),
    # a bound depends on it; memory, which the references have none of; equal elements that nobody can tell apart
    *((f"aten::{op}", "compute_mode") for op in ("cdist", "_cdist_forward")),
    ("aten::empty_strided", "stride"), ("aten::sort.stable", "stable"),
}  # fmt: skip


# What half types show rarely: a scale that is given and is far enough from the quotient of the sizes, a mask of chance.
RARE = {
    ("aten::_scaled_dot_product_attention_math", "dropout_mask"), ("aten::upsample_bicubic2d", "scales_h"),
    ("aten::_upsample_bilinear2d_aa", "scales_w"), ("aten::_upsample_nearest_exact3d", "scales_w"),
}  # fmt: skip


def ignored(name: str, default: list[Any]) -> Mutation:
    """The meaning with the schema's default, or the value of the first call, whatever the argument is."""

    def mutation(meaning: Meaning, arguments: dict[str, Any]) -> Any:
        if not default:
            default.append(arguments[name])
        return meaning(**{**arguments, name: default[0]})

    return mutation


@pytest.mark.rotating
@pytest.mark.parametrize(("op", "name"), [each for each in arguments_that_can_be_ignored() if each not in REDUNDANT])
def test_an_argument_that_is_ignored_is_noticed(op: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dtypes = spec_of(op).dtypes  # half types have arguments of their own
    (declared,) = [argument for argument in schemas.schema(op).arguments if argument.name == name]
    mutation = ignored(name, [declared.default] if declared.has_default else [])
    dtype, count = "float16" if "float16" in dtypes else dtypes[0], ROUNDS_FOR_RARE if (op, name) in RARE else ROUNDS
    assert any(differences(op, dtype, mutation, monkeypatch, count))


# --- Defects of values ------------------------------------------------------------------------------------------------


def of_value(change: Callable[..., np.ndarray]) -> Mutation:
    """`change` of the first output's value, as float64 where it is a float, and of the arguments; complex ones stay."""

    def mutation(meaning: Meaning, arguments: dict[str, Any]) -> Any:
        outcome = meaning(**arguments)
        goldens = outcome.goldens if isinstance(outcome, Outcome) else outcome
        golden, *others = goldens if isinstance(goldens, tuple) else (goldens,)
        if golden.format.is_complex:
            return outcome
        value = golden.value.astype(np.float64) if golden.format.is_float else golden.value
        changed = np.asarray(change(value, arguments)).astype(golden.value.dtype)
        return (replace(golden, value=changed), *others)

    return mutation


def with_arguments(**changes: Callable[[dict[str, Any]], Any]) -> Mutation:
    """The meaning of arguments that are changed."""
    return lambda meaning, found: meaning(**{**found, **{name: change(found) for name, change in changes.items()}})


def without_nan(value: np.ndarray, _: object) -> np.ndarray:
    return np.where(np.isnan(value), 0.0, value)


def without_negative_zero(value: np.ndarray, _: object) -> np.ndarray:
    return value + 0.0


def without_subnormals(smallest: float, value: np.ndarray, _: object) -> np.ndarray:
    return np.where(np.abs(value) < smallest, np.copysign(0.0, value), value)


def one_code_up(value: np.ndarray, beyond: float) -> np.ndarray:
    """Numbers of a magnitude beyond `beyond` a little larger."""
    return np.where(np.isfinite(value) & (np.abs(value) > beyond), value * 1.0001, value)


def next_dim(name: str, operand: str = "self") -> Mutation:
    """dim + 1, within the tensor."""

    def changed(found: dict[str, Any]) -> Any:
        rank = max(np.ndim(found[operand][0] if isinstance(found[operand], list) else found[operand]), 1)
        dims = found[name]
        if isinstance(dims, list):
            return [(dim + 1) % rank for dim in dims]
        return None if dims is None else (dims + 1) % rank

    return with_arguments(**{name: changed})


def half_away(value: np.ndarray, arguments: dict[str, Any]) -> np.ndarray:
    x = arguments["self"].astype(np.float64)
    is_tie = np.isfinite(x) & (np.abs(x - np.trunc(x)) == 0.5)
    return np.where(is_tie, x + np.copysign(0.5, x), value)


def saturated(value: np.ndarray, arguments: dict[str, Any]) -> np.ndarray:
    """int8 instead of wrapping."""
    lhs, rhs = (np.asarray(arguments[name], np.int64) for name in ("self", "other"))
    return np.clip(lhs * rhs, -128, 127) if value.dtype == np.int8 and lhs.dtype == rhs.dtype else value


def through_float32(meaning: Meaning, arguments: dict[str, Any]) -> Any:
    """A cast of float64 in two steps, each of which rounds."""
    with np.errstate(over="ignore"):
        return meaning(**{**arguments, "self": arguments["self"].astype(np.float32)})


def summed_in_order(value: np.ndarray, arguments: dict[str, Any]) -> np.ndarray:
    """A sum of halves whose every step is rounded to a half."""
    total = np.zeros((), arguments["self"].dtype)
    for x in arguments["self"].ravel():
        total = total + x
    return total if arguments.get("dtype") is None else value


def product_in_float64(value: np.ndarray, arguments: dict[str, Any]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return arguments["self"] @ arguments["mat2"]


def naive_log_sum_exp(value: np.ndarray, arguments: dict[str, Any]) -> np.ndarray:
    """Infinite where the largest e^x overflows, though its logarithm does not."""
    return np.where(value > 88.0, np.inf, value)


def last_of_ties(meaning: Meaning, arguments: dict[str, Any]) -> Any:
    if arguments["dim"] is None or not arguments["self"].ndim:
        return meaning(**arguments)
    golden = meaning(**{**arguments, "self": np.flip(arguments["self"], arguments["dim"])})
    return replace(golden, value=arguments["self"].shape[arguments["dim"]] - 1 - golden.value)


def fmod(value: np.ndarray, arguments: dict[str, Any]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.fmod(*(np.asarray(arguments[name], np.float64) for name in ("self", "other")))


def positional(name: str, changed: Any) -> Mutation:
    return with_arguments(**{name: lambda _: changed})


TINY32 = 2.0**-126

DEFECTS: dict[str, tuple[str, str, Mutation]] = {
    # elementwise
    "add: the sign of zero": ("aten::add.Tensor", "float32", of_value(without_negative_zero)),
    "add: subnormals flushed": ("aten::add.Tensor", "float32", of_value(partial(without_subnormals, TINY32))),
    "mul: integers saturate": ("aten::mul.Tensor", "int8", of_value(saturated)),
    "mul: subnormals flushed": ("aten::mul.Tensor", "float64", of_value(partial(without_subnormals, 2.0**-1022))),
    "maximum: NaN dropped": ("aten::maximum", "float32", of_value(without_nan)),
    "neg: 0 - x": ("aten::neg", "float32", of_value(without_negative_zero)),
    "remainder: of the dividend's sign": ("aten::remainder.Tensor", "float32", of_value(fmod)),
    "round: ties away from zero": ("aten::round", "float32", of_value(half_away)),
    "round.decimals: a digit less": ("aten::round.decimals", "float32",
                                     with_arguments(decimals=lambda a: a["decimals"] - 1)),
    "casts: rounded twice": ("aten::_to_copy", "float64", through_float32),
    "where: the second for the first": ("aten::where.self", "float32", with_arguments(self=lambda a: a["other"])),
    "div: floor for trunc": ("aten::div.Tensor_mode", "int32",
                             with_arguments(rounding_mode=lambda a: a["rounding_mode"] and "floor")),
    # functions
    "exp: subnormals flushed": ("aten::exp", "float32", of_value(partial(without_subnormals, TINY32))),
    "log: NaN dropped": ("aten::log", "float32", of_value(without_nan)),
    "tan: large arguments": ("aten::tan", "float32",
                             of_value(lambda value, a: np.where(np.abs(a["self"]) > 1e5, 0.0, value))),
    "tanh: the sign of zero": ("aten::tanh", "bfloat16", of_value(without_negative_zero)),
    "pow: of zero to zero": ("aten::pow.Tensor_Tensor", "float32",
                             of_value(lambda value, a: np.where(a["exponent"] == 0, np.nan, value))),
    "atan2: NaN dropped": ("aten::atan2", "float64", of_value(without_nan)),
    "lgamma: beyond 1e10": ("aten::lgamma", "float64", of_value(lambda value, _: one_code_up(value, 1e10))),
    # shape, indexing, sorting, creation
    "cat: the next dim": ("aten::cat", "int16", next_dim("dim", "tensors")),
    "permute: backwards": ("aten::permute", "int16", with_arguments(dims=lambda a: np.argsort(
        [dim % max(len(a["dims"]), 1) for dim in a["dims"]]).tolist())),
    "slice: negative ends": ("aten::slice.Tensor", "int16",
                             with_arguments(end=lambda a: a["end"] if a["end"] is None else abs(a["end"]))),
    "gather: the next dim": ("aten::gather", "float16", next_dim("dim")),
    "index_put: negative indices": ("aten::index_put", "int32", with_arguments(
        indices=lambda a: [i if i is None or i.dtype == bool else np.abs(i) for i in a["indices"]])),
    "sort: NaN as a number": ("aten::sort", "float32", of_value(without_nan)),
    "arange: the last step": ("aten::arange.start_step", "float64",
                              with_arguments(end=lambda a: a["end"] + a["step"] / 2)),
    # reductions
    "sum: in order, in halves": ("aten::sum", "float16", of_value(summed_in_order)),
    "sum.dim: the next dim": ("aten::sum.dim_IntList", "float32", next_dim("dim")),
    "amax: NaN dropped": ("aten::amax", "float32", of_value(without_nan)),
    "argmax: the last of ties": ("aten::argmax", "float32", last_of_ties),
    "cumsum: the next dim": ("aten::cumsum", "int32", next_dim("dim")),
    "prod: NaN dropped": ("aten::prod", "float32", of_value(without_nan)),
    "logsumexp: overflow": ("aten::logsumexp", "float32", of_value(naive_log_sum_exp)),
    "norm: NaN dropped": ("aten::linalg_vector_norm", "float32", of_value(without_nan)),
    # contractions and windows
    "mm: rounded at each step": ("aten::mm", "float64", of_value(product_in_float64)),
    "mm: NaN dropped": ("aten::mm", "float32", of_value(without_nan)),
    "addmm: NaN of self beside beta 0": ("aten::addmm", "float32", of_value(
        lambda value, a: value + 0.0 * a["self"] if a["beta"] == 0 else value)),
    "convolution: stride of one": ("aten::convolution", "float32", positional("stride", [1])),
    "avg_pool2d: NaN dropped": ("aten::avg_pool2d", "float32", of_value(without_nan)),
    # normalizations, losses, attention
    "softmax: NaN dropped": ("aten::_softmax", "float32", of_value(without_nan)),
    "softmax: small ones flushed": ("aten::_softmax", "float32", of_value(partial(without_subnormals, TINY32))),
    "layer norm: an eps of its own": ("aten::native_layer_norm", "float32", positional("eps", 1e-5)),
    "batch norm: no bias": ("aten::_native_batch_norm_legit_no_training", "float32", positional("bias", None)),
    "smooth_l1_loss: border": ("aten::smooth_l1_loss", "float32", with_arguments(beta=lambda a: a["beta"] * 1.001)),
    "binary_cross_entropy: no clamping": ("aten::binary_cross_entropy", "float32", of_value(
        lambda value, _: np.where(value >= 100.0, np.inf, value))),
    "cross_entropy_loss: NaN dropped": ("aten::cross_entropy_loss", "float32", of_value(without_nan)),
    "attention: no mask": ("aten::scaled_dot_product_attention", "float32", positional("attn_mask", None)),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any("where there should be a result" not in one for one in differences(*DEFECTS[name], monkeypatch))
