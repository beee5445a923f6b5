"""Numbers of classes as rows of ones and zeros: the domain of the arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import index_tensor, length, result
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import shaped
from conform.domains.reduction.counts import count_of, drawn_counted
from conform.domains.specs import spec

Shape = tuple[int, ...]


def _one_hot(self: MetaArgument, num_classes: int) -> Shape:
    return (*self.shape, count_of(self) if num_classes == -1 else num_classes)


spec(
    "aten::one_hot",
    index_tensor("self", Dtype.Eq("int64"), Value.Ge(0), Value.Gen(drawn_counted)),
    length(
        "num_classes",
        Value.Ge(-1),
        Value.NotIn(
            lambda self: tuple(range(0 if self.numel else -1, max(count_of(self), 1))),
            text="{0, ..., largest class}, and {-1, 0} where there is none",
        ),
        Value.Be((-1,)),
    ),
    result(Dtype.Eq("int64"), shaped(_one_hot, "(*shape(self), num_classes)")),
)
