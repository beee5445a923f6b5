"""Elements for the tensors of a call, by value class."""

from __future__ import annotations

import numpy as np

from conform.call.arguments import Arguments, map_tensors
from conform.domains.engine.meta_argument import MetaArgument, tensor_metas
from conform.domains.engine.meta_tuple import MetaTuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import Intervals
from conform.inputs.matrices import classes_of
from conform.inputs.values import eligible_tensors, value_classes, with_values
from conform.interp.semantics import traits_of
from conform.numerics.draws import Stream
from conform.numerics.formats import format_named, format_of
from conform.selftest.agreement.draw import Draw

CLASSES = (Draw.wild, Draw.tame, Draw.sparse, Draw.scattered, Draw.paired, Draw.repeated)
OF_MATRICES = 5  # how much more often those of matrices: of others hardly one is Hermitian, or has a real diagonal
MIXED = (None, None, None)  # each tensor of another class, as often as this stands here


def filled(stacked: Arguments, spec: OpSpec, tuple_: MetaTuple, stream: Stream) -> Arguments:
    """Calls of the tuple, their tensors stacked, with elements of a class that is drawn.

    Tensors whose values a constraint speaks of take what their space has of them; indices stay as they are.
    """
    draw = Draw(stream)
    of_suites = value_classes(stacked, spec)[1:] if tuple_.broken is None else []  # an op's edges need arguments it has
    of_matrices = [one for one in of_suites if one in classes_of(traits_of(spec.name))] * OF_MATRICES
    of_all = draw.choice((*CLASSES, *MIXED, *of_suites, *of_matrices))
    if isinstance(of_all, str):
        return with_values(stacked, of_all, stream, spec)
    present = [meta for name, meta in tuple_.arguments.items() if name not in tuple_.omitted]
    metas = [part for meta in present for part in tensor_metas(meta)]
    free = eligible_tensors(stacked, spec)

    def fill(number: int, tensor: np.ndarray) -> np.ndarray:
        meta = metas[number]
        if number not in free and not _is_bounded(meta):
            return tensor
        values = (of_all or draw.choice(CLASSES))(draw, meta.dtype, *tensor.shape)
        return values if number in free else np.where(_within(values, meta.value), values, tensor)

    return map_tensors(stacked, fill)


def _is_bounded(meta: MetaArgument) -> bool:
    """Whether the tensor holds data of which a constraint says in which intervals they lie; data are floats, too, where
    indices could stand (the probabilities of classes)."""
    is_data = not meta.type.is_index or format_named(meta.dtype).is_float
    return is_data and meta.outside is None and isinstance(meta.value, Intervals)


def _within(values: np.ndarray, space: Intervals) -> np.ndarray:
    """Where the space, with its infinite ends, has the values."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        wide = values.astype(np.float64) if format_of(values.dtype).is_float else values
    return np.logical_or.reduce([(one.low <= wide) & (wide <= one.high) for one in space.intervals])
