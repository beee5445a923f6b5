"""One step of an optimizer over lists of parameters, in one kernel (P210, P211, P212, P213).

The state is that of torch.optim's algorithms: tensor i of each list belongs to parameter i. The results are the lists
that such a step leaves, one behind the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from conform.interp.blocks.blocks import fits
from conform.interp.formulas.optimizers import SGD, Adagrad, Adam, Step
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of

Tensors = Sequence[np.ndarray]
Algorithm = Adam | SGD | Adagrad


@semantics("aten::_fused_adam", "aten::_fused_adam.tensor_lr", holds_numbers=True)
def _fused_adam(
    self: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    lr: float | np.ndarray,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    grad_scale: np.ndarray | None = None,
    found_inf: np.ndarray | None = None,
) -> tuple[Golden, ...]:
    """Of each parameter the step number state_step of torch.optim.Adam: grad over grad_scale, -grad if maximize, plus
    weight_decay * parameter; exp_avg and exp_avg_sq move by 1 - beta to the gradient and its square; parameter - lr *
    exp_avg / (1 - beta1^step) / (sqrt(exp_avg_sq / (1 - beta2^step)) + eps), with amsgrad by the largest exp_avg_sq so
    far. Nothing changes if found_inf is 1 (P210, P211, P212, P213)"""
    lists = {"self": self, "grads": grads, "exp_avgs": exp_avgs, "exp_avg_sqs": exp_avg_sqs,
             "max_exp_avg_sqs": max_exp_avg_sqs}  # fmt: skip

    def of_step(step: float) -> Adam:
        return Adam(step, float(lr), beta1, beta2, weight_decay, eps, amsgrad, maximize, decoupled=False)

    return _stepped(lists, [of_step(float(step)) for step in state_steps], grad_scale, found_inf)


@semantics("aten::_fused_adamw", "aten::_fused_adamw.tensor_lr", holds_numbers=True)
def _fused_adamw(
    self: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    lr: float | np.ndarray,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    grad_scale: np.ndarray | None = None,
    found_inf: np.ndarray | None = None,
) -> tuple[Golden, ...]:
    """_fused_adam, but for the weight decay, which is that of torch.optim.AdamW: no gradient, but lr * weight_decay *
    parameter taken from the parameter first (P210, P211, P212, P213)"""
    lists = {"self": self, "grads": grads, "exp_avgs": exp_avgs, "exp_avg_sqs": exp_avg_sqs,
             "max_exp_avg_sqs": max_exp_avg_sqs}  # fmt: skip

    def of_step(step: float) -> Adam:
        return Adam(step, float(lr), beta1, beta2, weight_decay, eps, amsgrad, maximize, decoupled=True)

    return _stepped(lists, [of_step(float(step)) for step in state_steps], grad_scale, found_inf)


@semantics("aten::_fused_sgd", "aten::_fused_sgd.tensor_lr", holds_numbers=True)
def _fused_sgd(
    self: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    weight_decay: float,
    momentum: float,
    lr: float | np.ndarray,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: np.ndarray | None = None,
    found_inf: np.ndarray | None = None,
) -> tuple[Golden, ...]:
    """Of each parameter a step of torch.optim.SGD: grad over grad_scale, -grad if maximize, plus weight_decay *
    parameter; with momentum the buffer becomes momentum * buffer + (1 - dampening) * grad, or grad if is_first_step,
    and the gradient the buffer, with nesterov grad + momentum * buffer; parameter - lr * gradient. Nothing changes if
    found_inf is 1 (P210, P213)"""
    lists = {"self": self, "grads": grads, "momentum_buffer_list": momentum_buffer_list}
    algorithm = SGD(weight_decay, momentum, float(lr), dampening, nesterov, maximize, is_first_step)
    return _stepped(lists, [algorithm] * len(self), grad_scale, found_inf)


@semantics("aten::_fused_adagrad", holds_numbers=True)
def _fused_adagrad(
    self: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    lr: float,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: np.ndarray | None = None,
    found_inf: np.ndarray | None = None,
) -> tuple[Golden, ...]:
    """_fused_adagrad.tensor_lr, and the steps as they were, which torch's schema says are written to"""
    results = _fused_adagrad_by_tensor(
        self, grads, state_sums, state_steps, lr, lr_decay, weight_decay, eps, maximize, grad_scale, found_inf
    )
    return *results, *map(_as_it_was, state_steps)


@semantics("aten::_fused_adagrad.tensor_lr", holds_numbers=True)
def _fused_adagrad_by_tensor(
    self: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    lr: float | np.ndarray,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: np.ndarray | None = None,
    found_inf: np.ndarray | None = None,
) -> tuple[Golden, ...]:
    """Of each parameter the step number state_step of torch.optim.Adagrad: grad over grad_scale, -grad if maximize,
    plus weight_decay * parameter; its square is added to state_sum; parameter - lr / (1 + (step - 1) * lr_decay) *
    grad / (sqrt(state_sum) + eps). Nothing changes if found_inf is 1 (P210, P212, P213)"""
    lists = {"self": self, "grads": grads, "state_sums": state_sums}

    def of_step(step: float) -> Adagrad:
        return Adagrad(step, float(lr), lr_decay, weight_decay, eps, maximize)

    return _stepped(lists, [of_step(float(step)) for step in state_steps], grad_scale, found_inf)


def _stepped(
    lists: Mapping[str, Tensors],
    algorithms: Sequence[Algorithm],
    grad_scale: np.ndarray | None,
    found_inf: np.ndarray | None,
) -> tuple[Golden, ...]:
    """What is left of the tensors, list by list; what no formula tells of is as it was."""
    goldens = {name: [_as_it_was(tensor) for tensor in tensors] for name, tensors in lists.items()}
    skips = found_inf is not None and float(found_inf) == 1.0
    scale = None if grad_scale is None else float(grad_scale)
    for numbers in () if skips else _together(lists["self"], algorithms):
        tensors = {name: [tensors[number] for number in numbers] for name, tensors in lists.items() if tensors}
        algorithm = algorithms[numbers[0]]
        for name, left in Step(algorithm, algorithm.open_, scale).left(tensors).items():
            for number, golden in zip(numbers, left, strict=True):
                goldens[name][number] = golden
    return tuple(golden for each in goldens.values() for golden in each)


def _together(parameters: Tensors, algorithms: Sequence[Algorithm]) -> Iterator[list[int]]:
    """The numbers of all parameters, those of one dtype and algorithm together, as far as a block holds them: a formula
    costs as much on a few elements as on hundreds."""
    groups: dict[tuple[np.dtype, Algorithm], list[int]] = {}
    for number, key in enumerate(zip((one.dtype for one in parameters), algorithms, strict=True)):
        group = groups.setdefault(key, [])
        if group and not fits(sum(parameters[each].size for each in (*group, number))):
            yield groups.pop(key)
            group = groups.setdefault(key, [])
        group.append(number)
    yield from groups.values()


def _as_it_was(tensor: np.ndarray) -> Golden:
    return exact(tensor, format_of(tensor))
