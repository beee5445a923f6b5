"""Which defects inside the models of examples/models their bounds tell apart: the largest error of a result in units of
what is allowed of inputs that are drawn, above 1 where it fails, of torch as it is and of other honest ways to compute
them, and with each defect, where that changes anything.
`python benchmarks/model_defects.py [WORD ...]`, of the models whose names have one of the words.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tabulate import tabulate
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

import conform
from conform.backends.interpreter import to_numpy, to_torch
from conform.backends.leaves import leaves
from conform.bisect.subject import subject_of
from conform.interp.golden import Golden
from conform.judging.likely import LikelyErrors, likely_errors

MODELS = Path(__file__).parents[1] / "examples" / "models"
BUILDS = (
    "lstm.py::build", "lstm.py::build_gru", "transformer.py::build_attention", "transformer.py::build_multihead",
    "transformer.py::build", "resnet.py::build", "gpt.py::build", "llama.py::build", "mixture.py::build",
)  # fmt: skip
DTYPES = ("float32", "float64", "bfloat16", "float16")
Calls = Callable[[Callable, tuple, dict], Any]


class Replaced(TorchFunctionMode):
    """Within, `call` does what torch's functions do."""

    def __init__(self, call: Calls) -> None:
        super().__init__()
        self.call = call

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return self.call(function, args, kwargs or {})


def other_gelu(function: Callable, args: tuple, kwargs: dict) -> Any:
    if function is functional.gelu:
        other = "none" if kwargs.get("approximate") == "tanh" else "tanh"
        return function(args[0], approximate=other)
    return function(*args, **kwargs)


def shifted_mask(function: Callable, args: tuple, kwargs: dict) -> Any:
    if function is functional.scaled_dot_product_attention:
        query, key = args[0], args[1]
        mask = kwargs.pop("attn_mask", None)
        if kwargs.pop("is_causal", False):
            mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
        if mask is not None:
            mask = mask | mask.roll(1, -1)
        return function(*args, attn_mask=mask, **kwargs)
    return function(*args, **kwargs)


def tf32(function: Callable, args: tuple, kwargs: dict) -> Any:
    if function in (functional.linear, torch.matmul, torch.Tensor.matmul, torch.conv2d, functional.conv2d):
        args = (*map(cut, args[:2]), *args[2:])
    return function(*args, **kwargs)


def cut(x: torch.Tensor) -> torch.Tensor:
    """Rounded to 10 bits behind the point, float32's tensor cores' format."""
    return ((x.view(torch.int32) + (1 << 12)) & ~((1 << 13) - 1)).view(torch.float32) if x.dtype == torch.float32 else x


def half_sums(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Linear layers that round every partial sum to bfloat16, or to the half type that they are in."""
    if function is not functional.linear:
        return function(*args, **kwargs)
    x, weight, bias = (*args, None)[:3]
    kind = torch.bfloat16 if x.dtype == torch.float32 else x.dtype
    total = torch.zeros(*x.shape[:-1], weight.shape[0], dtype=kind)
    for at in range(weight.shape[1]):
        total = (total.float() + x[..., at, None].float() * weight[:, at].float()).to(kind)
    return total.to(x.dtype) if bias is None else total.to(x.dtype) + bias


def written_out(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Attention by its formula, every step rounded: an honest way."""
    if function is not functional.scaled_dot_product_attention:
        return function(*args, **kwargs)
    query, key, value = args
    if kwargs.get("enable_gqa"):
        key, value = (one.repeat_interleave(query.shape[-3] // one.shape[-3], -3) for one in (key, value))
    scores = query @ key.mT * kwargs.get("scale", query.shape[-1] ** -0.5)
    mask = kwargs.get("attn_mask")
    if kwargs.get("is_causal"):
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ value


def no_residual() -> Calls:
    """The first sum of two computed tensors of three dims or more is the second of them."""
    sums = iter(range(1000))

    def call(function: Callable, args: tuple, kwargs: dict) -> Any:
        is_sum = function in (torch.Tensor.add, torch.Tensor.__add__, torch.add)
        if is_sum and all(isinstance(one, torch.Tensor) and one.ndim > 2 for one in args) and next(sums) == 0:
            return args[1]
        return function(*args, **kwargs)

    return call


def other_eps(module: nn.Module) -> None:
    for part in module.modules():
        if hasattr(part, "eps"):
            part.eps *= 10


def transposed(module: nn.Module) -> None:
    largest = max((one for one in module.parameters() if one.ndim > 1), key=torch.numel, default=None)
    if largest is not None:
        largest.copy_(largest.flatten(1).T.reshape(largest.shape))


def no_bias(module: nn.Module) -> None:
    for name, one in module.named_parameters():
        if "bias" in name:
            one.zero_()


def query_off_by_one(module: nn.Module) -> None:
    if hasattr(module, "rotated"):
        rotated, calls = module.rotated, iter(range(1000))
        moved = copy.deepcopy(module)
        moved.cosine, moved.sine = module.cosine.roll(-1, 0), module.sine.roll(-1, 0)
        module.rotated = lambda x: (type(module).rotated(moved, x) if next(calls) % 2 == 0 else rotated(x))


def stale_row(module: nn.Module) -> None:
    if type(module).__name__ == "Decoder":
        forward = module.forward
        module.forward = lambda tokens, cache: forward(
            tokens, [(torch.cat([k[:, :, :-1], k[:, :, -2:-1]], 2), v) for k, v in cache]
        )


def one_expert(module: nn.Module) -> None:
    if hasattr(module, "chosen"):
        module.chosen = 1


CHANGES = {
    "eps times 10": other_eps, "transposed weight": transposed, "no bias": no_bias,
    "rotation off by one": query_off_by_one, "stale key": stale_row, "one expert": one_expert,
}  # fmt: skip
CALLS: dict[str, Callable[[], Calls]] = {
    "other gelu": lambda: other_gelu, "mask shifted by one": lambda: shifted_mask, "TF32": lambda: tf32,
    "sums in the half type": lambda: half_sums, "no residual": no_residual,
    "attention written out": lambda: written_out,
}  # fmt: skip


@contextmanager
def changed(module: nn.Module, name: str) -> Iterator[nn.Module]:
    """A module with a defect, by its name; as it is where that is none."""
    wrong = copy.deepcopy(module)
    if name in CALLS:
        with Replaced(CALLS[name]()):
            yield wrong
        return
    CHANGES.get(name, lambda _: None)(wrong)
    yield wrong


HONEST = ("as it is", "attention written out", "all in float32")  # the last of half types alone


def converted(value: Any, kind: torch.dtype) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(converted(one, kind) for one in value)
    return value.to(kind) if value.is_floating_point() else value


def tensors(value: Any) -> Any:
    return type(value)(map(tensors, value)) if isinstance(value, list | tuple) else to_torch(value)


def worst(truth: Any, likely: Sequence[Golden | None], module: nn.Module, args: list[Any], name: str) -> float:
    """The largest error in units of what is allowed, over all outputs: of the bound, and of what independent roundings
    come to where that is asked, too; NaN where nothing is bounded."""
    with torch.no_grad(), changed(module, name) as other:
        if name == "all in float32":
            kind = truth.outcome.goldens[0].format.name
            result = converted(other.float()(*converted(args, torch.float32)), getattr(torch, kind))
        else:
            result = other(*args)
    flat = tuple(leaves(result))
    bounds, errors = truth.bound_ulp, truth.error_ulp(flat if len(flat) > 1 else flat[0])
    pairs = zip(bounds, errors, strict=True) if isinstance(bounds, tuple) else [(bounds, errors)]
    with np.errstate(all="ignore"):
        ratios = [np.where(np.isfinite(b) & (b > 0), e / b, np.where(e > 0, np.nan, 0.0)) for b, e in pairs]
    together = map(share_of_likely, truth.outcome.goldens, likely, flat)
    return max(*(float(np.nanmax(one)) for one in ratios), *together)


def share_of_likely(golden: Golden, likely: Golden | None, actual: torch.Tensor) -> float:
    if likely is None or golden.budget is None:
        return 0.0
    errors = LikelyErrors(golden, likely, to_numpy(actual))
    errors.add(slice(0, golden.value.size), np.ones(golden.value.size, bool))
    return min(errors.largest_shares)


def rows(build: str) -> Iterator[list[Any]]:
    found: dict[str, list[float]] = {}
    for dtype in DTYPES:
        subject = subject_of(str(MODELS / build), (), 0, dtype)
        module, args = subject.module.module, [tensors(one) for one in subject.args]
        truth = conform.golden(module, *args)
        likely = likely_errors(truth.call, truth.outcome)
        for name in dict.fromkeys((*HONEST, *CHANGES, *CALLS)):
            would_be_narrower = name == "all in float32" and dtype == "float64"
            found.setdefault(name, []).append(np.nan if would_be_narrower else worst(truth, likely, module, args, name))
    yield [build, "honest, at most", *map(np.nanmax, zip(*(found[name] for name in HONEST), strict=True))]
    plain = found["as it is"]
    yield from ([build, name, *each] for name, each in found.items() if name not in HONEST and each != plain)


def main() -> None:
    chosen = [build for build in BUILDS if any(word in build for word in sys.argv[1:])] or BUILDS
    table = [row for build in chosen for row in rows(build)]
    print(tabulate(table, headers=["model", "defect", *DTYPES], tablefmt="github", floatfmt=".2g"))


if __name__ == "__main__":
    main()
