"""How often numbers occur: the domains of the arguments."""

from __future__ import annotations

import numpy as np

from conform.domains.engine.arguments import Argument, index_tensor, length, optional, result, scalar, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Optional, Rank, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.specs import FLOATS, INTEGERS, spec
from conform.numerics.draws import Stream

HIGHEST = 6  # number that is drawn


def drawn_counted(stream: Stream, self: MetaArgument) -> np.ndarray:
    """Numbers from 0 to HIGHEST, of which there is one at least."""
    drawn = stream.integers(0, HIGHEST, self.numel)
    drawn[: self.numel] = np.where(np.arange(self.numel) == self.numel // 2, HIGHEST, drawn)
    return drawn


def count_of(self: MetaArgument) -> int:
    """The largest number and one more, 0 where there is none."""
    if self.elements is not None:
        return self.elements.largest() + 1
    return HIGHEST + 1 if self.numel else 0


def _bins(self: MetaArgument, minlength: int) -> tuple[int]:
    return (max(count_of(self), minlength),)


def _dtype_of_bins(weights: MetaArgument) -> str:
    return "int64" if weights.is_none else weights.dtype


def _is_empty(self: MetaArgument) -> bool:
    return self.numel == 0


spec(
    "aten::bincount",
    index_tensor(
        "self",
        Dtype.In(INTEGERS),
        Rank.Eq(1),
        Value.Ge(0),
        Value.Gen(drawn_counted),
    ),
    optional(
        tensor("weights", Dtype.In(("float32", "float64")).unjudged("the documentation names no dtype of the result"),
               shape_of("self")),
        Optional.In(lambda self: (True,) if _is_empty(self) else ANYTHING, text="{True} where self is empty")
        .unjudged("torch gives no dtype of the weights then"),
    ),
    length("minlength", Value.Ge(0)),
    result(Dtype.Eq(_dtype_of_bins), shaped(_bins, "(max(largest + 1, minlength),)")),
)  # fmt: skip


def _from(low: complex) -> Space:
    return ANYTHING if isinstance(low, complex) else REALS.narrowed("Ge", low)


def _end(name: str, highest: float, *more: Constraint) -> Argument:
    """An end of the intervals, of ordinary size."""
    size = Value.In(
        lambda own: REALS.within(-1e4, highest) if own.dtype in ("int", "float") else ANYTHING, ("",),
        f"[-10^4, {highest:g}]",
    ).unjudged("half types may not hold larger ones")  # fmt: skip
    return scalar(name, Dtype.In(("int", "float")).lenient("a bool is 0 or 1"), size, *more)


spec(
    "aten::histc",
    tensor(
        "self",
        Dtype.In((*FLOATS, *INTEGERS)),
        Dtype.NotIn(INTEGERS).unjudged("torch counts integers on CUDA"),
    ),
    length("bins", Value.Ge(1)),
    _end("min", 1e4),
    _end(
        "max",
        2e4,
        Value.In(lambda min: _from(min.value), text="[min, inf)"),
        Value.NotIn(lambda min: (min.value,) if min.value else (), text="{min} where min != 0").unjudged(
            "torch takes the ends of the data, as for 0 and 0"
        ),
    ),
    result(dtype_of("self"), shaped(lambda bins: (bins,), "(bins,)")),
)
