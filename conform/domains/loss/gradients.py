"""Gradients of losses: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, index_tensor, optional, real, result, tensor
from conform.domains.engine.constraints import Constraint, Rank, Size, Value
from conform.domains.engine.gradients import FLOAT, LIKE, alike
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space
from conform.domains.engine.vocabulary import dtype_of, shape_of
from conform.domains.loss.classes import IMAGES, NO_CLASSES
from conform.domains.loss.elements import PROBABILITIES
from conform.domains.loss.outcomes import NONE, REDUCTION, SIGN
from conform.domains.specs import spec

OF_SELF = result(dtype_of("self"), shape_of("self"))


def _of(rank: int | None = None) -> Argument:
    """The gradient of each loss, of a tensor of `rank` samples' dims, if so many are needed; or of all together."""

    def ranks(reduction: int) -> Space | tuple[int, ...]:
        """rank of the loss"""
        return ((ANYTHING if rank is None else (rank,)) if reduction == NONE else (0,))

    return tensor("grad_output", FLOAT, Rank.In(ranks).unjudged(LIKE))


def _of_classes(grad_output: MetaArgument, reduction: int, rank: int, d: int) -> Space | tuple[int, ...]:
    """that of grad_output, if reduction = 0, but of the classes"""
    shape, dim = grad_output.shape, min(rank - 1, 1)
    if reduction != NONE or d == dim:
        return ANYTHING
    place = d - (d > dim)
    return (shape[place],) if place < len(shape) else ANYTHING


def _of_elements(grad_output: MetaArgument, reduction: int, d: int) -> Space | tuple[int, ...]:
    """that of grad_output, if reduction = 0"""
    return (grad_output.shape[d],) if reduction == NONE and d < grad_output.rank else ANYTHING


def _rank_of_loss(grad_output: MetaArgument, reduction: int) -> Space | tuple[int, ...]:
    """that of grad_output, if reduction = 0"""
    return (grad_output.rank,) if reduction == NONE else ANYTHING


def _self(*constraints: Constraint) -> Argument:
    return tensor("self", dtype_of("grad_output").unjudged(LIKE), *constraints)


GRADIENT = _of()
OF_LOSS = Rank.In(_rank_of_loss).unjudged(LIKE), Size.In(_of_elements).unjudged(LIKE)
SELF = _self(*OF_LOSS)
OF_PROBABILITIES = [one.unjudged("the gradient looks at nothing") for one in PROBABILITIES]
ORDINARY = Value.In(lambda: REALS.within(1e-4, 1e4), text="[10^-4, 10^4]").unjudged("their quotients may overflow")

spec("aten::mse_loss_backward", GRADIENT, SELF, alike("target", of="self"), REDUCTION, OF_SELF)
for _name, _border in (("aten::smooth_l1_loss_backward", "beta"), ("aten::huber_loss_backward", "delta")):
    spec(_name, GRADIENT, SELF, alike("target", of="self"), REDUCTION, real(_border, ORDINARY), OF_SELF)
spec("aten::soft_margin_loss_backward", GRADIENT, SELF, alike("target", SIGN, of="self"), REDUCTION, OF_SELF)
spec(
    "aten::binary_cross_entropy_backward",
    GRADIENT,
    _self(*OF_LOSS, *OF_PROBABILITIES),
    alike("target", *OF_PROBABILITIES, of="self"),
    optional(alike("weight", of="self")),
    REDUCTION,
    OF_SELF,
)

TOTAL = tensor(
    "total_weight",
    [one.unjudged(LIKE) for one in (dtype_of("self"), Rank.Eq(0))],
    Value.Gt(0).unjudged("what has no weight has no mean"),
)


def _of_lines(reduction: int) -> tuple[int, ...]:
    """rank of the loss"""
    return (0, 1) if reduction == NONE else (0,)


def _lines_of(grad_output: MetaArgument, reduction: int) -> tuple[int, ...]:
    """1 more than that of the loss"""
    return (min(grad_output.rank, 1) + 1,) if reduction == NONE else (1, 2)


SIZES = Size.In(_of_classes).unjudged(LIKE)
UNREAD = "the forward op has looked at the classes; kernels of its gradient need not"
_, _TARGETS, *OTHERS, _ = IMAGES
TARGETS = index_tensor("target", *(one.unjudged(UNREAD) if one.attribute == "Value" else one
                                   for one in _TARGETS.constraints))  # fmt: skip
spec(
    "aten::nll_loss_backward",
    tensor("grad_output", FLOAT, Rank.In(_of_lines).unjudged(LIKE)),
    _self(Rank.In(_lines_of).unjudged(LIKE, lambda self: self.rank in (1, 2)), SIZES),
    TARGETS,
    *OTHERS,
    TOTAL,
    OF_SELF,
)
spec(
    "aten::nll_loss2d_backward",
    _of(3),
    _self(Rank.Eq(4), SIZES, Size.Ge(lambda d: int(d == 1), text="1 for the classes").unjudged(NO_CLASSES)),
    TARGETS,
    *OTHERS,
    TOTAL,
    OF_SELF,
)
