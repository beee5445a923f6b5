"""The ways of writing an operator's name: `exp`, `torch.exp`, `aten::exp`, `aten::exp.default`."""

from __future__ import annotations

from conform.call.schemas import operator_names, unknown_operator
from conform.errors import UsageError

_FUNCTIONAL = ("torch.nn.functional.", "torch.functional.")
# Where torch's Python name has a module, its operator has a prefix: torch.special.expit is aten::special_expit.
_PREFIXES = {"torch.special.": "special_", "torch.linalg.": "linalg_", "torch.fft.": "fft_"}
_PLAIN = ("torch.Tensor.", "torch.")


def operator_name(written: str) -> str:
    """`aten::exp` of `exp`, `torch.exp`, `torch.Tensor.exp`, `torch.ops.aten.exp` and itself; overloads are kept.

    A name that has a namespace already is not looked up. UsageError for one that leads to no operator, and for a name
    of torch.nn.functional: its functions are no operators, and their arguments stand in another order.
    """
    if "::" in written:
        return written
    if written.startswith("torch.ops."):
        namespace, _, name = written.removeprefix("torch.ops.").partition(".")
        return f"{namespace}::{name}"
    if written.startswith(_FUNCTIONAL):
        raise UsageError(f"{written!r} is a Python function, whose arguments its name does not tell: give the function "
                         "itself, or name the operator (aten::NAME; `conform ops` lists them)")  # fmt: skip
    name = f"aten::{_without_modules(written)}"
    if name.removesuffix(".default") not in operator_names():
        raise unknown_operator(written if "." not in written else name)
    return name


def _without_modules(written: str) -> str:
    for module, prefix in _PREFIXES.items():
        if written.startswith(module):
            return prefix + written.removeprefix(module)
    for module in _PLAIN:
        if written.startswith(module):
            return written.removeprefix(module)
    return written
