"""A step of Adam, AdamW, SGD and Adagrad on each element: the algorithms of torch.optim's pages, line by line.

An element is a Fraction, or a float that is an infinity or NaN. What is a root, or too long a fraction, is enclosed by
balls that shrink until its rounding is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, isinf, isnan, nan

from flint import arb

from conform.refs.exact.radicals import rational_sqrt
from conform.refs.exact.reals import fraction_ball, round_real
from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference

Extended = Fraction | float  # a float stands for an infinity or NaN alone
Left = dict[str, float | Unspecified]
SHORT = 64  # steps of which a power is worth a fraction


@dataclass(frozen=True)
class Numbers:
    """The numbers of a call, as they are."""

    lr: Fraction
    weight_decay: Fraction
    eps: Fraction = Fraction(0)
    beta1: float = 0.0
    beta2: float = 0.0


# --- One element ------------------------------------------------------------------------------------------------------


def _extended(x: float) -> Extended:
    return Fraction(x) if isfinite(x) else x


def _weighed(*terms: tuple[Fraction, Extended]) -> Extended:
    """The sum of weight * x, by IEEE 754's arithmetic where an x is no number."""
    special = [_times(weight, x) for weight, x in terms if isinstance(x, float)]
    if special:
        return sum(special)
    return sum((weight * x for weight, x in terms), Fraction(0))


def _times(weight: Fraction, x: float) -> float:
    return nan if weight == 0 else x if weight > 0 else -x


def _square(x: Extended) -> Extended:
    return x * x if isinstance(x, Fraction) else abs(x)


def _rounded(dtype: str, x: Extended) -> float:
    return x if isinstance(x, float) else round_ratio(dtype, x.numerator, x.denominator)


def _gradient(grad: float, scale: float | None, theta: float, weight_decay: Fraction, maximize: bool) -> Extended:
    """g: unscaled, of the negative objective where that is maximized, with a coupled decay."""
    g = _unscaled(grad, scale)
    g = -g if maximize else g
    return g if weight_decay == 0 else _weighed((Fraction(1), g), (weight_decay, _extended(theta)))


def _unscaled(grad: float, scale: float | None) -> Extended:
    if scale is None or not isfinite(grad):
        return _extended(grad)
    return Fraction(grad) / Fraction(scale)


def _complement(beta: float, step: float) -> Callable[[], arb] | Fraction:
    """1 - beta^step."""
    if beta == 0 or (step == int(step) and step <= SHORT):
        return 1 - Fraction(beta) ** int(step)
    return lambda: -(arb(beta).log() * arb(step)).expm1()


def _ball(x: Callable[[], arb] | Fraction) -> arb:
    return fraction_ball(x) if isinstance(x, Fraction) else x()


def _descended(
    dtype: str, theta: Extended, numerator: Extended, first: Callable[[], arb] | Fraction, square: Extended,
    second: Callable[[], arb] | Fraction, eps: Fraction,
) -> float:  # fmt: skip
    """theta - (numerator / first) / (sqrt(square / second) + eps), rounded once."""
    if any(isinstance(x, float) and isnan(x) for x in (theta, numerator, square)):
        return nan
    if isinstance(numerator, float) and isinstance(square, float):
        return nan  # inf / inf
    if isinstance(square, float):
        return _rounded(dtype, theta)
    if isinstance(numerator, float) or (square == 0 and eps == 0):
        sign = numerator if isinstance(numerator, float) else _sign(numerator) * inf
        return _rounded(dtype, _weighed((Fraction(1), theta), (Fraction(-1), sign)))
    if isinstance(theta, float) or numerator == 0:
        return _rounded(dtype, theta)
    return _rounded_descent(dtype, theta, numerator, first, square=square, second=second, eps=eps)


def _rounded_descent(
    dtype: str, theta: Fraction, numerator: Fraction, first: Callable[[], arb] | Fraction, *, square: Fraction,
    second: Callable[[], arb] | Fraction, eps: Fraction,
) -> float:  # fmt: skip
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        root = rational_sqrt(square / second)
        if root is not None:
            return _rounded(dtype, theta - numerator / first / (root + eps))

    def enclosed() -> arb:
        root = (fraction_ball(square) / _ball(second)).sqrt()
        return fraction_ball(theta) - fraction_ball(numerator) / _ball(first) / (root + fraction_ball(eps))

    return round_real(dtype, enclosed)


def _sign(x: Fraction) -> float:
    return nan if x == 0 else 1.0 if x > 0 else -1.0


def _adam(
    dtype: str, step: float, numbers: Numbers, g: Extended, theta: float, m: float, v: float, largest: float | None,
    *, decoupled: bool,
) -> Left:  # fmt: skip
    """Adam's lines behind the gradient; AdamW's, with the decay first, where that is decoupled."""
    beta1, beta2, lr = Fraction(numbers.beta1), Fraction(numbers.beta2), numbers.lr
    has_nan = isnan(theta) or isnan(m) or (isinstance(g, float) and isnan(g))
    is_open = isinf(m) or v < 0
    decayed = _extended(theta)
    if decoupled and numbers.weight_decay:
        is_open = is_open or isinf(theta)
        decayed = _weighed((1 - lr * numbers.weight_decay, decayed)) if isfinite(theta) else decayed
    m_left = _weighed((beta1, _extended(m)), (1 - beta1, g))
    v_left = _weighed((beta2, _extended(v)), (1 - beta2, _square(g)))
    m_is_open = (isinf(m) or (isinstance(g, float) and isinf(g))) and not isnan(m) and not _is_nan(g)
    left: Left = {"exp_avgs": UNSPECIFIED if m_is_open else _rounded(dtype, m_left)}
    left["exp_avg_sqs"] = _rounded(dtype, v_left)
    used = v_left
    if largest is not None:
        if isnan(largest) != _is_nan(v_left):
            left["max_exp_avg_sqs"], is_open = UNSPECIFIED, True
        else:
            used = _larger(_extended(largest), v_left)
            left["max_exp_avg_sqs"] = _rounded(dtype, used)
    if has_nan:
        left["self"] = nan
    elif is_open:
        left["self"] = UNSPECIFIED
    else:
        corrections = [_complement(beta, step) for beta in (numbers.beta1, numbers.beta2)]
        numerator = m_left * lr if isinstance(m_left, Fraction) else _times(lr, m_left)
        left["self"] = _descended(dtype, decayed, numerator, corrections[0], used, corrections[1], numbers.eps)
    return left


def _is_nan(x: Extended) -> bool:
    return isinstance(x, float) and isnan(x)


def _larger(x: Extended, y: Extended) -> Extended:
    return nan if _is_nan(x) or _is_nan(y) else max(x, y)


# --- Lists of tensors -------------------------------------------------------------------------------------------------


def _checked(self: Sequence[RefTensor], scale: RefTensor | None, found: RefTensor | None, **lists: Sequence) -> None:
    """ValueError for lists of other lengths, and tensors of other dtypes or shapes, than those of the
    parameters."""
    if not self or any(one.dtype not in FLOAT_FORMATS for one in self):
        raise ValueError("an optimizer steps parameters, which are floats")
    for name, tensors in lists.items():
        if len(tensors) != len(self):
            raise ValueError(f"{name} has {len(tensors)} tensors beside {len(self)} parameters")
        if [(one.dtype, one.shape) for one in tensors] != [(one.dtype, one.shape) for one in self]:
            raise ValueError(f"{name} has other dtypes or shapes than the parameters")
    for name, one in (("grad_scale", scale), ("found_inf", found)):
        if one is not None and one.dtype != "float32":
            raise ValueError(f"{name} is a float32 tensor, found {one.dtype}")
    if scale is not None and not _number(scale) > 0 or found is not None and _number(found) not in (0, 1):
        raise NotImplementedError("a scale that is not positive, or something found that is neither 0 nor 1")


def _number(x: float | RefTensor) -> float:
    """A number, or the element of a 0-d tensor."""
    if isinstance(x, RefTensor) and x.shape:
        raise NotImplementedError(f"a number as a tensor of shape {x.shape}")
    return x.data[0] if isinstance(x, RefTensor) else x


def _step(x: RefTensor) -> float:
    if not _number(x) >= 1:
        raise NotImplementedError(f"a step number {_number(x)}")
    return _number(x)


def _each(
    lists: dict[str, Sequence[RefTensor]], step: Callable[[int, dict[str, float]], Left], scale: RefTensor | None,
    found: RefTensor | None,
) -> tuple[RefTensor, ...]:  # fmt: skip
    """`step(number, elements)` of the elements in one place of the tensors of that number, all lists one by one."""
    lists = {name: tensors for name, tensors in lists.items() if tensors}
    left = {name: [RefTensor(one.dtype, one.shape, list(one.data)) for one in each] for name, each in lists.items()}
    if found is None or _number(found) != 1:
        for number, parameter in enumerate(lists["self"]):
            for place in range(len(parameter.data)):
                elements = {name: tensors[number].data[place] for name, tensors in lists.items()}
                after = step(number, elements)
                if scale is not None:
                    unscaled = _unscaled(elements["grads"], _number(scale))
                    after["grads"] = _rounded(parameter.dtype, unscaled)
                for name, value in after.items():
                    left[name][number].data[place] = value
    return tuple(one for tensors in left.values() for one in tensors)


def _scale_of(scale: RefTensor | None) -> float | None:
    return None if scale is None else _number(scale)


def _adams(
    self: list[RefTensor], grads: list[RefTensor], exp_avgs: list[RefTensor], exp_avg_sqs: list[RefTensor],
    max_exp_avg_sqs: list[RefTensor], state_steps: list[RefTensor], lr: float | RefTensor, beta1: float, beta2: float,
    weight_decay: float, eps: float, amsgrad: bool, maximize: bool, grad_scale: RefTensor | None,
    found_inf: RefTensor | None, *, decoupled: bool,
) -> tuple[RefTensor, ...]:  # fmt: skip
    state = {"grads": grads, "exp_avgs": exp_avgs, "exp_avg_sqs": exp_avg_sqs}
    _checked(self, grad_scale, found_inf, **state, **({"max_exp_avg_sqs": max_exp_avg_sqs} if amsgrad else {}))
    if len(state_steps) != len(self) or (max_exp_avg_sqs and not amsgrad):
        raise ValueError("a step for each parameter, and the largest second moments with amsgrad alone")
    if not (0 <= beta1 < 1 and 0 <= beta2 < 1):
        raise NotImplementedError(f"averages that move by 1 - {beta1} and 1 - {beta2}")
    numbers = Numbers(Fraction(_number(lr)), Fraction(weight_decay), Fraction(eps), beta1, beta2)
    scale, coupled = _scale_of(grad_scale), Fraction(0) if decoupled else numbers.weight_decay

    def step(number: int, x: dict[str, float]) -> Left:
        g = _gradient(x["grads"], scale, x["self"], coupled, maximize)
        elements = (x["self"], x["exp_avgs"], x["exp_avg_sqs"], x.get("max_exp_avg_sqs"))
        return _adam(self[number].dtype, _step(state_steps[number]), numbers, g, *elements, decoupled=decoupled)

    return _each({"self": self, **state, "max_exp_avg_sqs": max_exp_avg_sqs}, step, grad_scale, found_inf)


@reference("aten::_fused_adam", "aten::_fused_adam.tensor_lr")
def adam(
    self: list[RefTensor], grads: list[RefTensor], exp_avgs: list[RefTensor], exp_avg_sqs: list[RefTensor],
    max_exp_avg_sqs: list[RefTensor], state_steps: list[RefTensor], lr: float | RefTensor, beta1: float, beta2: float,
    weight_decay: float, eps: float, amsgrad: bool, maximize: bool, grad_scale: RefTensor | None = None,
    found_inf: RefTensor | None = None,
) -> tuple[RefTensor, ...]:  # fmt: skip
    """torch.optim.Adam, whose weight decay is part of the gradient."""
    state = (exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
    numbers = (lr, beta1, beta2, weight_decay, eps, amsgrad, maximize)
    return _adams(self, grads, *state, *numbers, grad_scale, found_inf, decoupled=False)


@reference("aten::_fused_adamw", "aten::_fused_adamw.tensor_lr")
def adamw(
    self: list[RefTensor], grads: list[RefTensor], exp_avgs: list[RefTensor], exp_avg_sqs: list[RefTensor],
    max_exp_avg_sqs: list[RefTensor], state_steps: list[RefTensor], lr: float | RefTensor, beta1: float, beta2: float,
    weight_decay: float, eps: float, amsgrad: bool, maximize: bool, grad_scale: RefTensor | None = None,
    found_inf: RefTensor | None = None,
) -> tuple[RefTensor, ...]:  # fmt: skip
    """torch.optim.AdamW, which decays the parameter itself."""
    state = (exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
    numbers = (lr, beta1, beta2, weight_decay, eps, amsgrad, maximize)
    return _adams(self, grads, *state, *numbers, grad_scale, found_inf, decoupled=True)


@reference("aten::_fused_sgd", "aten::_fused_sgd.tensor_lr")
def sgd(
    self: list[RefTensor], grads: list[RefTensor], momentum_buffer_list: list[RefTensor], weight_decay: float,
    momentum: float, lr: float | RefTensor, dampening: float, nesterov: bool, maximize: bool, is_first_step: bool,
    grad_scale: RefTensor | None = None, found_inf: RefTensor | None = None,
) -> tuple[RefTensor, ...]:  # fmt: skip
    """torch.optim.SGD; on the first step the buffer is the gradient, undamped."""
    _checked(self, grad_scale, found_inf, grads=grads, **({"buffers": momentum_buffer_list} if momentum else {}))
    if momentum_buffer_list and not momentum:
        raise ValueError("buffers without momentum")
    mu, one, rate = Fraction(momentum), Fraction(1), Fraction(_number(lr))

    def step(number: int, x: dict[str, float]) -> Left:
        dtype, left = self[number].dtype, {}
        g = _gradient(x["grads"], _scale_of(grad_scale), x["self"], Fraction(weight_decay), maximize)
        if momentum:
            b = g if is_first_step else _weighed((mu, _extended(x["buffers"])), (one - Fraction(dampening), g))
            left["buffers"] = _rounded(dtype, b)
            g = _weighed((one, g), (mu, b)) if nesterov else b
        left["self"] = _rounded(dtype, _weighed((one, _extended(x["self"])), (-rate, g)))
        return left

    return _each({"self": self, "grads": grads, "buffers": momentum_buffer_list}, step, grad_scale, found_inf)


@reference("aten::_fused_adagrad.tensor_lr")
def adagrad(
    self: list[RefTensor], grads: list[RefTensor], state_sums: list[RefTensor], state_steps: list[RefTensor],
    lr: float | RefTensor, lr_decay: float, weight_decay: float, eps: float, maximize: bool,
    grad_scale: RefTensor | None = None, found_inf: RefTensor | None = None,
) -> tuple[RefTensor, ...]:  # fmt: skip
    """torch.optim.Adagrad."""
    _checked(self, grad_scale, found_inf, grads=grads, state_sums=state_sums)
    if len(state_steps) != len(self):
        raise ValueError("a step for each parameter")
    one = Fraction(1)

    def step(number: int, x: dict[str, float]) -> Left:
        dtype, before = self[number].dtype, Fraction(_step(state_steps[number])) - 1
        g = _gradient(x["grads"], _scale_of(grad_scale), x["self"], Fraction(weight_decay), maximize)
        total = _weighed((one, _extended(x["state_sums"])), (one, _square(g)))
        left: Left = {"state_sums": _rounded(dtype, total)}
        if isnan(x["self"]) or isnan(x["grads"]):
            left["self"] = nan
        elif x["state_sums"] < 0:
            left["self"] = UNSPECIFIED
        else:
            rate = Fraction(_number(lr)) / (one + before * Fraction(lr_decay))
            numerator = rate * g if isinstance(g, Fraction) else _times(rate, g)
            left["self"] = _descended(dtype, _extended(x["self"]), numerator, one, total, one, Fraction(eps))
        return left

    return _each({"self": self, "grads": grads, "state_sums": state_sums}, step, grad_scale, found_inf)


@reference("aten::_fused_adagrad")
def adagrad_with_steps(
    self: list[RefTensor], grads: list[RefTensor], state_sums: list[RefTensor], state_steps: list[RefTensor],
    lr: float, lr_decay: float, weight_decay: float, eps: float, maximize: bool,
    grad_scale: RefTensor | None = None, found_inf: RefTensor | None = None,
) -> tuple[RefTensor, ...]:  # fmt: skip
    """adagrad, and the steps that it was given."""
    numbers = (lr, lr_decay, weight_decay, eps, maximize)
    return *adagrad(self, grads, state_sums, state_steps, *numbers, grad_scale, found_inf), *state_steps
