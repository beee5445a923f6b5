"""What the core suite shows of every overload, read off its tests without running one: sizes, ranks, broadcasting, the
dtypes of the spec, every argument at more than one value.

Each rule is held exactly: an exception that has no use any more is a failure as well.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conform.call import binding, schemas
from conform.call.arguments import Arguments, is_tensor, map_tensors, tensors
from conform.domains.specs import spec_of
from conform.interp import semantics
from conform.interp.evaluate import evaluate
from conform.numerics.formats import format_of
from conform.suites import load
from conform.suites.cases import Draw, Selection, draws, resolved_op

Holes = dict[str, set[Any]]

OPS = semantics.names()

# --- What the tests show ----------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What the valid calls of one overload show; of one without tensors, what its results do.

    dtypes and ranks: of its data (the first tensor that is neither index nor mask); sizes: of all dims of all tensors;
    broadcasts: whether tensors that have dims differ in their shapes; values: by argument, a tensor as "tensor".
    """

    dtypes: set[str] = field(default_factory=set)
    ranks: set[int] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    broadcasts: bool = False
    values: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))


@functools.cache
def seen() -> Mapping[str, Seen]:
    """By overload. Tests of calls that a backend must refuse show nothing."""
    found: dict[str, Seen] = defaultdict(Seen)
    for test in load(["core"]).tests:
        for draw in draws(test, Selection()) if "_refuses_" not in test.id else ():
            _see(draw, found)
    return found


def _see(draw: Draw, found: dict[str, Seen]) -> None:
    arguments = draw.arguments()
    op = resolved_op(draw.test, arguments)
    bound = binding.bind(schemas.schema(op), arguments.args, arguments.kwargs, is_tensor)
    data = spec_of(op).data
    first, *_ = tensors(Arguments([bound[data.name]] if data else [])) or _results(op, arguments)
    one = found[op]
    one.dtypes.add(format_of(first).name)
    one.ranks.add(first.ndim)
    one.sizes.update(size for tensor in [first, *tensors(arguments)] for size in tensor.shape)
    one.broadcasts |= len({tensor.shape for tensor in tensors(arguments) if tensor.ndim}) > 1
    for name, value in bound.items():
        one.values[name] += map_tensors(Arguments([value]), lambda _, tensor: "tensor").args


def _results(op: str, arguments: Arguments) -> list[np.ndarray]:
    return [golden.value for golden in evaluate(op, arguments.args, arguments.kwargs).goldens]


def holes(lacking: Callable[[str], set[Any]]) -> Holes:
    """What every overload lacks; those that lack nothing left out."""
    return {op: found for op in OPS if (found := lacking(op))}


# --- Sizes ------------------------------------------------------------------------------------------------------------

SIZES = {"0": {0}, "1": {1}, "31 to 33": {31, 32, 33}, "a prime": {5, 7, 11, 13, 17, 19, 31, 37, 41, 43, 127, 1031}}
WITHOUT_SIZE = {"aten::_native_batch_norm_legit.no_stats": {"0"}}  # a batch without elements has no statistics (P63)


def test_every_overload_meets_the_sizes_at_which_kernels_change() -> None:
    assert holes(lambda op: {name for name, some in SIZES.items() if not some & seen()[op].sizes}) == WITHOUT_SIZE


# --- Ranks and broadcasting -------------------------------------------------------------------------------------------

USUAL = {0, 1, 2, 3}
RANKS = {  # of data that cannot have all of the usual ranks, or must have more; of arange, of its results
    "aten::arange": {1},
    "aten::arange.start": {1},
    "aten::arange.start_step": {1},
    "aten::cat": {1, 2, 3, 4},
    "aten::slice.Tensor": {1, 2, 3},
    "aten::index_put": {1, 2, 3},
    "aten::mm": {2},
    "aten::addmm": {0, 1, 2},
    "aten::convolution": {3, 4, 5},
    "aten::avg_pool2d": {3, 4},
    "aten::native_layer_norm": {1, 2, 3},
    "aten::rms_norm": {1, 2, 3},
    "aten::_fused_rms_norm": {1, 2, 3},
    "aten::native_group_norm": {2, 3, 4},
    "aten::_native_batch_norm_legit.no_stats": {2, 3, 4},
    "aten::_native_batch_norm_legit_no_training": {2, 3, 4},
    "aten::nll_loss": {1, 2},
    "aten::nll_loss_forward": {1, 2},
    "aten::cross_entropy_loss": {1, 2, 3, 4},
    "aten::scaled_dot_product_attention": {2, 3, 4},
}
ELEMENT_BY_ELEMENT = ("elementwise", "comparison", "functions")


def test_every_overload_meets_tensors_of_several_ranks() -> None:
    assert holes(lambda op: RANKS.get(op, USUAL) - seen()[op].ranks) == {}


def test_operands_broadcast() -> None:
    of_two = [op for op in OPS if semantics.find(op).family in ELEMENT_BY_ELEMENT and _operands(op) > 1]
    assert [op for op in of_two if not seen()[op].broadcasts] == []


def _operands(op: str) -> int:
    return sum(one.type == "Tensor" for one in schemas.schema(op).arguments)


# --- dtypes -----------------------------------------------------------------------------------------------------------


def test_every_overload_meets_every_dtype_of_its_spec() -> None:
    assert holes(lambda op: set(spec_of(op).dtypes) - seen()[op].dtypes) == {}


# --- Values of arguments ----------------------------------------------------------------------------------------------

# A device is the backend's to choose. The batch norm without statistics has nothing but training (P63). What dropout
# drops is drawn (P69).
CONSTANT = {
    "aten::_to_copy": {"device"},
    "aten::arange": {"device"},
    "aten::arange.start": {"device"},
    "aten::arange.start_step": {"device"},
    "aten::_native_batch_norm_legit.no_stats": {"training"},
    "aten::scaled_dot_product_attention": {"dropout_p"},
}


def test_every_argument_has_another_value_than_its_default_somewhere() -> None:
    every = {op: schemas.schema(op).arguments for op in OPS}
    assert holes(lambda op: {one.name for one in every[op] if _is_constant(op, one)}) == CONSTANT


def _is_constant(op: str, argument: schemas.Argument) -> bool:
    """Whether a test gives the argument nothing but its default; one without default, nothing but one value."""
    if argument.type in ("Tensor", "Tensor[]"):
        return False
    values = seen()[op].values[argument.name]
    usual = argument.default if argument.has_default else values[0]
    return all(value == usual for value in values)
