"""What a program may write of its tensors beside `conform.ops`: Python's operators, indices, and torch's methods."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.call.schemas import OpSchema, every_overload, operator_names
from conform.errors import NoGolden

CONVERSIONS = {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
    "half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64",
}  # fmt: skip
"""The methods of torch's tensors that convert to a dtype, `x.float()`."""


class Syntax:
    """A tensor as Python writes it: `x + y` is `ops.add(x, y)`, `x > 0` is `ops.gt(x, 0)`, `x.sum(dim)` is
    `ops.sum(x, dim)`, and `x[0]` is `ops.select(x, 0, 0)`. Who has it has a `shape` and the name of a `dtype`."""

    shape: tuple[int, ...]
    dtype: str

    __array_ufunc__ = None  # numpy arrays on the left leave operators to this class
    __hash__ = object.__hash__  # `==` compares elements

    # --- Arithmetic ---------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return _apply("add", self, other)

    def __sub__(self, other: Any) -> Any:
        return _apply("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _apply("mul", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Any:
        return _apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("div", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _apply("floor_divide", self, other)

    def __mod__(self, other: Any) -> Any:
        return _apply("remainder", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _apply("remainder", other, self)

    def __matmul__(self, other: Any) -> Any:
        return _apply("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _apply("matmul", other, self)

    def __pow__(self, exponent: Any) -> Any:
        return _apply("pow", self, exponent)

    def __rpow__(self, base: Any) -> Any:
        return _apply("pow", base, self)

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return _apply("neg", self)

    def __abs__(self) -> Any:
        return _apply("abs", self)

    # --- Comparisons and bits -----------------------------------------------------------------------------------------

    def __eq__(self, other: Any) -> Any:
        return _apply("eq", self, other) if _has_elements(other) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return _apply("ne", self, other) if _has_elements(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return _apply("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return _apply("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return _apply("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return _apply("ge", self, other)

    def __and__(self, other: Any) -> Any:
        return _apply("bitwise_and", self, other)

    def __or__(self, other: Any) -> Any:
        return _apply("bitwise_or", self, other)

    def __xor__(self, other: Any) -> Any:
        return _apply("bitwise_xor", self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Any:
        return _apply("bitwise_not", self)

    # --- Indices and shape --------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        return _indexed(self, index)

    def __len__(self) -> int:
        if not self.shape:
            raise NoGolden("a tensor of no dimension has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(_apply("unbind", self))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def T(self) -> Any:  # noqa: N802 (torch's name)
        return _apply("permute", self, list(reversed(range(self.ndim))))

    @property
    def mT(self) -> Any:  # noqa: N802 (torch's name)
        return _apply("transpose", self, -2, -1)

    def dim(self) -> int:
        return self.ndim

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        return prod(self.shape)

    # --- Methods ------------------------------------------------------------------------------------------------------

    def to(self, dtype: object) -> Any:
        """The numbers rounded to another dtype, "bfloat16" or torch.bfloat16: the one step of a program that rounds."""
        return _apply("_to_copy", self, dtype=str(dtype).removeprefix("torch."))

    def type_as(self, other: Syntax) -> Any:
        return self.to(other.dtype)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in CONVERSIONS:
            return partial(self.to, CONVERSIONS[name])
        if name.startswith("_") or f"aten::{name}" not in operator_names():
            raise AttributeError(f"a number of a program has no attribute {name!r}")
        return partial(_method, name, self)

    # --- What would need the elements themselves ----------------------------------------------------------------------

    def __bool__(self, *_: Any) -> bool:
        raise NoGolden("a program is straight: its steps must not depend on its numbers (ops.where chooses by element)")

    __float__ = __int__ = __index__ = __contains__ = __bool__  # type: ignore[assignment]

    @classmethod
    def __torch_function__(cls, function: Any, *_: Any, **__: Any) -> Any:
        name = getattr(function, "__name__", function)
        raise NoGolden(f"torch's {name} takes no number of a program: write it with conform.ops and numpy arrays, or "
                       "give a torch.nn.Module as the reference, whose forward is written with torch")  # fmt: skip

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NoGolden("a number of a program is not handed to numpy: use conform.ops")


def _apply(name: str, *args: Any, **kwargs: Any) -> Any:
    from conform.interp.program.apply import apply  # which needs this class

    return apply(f"aten::{name}", *args, **kwargs)


def _has_elements(value: Any) -> bool:
    return isinstance(value, Syntax | np.ndarray | numbers.Number)


def _method(name: str, self: Any, *args: Any, **kwargs: Any) -> Any:
    """`x.name(*args)`; sizes and dims may stand without brackets, as in `x.reshape(2, -1)`, where they are all that the
    operator takes by place and no overload takes the one integer that there is."""
    if args and all(type(one) is int for one in args):
        taken = list(map(_behind_self, every_overload(f"aten::{name}")))
        if ["int[]"] in taken and (len(args) > 1 or ["int"] not in taken):
            return _apply(name, self, list(args), **kwargs)
    return _apply(name, self, *args, **kwargs)


def _behind_self(overload: OpSchema) -> list[str]:
    """The types of what the overload takes by place behind its first argument: int[] whatever their number, int whoever
    tells it."""
    taken = [one.type.replace("SymInt", "int") for one in overload.arguments[1:] if not one.kwarg_only]
    return ["int[]" if one.startswith("int[") else one for one in taken]


def _indexed(x: Any, index: Any) -> Any:
    """`x[index]`, as torch reads it: integers select, slices cut and None adds a dim, from the left to the right; what
    tensors and lists among the items choose is chosen behind that, by `ops.index`, which refuses masks."""
    dim, chosen = 0, {}
    for item in _written_out(index, x.ndim):
        if isinstance(item, Syntax | np.ndarray | list):
            chosen[dim], dim = _tensor(item), dim + 1
        elif item is None:
            x, dim = _apply("unsqueeze", x, dim), dim + 1
        elif isinstance(item, slice):
            x, dim = _sliced(x, dim, item), dim + 1
        elif isinstance(item, int | np.integer) and not isinstance(item, bool):
            x = _apply("select", x, dim, int(item))
        else:
            raise NoGolden(f"found the index {item!r}; expected integers, slices, None, ... and tensors")
    if not chosen:
        return x
    return _apply("index", x, [chosen.get(at) for at in range(max(chosen) + 1)])


def _written_out(index: Any, ndim: int) -> Sequence[Any]:
    """The items of an index, with a full slice for each dim that `...` stands for."""
    items = list(index) if isinstance(index, tuple) else [index]
    places = [at for at, item in enumerate(items) if item is Ellipsis]
    if not places:
        return items
    if len(places) > 1:
        raise NoGolden("an index has one ... at most")
    left = ndim - sum(item is not None for item in items) + 1
    return [*items[: places[0]], *[slice(None)] * left, *items[places[0] + 1 :]]


def _sliced(x: Any, dim: int, part: slice) -> Any:
    return x if part == slice(None) else _apply("slice", x, dim, part.start, part.stop, part.step or 1)


def _tensor(item: Any) -> Any:
    return np.asarray(item, np.int64) if isinstance(item, list) else item
