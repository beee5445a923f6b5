"""The sampling keys of a node (init, low, high, mean, std, p): what they mean together, and which are errors.

A key that the method does not read is an error: it would promise what does not happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conform.suites import written_nodes as written
from conform.suites.dtypes import default_dtype, holds
from conform.suites.fields import Symbol, describe
from conform.suites.messages import Path
from conform.suites.nodes import Draw

if TYPE_CHECKING:
    from conform.suites.resolve import Scope

_READS = {
    "normal": ("mean", "std"),
    "uniform": ("low", "high"),
    "randint": ("low", "high"),
    "zeros": (),
    "ones": (),
    "bernoulli": ("p",),
}
_METHODS = {  # of each kind, the default first
    "float": ("normal", "uniform", "randint", "zeros", "ones", "bernoulli"),
    "complex": ("normal", "uniform", "randint", "zeros", "ones", "bernoulli"),
    "int": ("randint", "uniform", "zeros", "ones", "bernoulli"),
    "bool": ("bernoulli", "randint", "zeros", "ones"),
}
_KEYS = ("init", "low", "high", "mean", "std", "p")


def of_tensor(scope: Scope, node: written.Sampled, kind: str, path: Path) -> Draw:
    """How the elements of a tensor are drawn. `init` defaults to what the other keys ask for, else by kind."""
    init = node.init or _method_asked_for(node, kind)
    if init not in _METHODS[kind]:
        scope.report((*path, "init"), f"{init} does not draw {kind}; expected one of {', '.join(_METHODS[kind])}")
        return Draw(_METHODS[kind][0])
    unread = [key for key in _KEYS[1:] if node.is_written(key) and key not in _READS[init]]
    for key in unread:
        scope.report((*path, key), f"init {init} does not read {key!r}{_reads(init)}")
    if node.dtype and not holds(node.dtype, 0) and init != "ones" and not node.is_written("low"):
        scope.report((*path, "dtype"), f"{node.dtype} has positive numbers only; expected 'low' and 'high' above 0")
    low, high = _bounds(scope, node, kind, init == "randint" or kind in ("int", "bool"), path)
    if low is not None and low > high:
        scope.report((*path, "low"), f"low is {describe(low)}, greater than high, {describe(high)}")
    return Draw(
        init, low, high=high, mean=_mean(scope, node, path), std=_std(scope, node, path), p=_p(scope, node, path),
        is_default=not any(map(node.is_written, _KEYS)),
    )  # fmt: skip


def of_scalar(scope: Scope, node: written.ScalarNode, kind: str, path: Path) -> Draw:
    """How a Python scalar is drawn: numbers between `low` and `high` (required), booleans with probability `p`."""
    if kind == "bool":
        for key in ("low", "high"):
            if node.is_written(key):
                scope.report((*path, key), f"a bool scalar does not read {key!r}; it reads 'p'")
        return Draw("bernoulli", p=_p(scope, node, path))
    if node.is_written("p"):
        scope.report((*path, "p"), f"'p' is for bool scalars; this is {kind}")
    if not node.is_written("low"):
        scope.report(path, "a scalar without a value needs 'low' and 'high'")
        return Draw("zeros")
    low, high = _bounds(scope, node, kind, kind == "int", path)
    if low is not None and low >= high:
        scope.report((*path, "low"), f"low is {describe(low)}, not less than high, {describe(high)}")
    return Draw("randint" if kind == "int" else "uniform", low, high)


def refuse_with_value(scope: Scope, node: written.Ranged, path: Path) -> None:
    """Reports the sampling keys of a node whose value is written out."""
    for key in _KEYS:
        if node.is_written(key):
            scope.report((*path, key), f"{key!r} is not read where 'value' is given")


def probability(scope: Scope, value: int | float | Symbol, path: Path) -> float:
    """A number in [0, 1]; 0.5 where it is wrong."""
    found = scope.number(value, path)
    if found is not None and not 0 <= found <= 1:
        scope.report(path, f"expected a probability between 0 and 1, found {describe(found)}")
        return 0.5
    return 0.5 if found is None else float(found)


def _method_asked_for(node: written.Sampled, kind: str) -> str:
    default = _METHODS[kind][0]
    if node.is_written("low"):
        return "uniform" if kind in ("float", "complex") else "randint"
    if node.is_written("mean") or node.is_written("std"):
        return "normal"
    return "bernoulli" if node.is_written("p") else default


def _reads(init: str) -> str:
    return f"; it reads {', '.join(map(repr, _READS[init]))}" if _READS[init] else ""


def _bounds(
    scope: Scope, node: written.Ranged, kind: str, integral: bool, path: Path
) -> tuple[int | float | None, int | float | None]:
    """`low` and `high`, both None where not given or wrong."""
    if not node.is_written("low"):
        return None, None
    dtype = default_dtype(kind, node.dtype)
    found = []
    for key, value in (("low", node.low), ("high", node.high)):
        bound = scope.number(value, (*path, key))
        if bound is not None and integral and bound != int(bound):
            scope.report((*path, key), f"expected an integer, found {describe(bound)}")
            bound = None
        if bound is not None and not (holds(dtype, bound) and (not integral or holds("int64", bound))):
            limit = "int64, in which integers are drawn" if holds(dtype, bound) else dtype
            scope.report((*path, key), f"{describe(bound)} does not fit {limit}")
            bound = None
        found.append(int(bound) if integral and bound is not None else bound)
    return (None, None) if None in found else (found[0], found[1])


def _mean(scope: Scope, node: written.Sampled, path: Path) -> float:
    return _float64(scope, node.mean, 0.0, (*path, "mean")) if node.is_written("mean") else 0.0


def _std(scope: Scope, node: written.Sampled, path: Path) -> float:
    if not node.is_written("std"):
        return 1.0
    std = _float64(scope, node.std, 1.0, (*path, "std"))
    if std < 0:
        scope.report((*path, "std"), f"expected a non-negative standard deviation, found {describe(std)}")
    return std


def _p(scope: Scope, node: written.Ranged, path: Path) -> float:
    return probability(scope, node.p, (*path, "p")) if node.is_written("p") else 0.5


def _float64(scope: Scope, value: int | float | Symbol, default: float, path: Path) -> float:
    """A written number as float64, in which draws are made; the default where it is wrong."""
    found = scope.number(value, path)
    if found is not None and not holds("float64", found):
        scope.report(path, f"{describe(found)} does not fit float64, in which numbers are drawn")
        return default
    return default if found is None else float(found)
