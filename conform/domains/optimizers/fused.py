"""One step of an optimizer over lists of parameters, in one kernel: the domains of its arguments.

The algorithms are those of torch.optim's pages (Adam, AdamW, SGD, Adagrad), the state that of its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conform.domains.engine.arguments import Argument, boolean, counts, index_tensor, optional, real, results, tensors
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.dtypes import component
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import typically
from conform.domains.specs import FLOATS, spec
from conform.numerics.draws import Stream
from conform.numerics.formats import format_named

Tensors = Sequence[MetaArgument]

ONE_DTYPE = "torch.optim gives a kernel the tensors of one dtype at a time; its CPU kernels take several (P210)"
NOTHING = "a step of no parameters leaves nothing to judge"
SKIPPED = "a step that found_inf skips looks at nothing else"
UNCHECKED = "torch's kernels do not compare the shapes, and read beside a shorter tensor"
ANY_SCALAR = "torch's CPU kernels read any tensor of one element, those of other devices a float32"
NOT_IN_TORCH_OPTIM = "torch.optim refuses it, its kernels do not look"
AS_LARGE = "a limit of what is generated: the bounds of larger ones say nothing"
NEARLY_ONE = "float32 holds it as 1, or has hardly a digit of 1 - beta (P211)"
SCALED = "P210: the scale of a gradient is positive, and what was found is 0 or 1"


def dtype_of_first(previous: Tensors) -> Space | tuple[str, ...]:
    """that of the first parameter"""
    return (previous[0].dtype,) if previous else ANYTHING


def one_of(*chosen: float) -> Constraint:
    """A tensor of one of these numbers, or of the largest that its dtype has below it."""

    def given(stream: Stream, own: MetaArgument) -> np.ndarray:
        fmt = format_named(component(own.dtype))
        largest = fmt.max_finite if fmt.is_float else fmt.max_value if fmt.is_integer else 1
        return np.full(own.shape, min(chosen[int(stream.integers(0, len(chosen) - 1, 1)[0])], largest))

    return Value.Gen(given, ("stream", ""), f"one of {', '.join(f'{each:g}' for each in chosen)}")


def _unless_skipped(constraint: Constraint) -> Constraint:
    return constraint.unjudged(SKIPPED, lambda found_inf: not found_inf.is_none)


PARAMETERS = tensors(
    "self",
    Length.Ge(1).unjudged(NOTHING),
    _unless_skipped(Dtype.In(FLOATS)),
    Dtype.In(dtype_of_first).lenient(ONE_DTYPE),
)


def _like_parameters() -> tuple[Constraint, ...]:
    """Of each tensor the dtype and shape of the parameter in its place."""
    return (
        _unless_skipped(Dtype.Eq(lambda i, self: self[i].dtype, text="dtype(self[i])")).same("self"),
        Rank.Eq(lambda i, self: self[i].rank, text="rank(self[i])").unjudged(UNCHECKED).same("self"),
        Size.Eq(lambda d, i, self: self[i].shape[d], text="size(self[i], d)").unjudged(UNCHECKED).same("self"),
    )


def _as_many(name: str, *constraints: Constraint) -> Argument:
    """A list with a tensor like each parameter."""
    many = Length.Eq(lambda self: len(self), text="length(self)")
    return tensors(name, _unless_skipped(many).same("self"), _like_parameters(), *constraints)


def _some(name: str, are_given: Callable[..., bool], text: str, *constraints: Constraint) -> Argument:
    """A list with a tensor like each parameter where the call needs it, else an empty one."""
    names = are_given.__code__.co_varnames
    many = Length.Eq(lambda self, *given: len(self) if are_given(*given) else 0, ("self", *names), text)
    return tensors(name, _unless_skipped(many), _like_parameters(), *constraints)


POSITIVE = typically(0, 8)  # what sums squares
STEPS = counts(
    "state_steps",
    _unless_skipped(Length.Eq(lambda self: len(self), text="length(self)")),
    Dtype.Eq("float32").lenient(ANY_SCALAR),
    Rank.Eq(0).unjudged(ANY_SCALAR),
    Value.Ge(1).unjudged("P210: the first step is number 1"),
    Value.Le(2.0**24).unjudged("P210: a float32 counts no further"),
    one_of(1, 2, 3, 10, 100, 1000, 65536, 1e6),
)
ONE_FLOAT = (_unless_skipped(Dtype.Eq("float32")), Rank.Eq(0).unjudged(ANY_SCALAR))
SCALE = optional(index_tensor("grad_scale", ONE_FLOAT, Value.Ge(2.0**-126).unjudged(SCALED), one_of(1024, 3, 0.1, 1)))
FOUND = optional(index_tensor("found_inf", ONE_FLOAT, Value.In((0, 1)).unjudged(SCALED)))


def _number(name: str, most: float, *preferred: float, reason: str = AS_LARGE) -> Argument:
    limits = (Value.Ge(0).unjudged(NOT_IN_TORCH_OPTIM), Value.Le(most).unjudged(reason))
    return real(name, *limits, Value.Be(preferred))


def _rates() -> tuple[Argument, Argument]:
    """The learning rate as a number and as a tensor."""
    number = _number("lr", 1e4, 0.001, 0.5, 1.0, 0.0)
    of_any = Dtype.In(("float32", "float64")).unjudged("torch reads a tensor of any dtype on the CPU")
    limits = (Value.Ge(0).unjudged(NOT_IN_TORCH_OPTIM), Value.Le(1e4).unjudged(AS_LARGE))
    return number, index_tensor("lr", of_any, Rank.Eq(0).unjudged(ANY_SCALAR), *limits, one_of(0.001, 0.5, 0.1, 1))


WEIGHT_DECAY, EPS = _number("weight_decay", 1e4, 0.01, 0.5, 0.0), _number("eps", 1e4, 1e-8, 0.25, 0.0)
BETAS = (
    _number("beta1", 0.9999, 0.9, 0.5, 0.0, reason=NEARLY_ONE),
    _number("beta2", 0.9999, 0.999, 0.5, 0.0, reason=NEARLY_ONE),
)
MAXIMIZE = boolean("maximize")


def _left(name: str) -> Argument:
    """What is left of the list: as many tensors of the same dtypes and shapes."""
    return results(
        Length.Eq(lambda given: len(given), (name,), f"length({name})").same(name),
        Dtype.Eq(lambda i, given: given[i].dtype, ("i", name), f"dtype({name}[i])").same(name),
        Rank.Eq(lambda i, given: given[i].rank, ("i", name), f"rank({name}[i])").same(name),
        Size.Eq(lambda d, i, given: given[i].shape[d], ("d", "i", name), f"size({name}[i], d)").same(name),
    )


def _step_of(op: str, lists: Sequence[Argument], *numbers: Argument) -> None:
    """The overloads of an optimizer with its learning rate as a number and as a tensor; the results are what is left of
    all lists but the steps, to which by torch's schemas _fused_adagrad alone writes."""
    for name, rate in zip((op, f"{op}.tensor_lr"), _rates(), strict=True):
        own = [rate if one.name == "lr" else one for one in numbers]
        left = [_left(one.name) for one in lists if one is not STEPS or name == "aten::_fused_adagrad"]
        spec(name, *lists, *own, SCALE, FOUND, *left)


RATE = _rates()[0]  # stands for either
SECOND_MOMENTS = _as_many("exp_avg_sqs", POSITIVE)
LARGEST = _some("max_exp_avg_sqs", lambda amsgrad: amsgrad, "length(self) where amsgrad, else 0", POSITIVE)
for _op in ("aten::_fused_adam", "aten::_fused_adamw"):
    _step_of(
        _op,
        (PARAMETERS, _as_many("grads"), _as_many("exp_avgs"), SECOND_MOMENTS, LARGEST, STEPS),
        RATE, *BETAS, WEIGHT_DECAY, EPS, boolean("amsgrad"), MAXIMIZE,
    )  # fmt: skip
_step_of(
    "aten::_fused_adagrad",
    (PARAMETERS, _as_many("grads"), _as_many("state_sums", POSITIVE), STEPS),
    RATE, _number("lr_decay", 1e4, 0.01, 0.5, 0.0), WEIGHT_DECAY, EPS, MAXIMIZE,
)  # fmt: skip
BUFFERS = _some("momentum_buffer_list", lambda momentum: momentum != 0, "length(self) where momentum is not 0, else 0")
_step_of(
    "aten::_fused_sgd",
    (PARAMETERS, _as_many("grads"), BUFFERS),
    WEIGHT_DECAY, _number("momentum", 1e4, 0.9, 0.5, 0.0), RATE, _number("dampening", 1.0, 0.0, 0.25),
    boolean("nesterov"), MAXIMIZE, boolean("is_first_step"),
)  # fmt: skip
