"""Specs against torch on the CPU and against the interpreter: what is valid is taken, what is not is refused.

torch is asked what it accepts, and of which dtype and shape a result is, never for its values.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from conform.backends.interpreter import to_torch
from conform.backends.torch_device import overload
from conform.call.aliases import canonical
from conform.call.arguments import Arguments
from conform.call.variants import plain_name, variant_of
from conform.domains.engine.argument_generator import arguments
from conform.domains.engine.dtypes import ALL
from conform.domains.engine.meta_tuple import MetaTuple, invalid_tuples, results, valid_tuples, violations
from conform.domains.normalization.forward import HALVES
from conform.domains.specs import OpSpec, specs, variant_specs
from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics.draws import Stream

FEW, MANY = 16, 400  # valid tuples of each spec, and half as many again that are invalid
# Specs of which torch is asked nothing.
NOT_FOR_TORCH = {
    "aten::cbrt": "the kit's own",
    **{f"aten::_chunk_cat{out}": "of 0-d tensors the process dies" for out in ("", ".out")},
    **{f"aten::{op}": "of some bags the process dies"
       for op in ("embedding_bag", "embedding_bag.padding_idx", "_embedding_bag", "_embedding_bag_forward_only")},
    **{f"aten::{op}": "its CPU has no kernels of half types"
       for op in ("multi_margin_loss", "multilabel_margin_loss", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
                  "_upsample_bilinear2d_aa.vec", "_upsample_bicubic2d_aa.vec", "multi_margin_loss.out",
                  "multilabel_margin_loss.out", "_upsample_bilinear2d_aa.out", "_upsample_bicubic2d_aa.out",
                  *(f"{op}_backward{variant}" for variant in ("", ".grad_input")
                    for op in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "avg_pool3d")))},
    **{f"aten::_scaled_dot_product_{op}": "its CPU has no kernel of it"
       for op in ("flash_attention", "efficient_attention", "cudnn_attention", "fused_attention_overrideable")},
    "aten::diff.out": "of fewer elements than differences it raises, where aten::diff returns none",
    "aten::binary_cross_entropy.out": "it multiplies weights of self's shape into an out of the reduced one",
}
# Non-lenient invalid tuples, which torch takes nevertheless, or its out variant: by op, what the constraint says, and
# why.
SLID = "size(grad_output, d); of the dims that are slid over those of which there are so many windows"
TORCH_TAKES: dict[tuple[str, str], str] = {
    ("aten::_native_batch_norm_legit.no_stats", "training = True"): "the process dies: it reads statistics not given",
    ("aten::chain_matmul", "dtype(out) = dtype(matrices[0])"): "it copies a matrix that is alone",
    **{(f"aten::{op}.input", "dtype(params[i]) = dtype(input)"):
       "with batch_first a bias is added in place"
       for op in ("rnn_tanh", "rnn_relu", "gru", "lstm")},
    ("aten::prod.dim_int", "dtype(out) = dtype or (int64 if is_integral(dtype(self)) else dtype(self))"):
        "of no elements it fills out with 1",
    ("aten::sum.dim_IntList", "dtype(out) = dtype or (int64 if is_integral(dtype(self)) else dtype(self))"):
        "where no dtype is asked for it sums in that of out",
    **{(f"aten::{op}", "dtype(out) = dtype or (int64 if is_integral(dtype(self)) else dtype(self))"):
       "where no dtype is asked for it takes that of out" for op in ("nansum", "cumsum", "cumprod")},
    **{(f"aten::{op}", ("rank(indices[i]) in {1, ...} of a mask, with a dim of self for each of its own and of the "
                        "indices after it")):
       "a mask is counted as one index, so None stands behind one of all dims" for op in ("index.Tensor", "index_put")},
    ("aten::_foreach_copy", "length(src) = length(self)"): "it copies as many as both lists have, or dies",
    ("aten::index_add", "dtype(alpha) in the kinds for the common dtype of self"): "it takes a bool beside floats",
    **{("aten::diff", constraint): "of 0 differences it gives back self, whatever the dim"
       for constraint in ("-max(rank(self), 1) <= dim", "dim < max(rank(self), 1)")},
    ("aten::empty_strided", "0 <= stride[i]"): "a stride of a dim of one element moves nothing",
    ("aten::adaptive_avg_pool2d", "rank(self) in {3, 4}"): "of one window it takes the mean of the last two dims",
    ("aten::avg_pool2d_backward", f"size(self, d) in {SLID}"):
        "the process may die: batches and channels are not compared, and it reads beyond grad_output",
    **{(f"aten::{op}", constraint): "the process may die: batches are not compared, and padding with half the kernel"
       for op in ("avg_pool3d_backward", "max_pool3d_with_indices_backward") for constraint in (
           f"size(self, d) in {SLID}", "size(indices, d) = size(grad_output, d)", "0 <= padding[i]")},
    **{(f"aten::reflection_pad{dims}d_backward", f"length(padding) = {2 * dims}"):
       "the process may die: it reads as many numbers as it needs" for dims in (1, 2)},
    **{(f"aten::reflection_pad{dims}d_backward",
        "padding[i] in what grad_output has more than self, one side and then the other"):
       "the process may die: padding is held against no size, and memory beside the result is written"
       for dims in (2, 3)},
    ("aten::take_along_dim", "indices < size(self, dim), numel(self) where dim is None"):
        "some indices are held against no size: it reads beyond",
    **{(f"aten::soft_margin_loss{out}", "dtype(self) in {float16, bfloat16, float32, float64}"):
       "it takes complex numbers, of which nothing is documented" for out in ("", ".out")},
    ("aten::pow.Scalar", "dtype(out) = common dtype of self, exponent"): "with the powers of 1 it fills out, too",
    **{(f"aten::{op}", "1 <= size(self, d)"): "of no elements it fills out with the least or the greatest number"
       for op in ("max", "min")},
    **{(f"aten::{op}", f"dtype(out) = {dtype}"): "it copies what it transforms to out, of whatever dtype"
       for op, dtype in (("_fft_c2c", "dtype(self)"), ("_fft_r2c", "COMPLEX_OF[dtype(self)]"),
                         ("_fft_c2r", "component(dtype(self))"))},
    ("aten::native_group_norm_backward", "group in divisors of C"):
        "nothing asks whether they divide it; of group 0 the process dies",
    ("aten::native_group_norm_backward", "rank(weight) = rank of [size(input, 1)]"):
        "of one channel, whose weight may be 0-d: elements are counted",
    ("aten::index_copy", "0 <= index"): "of no elements it reads no index",
    ("aten::index_copy", "index < size(self, dim)"): "of no elements it reads no index",
    **{("aten::addbmm", constraint): "in place it is resized"
       for constraint in ("rank(self) = rank of shape", "size(self, d) = shape[d]")},
    **{("aten::_log_softmax_backward_data", f"{attribute} = {attribute.replace('output', 'grad_output')}"):
       "the process may die: it reads beyond the end of output" for attribute in ("rank(output)", "size(output, d)")},
    **{("aten::native_batch_norm_backward", f"({statistic} is None) not in {{True}} where train is {train}"):
       "the process dies: it reads statistics not given"
       for statistic, train in (("running_mean", False), ("running_var", False), ("save_mean", True),
                                ("save_invstd", True))},
}  # fmt: skip
# Specs of whose valid tuples with such a first argument torch is asked nothing, for its results differ.
EMPTY, OF_ONE = (lambda operand: operand.size == 0), (lambda operand: operand.size == 1)
TORCH_DIFFERS: dict[str, tuple[Callable[[np.ndarray], bool], str]] = {
    **{f"aten::native_dropout{out}": (EMPTY, "its mask has the dtype of input") for out in ("", ".out")},
    **{f"aten::pixel_unshuffle{out}": (EMPTY, "it gives out the shape of self") for out in ("", ".out")},
    **{f"aten::addmv{out}": (OF_ONE, "of matrices of one row or without elements it is not expanded")
       for out in ("", ".out")},
}
# Constraints that no tuple breaks, with the reason.
NONE_IN_RANGE, HAS_ELEMENT = "no element of it is then in range", "a 0-d index has an element, which is out of range"
IMPLIED, NO_SUCH_DIM = "another constraint implies it", "sizes of dims that are not there bound other arguments"
NO_OTHER_DIM = "no other dim is left for dim2"
UNREACHABLE: dict[tuple[str, str], str] = {
    **{(f"aten::{op}", "size(index, d) in {0} for some d where size(self, dim) = 0"): NONE_IN_RANGE
       for op in ("gather", "scatter.src", "scatter.value", "scatter_add", "scatter.reduce", "scatter.value_reduce",
                  "scatter_reduce.two")},
    **{(f"aten::{op}", f"size(index, d) in {zeros}"): NONE_IN_RANGE
       for op, zeros in (("index_select", "{0} where size(self, dim) = 0"),
                         ("index_add", "{0} where size(self, dim) = 0"),
                         ("index_copy", "{0} where size(self, dim) = 0"),
                         ("index_reduce", "{0} where size(self, dim) = 0"),
                         ("put", "{0} for some d where self has no elements"),
                         ("index_fill.int_Scalar", "{0} where size(self, dim) = 0"),
                         ("take", "{0} for some d where self has no elements"))},
    **{(f"aten::{op}", f"1 <= rank(index) where {empty}"): HAS_ELEMENT
       for op, empty in (("index_select", "size(self, dim) = 0"), ("index_add", "size(self, dim) = 0"),
                         ("index_copy", "size(self, dim) = 0"), ("index_reduce", "size(self, dim) = 0"),
                         ("put", "self has no elements"), ("index_fill.int_Scalar", "size(self, dim) = 0"),
                         ("take", "self has no elements"))},
    ("aten::embedding", "1 <= rank(indices) where size(weight, 0) = 0"): HAS_ELEMENT,
    ("aten::take_along_dim", "1 <= rank(indices) where self has no elements"): HAS_ELEMENT,
    **{(f"aten::{op}", "size(indices, d) in {0} for some d where size(weight, 0) = 0"): NONE_IN_RANGE
       for op in ("embedding",)},
    ("aten::index.Tensor", "rank(indices[i]) in {1, ...} of an index into an empty dim"): HAS_ELEMENT,
    ("aten::index.Tensor",
     "size(indices[i], d) in those of a mask that chooses as many places as fit the indices before it"):
        "masks are drawn to choose them",
    ("aten::index.Tensor", "(indices[i] is None) in {True} where the dim is empty and the indices before it are not"):
        "an index of other sizes would fit, which is not drawn",
    ("aten::index_put", "rank(indices[i]) in {1, ...} of an index into an empty dim"):
        "a 0-d index has an element, which is then out of range",
    ("aten::index_put",
     "size(indices[i], d) in those of a mask that chooses as many places as fit the indices before it"):
        "masks are drawn to choose them",
    ("aten::index_put", "(indices[i] is None) in {True} where the dim is empty and the indices before it are not"):
        "an index of other sizes would fit, which is not drawn",
    **{(f"aten::{op}", f"dtype in {{{', '.join(ALL)}}}"): "the kit has no other dtypes"
       for op in ("full", "full_like", "scalar_tensor", "ones", "ones_like", "zeros", "zeros_like", "eye", "eye.m",
                  "empty.memory_format", "empty_strided", "empty_like", "empty_permuted", "new_full", "new_ones",
                  "new_zeros", "new_empty", "new_empty_strided")},
    ("aten::unbind.int", "dim not in the dims of more than 64"): "no dim so long is drawn",
    **{(f"aten::{op}", "low <= the largest of the dtype, below 2^63 - 1"): IMPLIED
       for op in ("randint.low", "randint_like.low_dtype")},
    ("aten::arange.start", "start in the finite numbers"): "no infinity and no NaN is drawn",
    ("aten::arange.start_step", "start in the finite numbers"): "no infinity and no NaN is drawn",
    ("aten::arange.start_step", "step in all numbers but NaN"): "no NaN is drawn",
    **{(f"aten::{op}", constraint): "what sizes must be depends on the dims that the ranks give"
       for rank, ops in ((4, ("conv2d", "conv2d.padding", "conv_transpose2d.input")),
                         (5, ("conv3d", "conv3d.padding", "conv_transpose3d.input")))
       for op in ops for constraint in (f"rank(input) in {{{rank}, {rank - 1}}}", f"rank(weight) = {rank}")},
    **{(f"aten::conv{spatial}d.padding", "stride[i] in 1 of a kernel that is not in the input"):
       "padding has no value then" for spatial in (1, 2, 3)},
    **{(f"aten::conv{spatial}d.padding", "dilation[i] in of a stride other than 1: at most (input - 1) / (kernel - 1)"):
       "the kernel is not in the input then, and stride is 1" for spatial in (1, 2, 3)},
    **{(f"aten::conv_transpose{form}", "0 <= output_padding[i]"): IMPLIED for form in ("1d", "2d.input", "3d.input")},
    ("aten::dropout", "0.0 <= p"): IMPLIED,
    ("aten::cosine_similarity", "0 <= eps"): IMPLIED,
    **{(f"aten::fake_quantize_{op}", "quant_min <= quant_max"): "a zero point lies between them"
       for op in ("per_tensor_affine", "per_tensor_affine.tensor_qparams", "per_tensor_affine_cachemask",
                  "per_channel_affine", "per_channel_affine_cachemask")},
    **{(f"aten::fake_quantize_per_channel_{op}", constraint): NO_SUCH_DIM
       for op in ("affine", "affine_cachemask") for constraint in ("axis < rank(self)", "1 <= rank(self)")},
    **{(f"quantized_decomposed::{op}_per_channel", constraint): NO_SUCH_DIM
       for op in ("quantize", "dequantize") for constraint in ("axis < rank(input)", "1 <= rank(input)")},
    **{(f"aten::{op}", "size(self, d) <= 2^20 over the sizes before it"): "no tensor so large is drawn"
       for op in ("unique_dim", "unique_dim_consecutive", "unique_consecutive")},
    **{(f"aten::{op}", "1, but of one d <= size(self, d)"): "every dim then has slices without elements"
       for op in ("unique_dim", "unique_dim_consecutive")},
    ("aten::pad", "rank(self) in {2, 3, 4, 5}"): "no length of pad goes with another rank",
    **{("aten::glu", constraint): "a dim is chosen of those of even size"
       for constraint in ("1 <= rank(self)", "-max(rank(self), 1) <= dim", "dim < max(rank(self), 1)",
                          "size(self, d) in an even number of the last dim, if no dim before is even")},
    ("aten::stack", "1 <= length(tensors)"): "the first of the tensors bounds other arguments",
    **{(f"aten::{op}", f"{rank} <= rank(self)"): NO_SUCH_DIM
       for op, rank in (("slice_scatter", 1), ("select.int", 1), ("select_scatter", 1), ("pixel_shuffle", 3))},
    **{(f"aten::{op}", constraint): NO_SUCH_DIM
       for op, dim in (("slice_scatter", "dim"), ("narrow", "dim"), ("unsafe_split_with_sizes", "dim"),
                       ("unsafe_split.Tensor", "dim"), ("split_with_sizes", "dim"), ("split.sizes", "dim"),
                       ("split.Tensor", "dim"), ("unfold", "dimension"))
       for constraint in (f"-max(rank(self), 1) <= {dim}", f"{dim} < max(rank(self), 1)")},
    **{(f"aten::{op}", constraint): IMPLIED
       for op, dim in (("select.int", "dim"), ("select_scatter", "dim"), ("flatten.using_ints", "end_dim"))
       for constraint in (f"-max(rank(self), 1) <= {dim}", f"{dim} < max(rank(self), 1)")},
    **{(f"aten::{op}", "dim in the dims of sizes other than 0"): "no index is then in range"
       for op in ("select.int", "select_scatter")},
    **{(f"aten::{op}", constraint): IMPLIED
       for op, constraint in (("split_with_sizes", "0 <= split_sizes[i]"),
                              ("unsafe_split_with_sizes", "0 <= split_sizes[i]"),
                              ("split.sizes", "0 <= split_size[i]"),
                              ("pixel_shuffle", "1 <= upscale_factor"), ("pixel_unshuffle", "1 <= downscale_factor"),
                              ("topk", "0 <= k"), ("_embedding_bag", "dtype(offsets) in {int64, int32}"))},
    **{(f"aten::embedding_bag{overload}", f"dtype({operand}) in {{int64, int32}}"): IMPLIED
       for overload in ("", ".padding_idx") for operand in ("indices", "offsets")},
    **{(f"aten::embedding_bag{overload}", "size(indices, d) in {0} for some d where size(weight, 0) = 0"): NONE_IN_RANGE
       for overload in ("", ".padding_idx")},
    **{(f"aten::{op}", f"dtype({operand}) in {{float16, bfloat16, float32, float64}}"): IMPLIED
       for op, operand in (("cdist", "x1"), ("_cdist_forward", "x1"), ("_euclidean_dist", "x1"),
                           ("_pdist_forward", "self"))},
    ("aten::embedding_bag.padding_idx", "(padding_idx is None) in {True} of no rows"): NONE_IN_RANGE,
    ("aten::lstm_cell", "size(hx[i], d) in {size(input, 0)} where d = 0"): "one alone would break two",
    **{("aten::_trilinear", f"length({dims}) <= {most}"): IMPLIED for dims, most in (
        ("expand2", "rank(i1) + length(expand1)"), ("sumdim", "rank(i1) + length(expand1)"),
        ("expand3", "the number of dims that are not in expand1 and expand2"))},
    ("aten::diag_embed", "1 <= rank(self)"): NO_OTHER_DIM,
    **{("aten::diagonal_scatter", constraint): NO_SUCH_DIM
       for dim in ("dim1", "dim2") for constraint in (f"-max(rank(self), 1) <= {dim}", f"{dim} < max(rank(self), 1)")},
    ("aten::as_strided_scatter", "size[i] <= the most that elements side by side are enough for"):
        "no stride is then in range",
    ("aten::as_strided_scatter", "0 <= size[i]"): "no src has such a shape",
    **{(f"aten::{op}", "2 <= rank(self)"): NO_OTHER_DIM for op in ("diagonal", "diagonal_scatter")},
    ("aten::linalg_diagonal", "2 <= rank(A)"): NO_OTHER_DIM,
    **{(f"aten::{op}", "1 <= size(self, d)"): "a size of 0, which is not drawn either, would be wanted beside it"
       for op in ("as_strided", "as_strided_scatter")},
    **{(f"aten::{op}", constraint): "it is of tensors without elements, which are not drawn"
       for op in ("as_strided", "as_strided_scatter") for constraint in ("(0 if numel(self) else 1) <= length(size)",
                          "size[i] in {0} for some i where self has no elements")},
    **{(f"aten::{op}", "storage_offset <= 4096"): "self has fewer elements"
       for op in ("as_strided", "as_strided_scatter")},
    ("aten::diagonal_backward", "1 <= rank(grad_output)"): NO_OTHER_DIM,
    ("aten::unfold_backward", "2 <= rank(grad_in)"): "no dim is then in range",
    **{(f"aten::{op}_backward", "0 <= input_sizes[i]"): IMPLIED for op in ("slice", "diagonal")},
    ("aten::embedding_dense_backward", "1 <= rank(grad_output)"): "no indices have a rank below 0",
    **{(f"aten::_embedding_bag{name}", f"dtype({operand}) in {{int64, int32}}"): "the other has the same dtype"
       for name, operand in (("", "indices"), ("_forward_only", "indices"), ("_forward_only", "offsets"))},
    **{(f"aten::_embedding_bag{name}", "size(indices, d) in {0} for some d where size(weight, 0) = 0"): NONE_IN_RANGE
       for name in ("", "_forward_only")},
    **{("aten::kthvalue", constraint): "no k is then in range"
       for constraint in ("1 <= size(self, d) for one d at least", "dim not in dims of self whose size is 0")},
}  # fmt: skip

# Variants that write differ in where results go, not in what they are: a few of them are enough.
SHARES = [(24, specs()), (2, variant_specs())]
every_spec = pytest.mark.parametrize(
    "spec",
    [pytest.param(one, marks=pytest.mark.rotating(size)) for size, some in SHARES for one in some],
    ids=lambda one: one.name,
)
few_or_many = pytest.mark.parametrize(
    ("seed", "count"), [pytest.param(0, FEW, id="few"), pytest.param(1, MANY, id="many", marks=pytest.mark.long)]
)


def calls(spec: OpSpec, tuples: Iterable[MetaTuple], count: int) -> Iterator[tuple[MetaTuple, Arguments]]:
    for one in itertools.islice(tuples, count):
        yield one, arguments(spec, one, Stream(0, spec.name, one.number, "data"))


def run(spec: OpSpec, call: Arguments) -> list[torch.Tensor | bool | int | float | complex | None]:
    """torch's outputs, tensors, numbers or None; of a call that returns nothing what it wrote into. RuntimeError and
    its relatives where torch refuses."""
    dtypes = {one.name for one in spec.schema.arguments if one.type.startswith("ScalarType")}

    def sent(name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return to_torch(value).clone()  # torch resizes the storage of some out arguments, and not that of numpy
        if isinstance(value, list):
            return [sent(name, element) for element in value]
        return getattr(torch, value) if name in dtypes and value else value

    names = [one.name for one in spec.schema.arguments]
    args = [sent(name, value) for name, value in zip(names, call.args, strict=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kwargs = {name: sent(name, value) for name, value in call.kwargs.items()}
        found = overload(spec.name)(*args, **kwargs)
    if not spec.schema.returns:
        given = dict(zip(names, args, strict=False)) | kwargs
        return [tensor for _, tensor in variant_of(spec.name).held_by(given)]
    return _flat(found)


def _flat(found: Any) -> list[Any]:
    return [leaf for one in found for leaf in _flat(one)] if isinstance(found, tuple | list) else [found]


def is_taken(spec: OpSpec, call: Arguments) -> bool:
    return _results(spec, call) is not None


def gives_elements(spec: OpSpec, call: Arguments) -> bool:
    """Whether torch takes it, and has something to compute: where it has not, it asks for little."""
    return any(not isinstance(each, torch.Tensor) or each.numel() for each in _results(spec, call) or [])


def _results(spec: OpSpec, call: Arguments) -> list[torch.Tensor | bool | int | float | complex | None] | None:
    """None of a call that torch refuses."""
    try:
        return run(spec, call)
    except (RuntimeError, IndexError, ValueError, TypeError, OverflowError, AssertionError):  # the last of libraries
        return None


@few_or_many
@every_spec
def test_valid_tuples_are_taken_and_give_the_stated_results(spec: OpSpec, seed: int, count: int) -> None:
    for one, call in calls(spec, valid_tuples(spec, seed), count):
        assert violations(spec, one.arguments) == [], one
        stated = [(each.dtype, each.shape) for each in results(spec, one.arguments)]
        differs, _ = TORCH_DIFFERS.get(spec.name, (lambda operand: False, ""))
        outcome = evaluate(spec.name, call.args, call.kwargs)
        is_known = is_instance_norm_by_the_weight(spec, one) or is_lstm_of_no_units(spec, one)
        may_be_refused = outcome.refusal is not None or is_known
        is_refused = may_be_refused and not is_taken(spec, call)
        if spec.name not in NOT_FOR_TORCH and not is_refused and not differs(call.args[0]):
            outputs = [_described(each) for each in run(spec, call)]
            assert outputs == stated or _stated_of(spec, call, outputs) == stated, one
        goldens = [golden for golden in outcome.results if _is_stated(golden)]
        assert all(each in readings(golden) for each, golden in zip(stated, goldens, strict=True)), one


def is_lstm_of_no_units(spec: OpSpec, one: MetaTuple) -> bool:
    """Which oneDNN does not have (docs/torch-cpu.md): in float32, and in a half type on some processors."""
    return spec.name == "aten::lstm.input" and one.arguments["hx"].structure[0].size(2) == 0


def is_instance_norm_by_the_weight(spec: OpSpec, one: MetaTuple) -> bool:
    """A bias and running statistics in float32 beside a half input, which instance_norm takes beside a weight alone."""
    if spec.name != "aten::instance_norm" or one.arguments["input"].dtype not in HALVES:
        return False
    weight, bias, mean = (one.arguments[name] for name in ("weight", "bias", "running_mean"))
    return weight.is_none and [None if each.is_none else each.dtype for each in (bias, mean)] == ["float32"] * 2


def _described(output: torch.Tensor | bool | int | float | complex | None) -> tuple[str, tuple[int, ...]] | None:
    if output is None:
        return None
    if isinstance(output, torch.Tensor):
        return str(output.dtype).removeprefix("torch."), tuple(output.shape)
    return {bool: "bool", int: "int64", float: "float64", complex: "complex128"}[type(output)], ()


def _stated_of(spec: OpSpec, call: Arguments, outputs: list) -> list:
    """The outputs but those that nobody wants, of which some of torch's kernels make a tensor, and the undocumented."""
    pairs = zip(outputs, evaluate(spec.name, call.args, call.kwargs).results, strict=True)
    return [output for output, golden in pairs if _is_stated(golden)]


def _is_stated(golden: Golden) -> bool:
    return not (golden.is_none or golden.undocumented)


def readings(golden: Golden) -> set[tuple[str, tuple[int, ...]]]:
    """The dtypes, each with the shape, that an output may have: more than one by P36 and P62."""
    return {(each.format.name, each.value.shape) for each in (golden, *golden.alternatives)}


@few_or_many
@every_spec
def test_invalid_tuples_break_one_constraint_and_are_refused(spec: OpSpec, seed: int, count: int) -> None:
    tuples, plain, own = invalid_tuples(spec, seed), plain_name(spec.name), canonical(spec.name)
    broken = set()
    for one, call in calls(spec, tuples, count):
        broken.add((own, str(one.broken)))
        assert violations(spec, one.arguments) == [one.broken], one
        # Numbers that some take are no call all the same where what is made of them is none: a step truncated to 0.
        assert refusal(spec, call) in ((None, "") if one.lenience else (str(one.broken),)), one
        if one.lenience:
            continue
        known = (plain, str(one.broken))
        assert known in TORCH_TAKES or spec.name in NOT_FOR_TORCH or not gives_elements(spec, call), one
    if plain == spec.name:  # beside a broken constraint, an out argument may have no dtype or shape
        unreachable = {(own, str(constraint)) for constraint, _ in tuples.unreachable}
        rare = unreachable & broken  # what was broken once is none of them, however often it was missed since
        assert unreachable - rare <= UNREACHABLE.keys(), tuples.unreachable


def refusal(spec: OpSpec, call: Arguments) -> str | None:
    """The constraint for which the kit refuses the call; None where it gives a result, or does not judge it."""
    try:
        evaluate(spec.name, call.args, call.kwargs)
    except InvalidArguments as error:
        return str(error).partition(", expected ")[2]
    except Unjudged:
        return None
    return None
