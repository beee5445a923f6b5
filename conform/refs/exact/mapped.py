"""Results made element by element, and the refusal of dtypes by category."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conform.refs.exact.complex_parts import ComplexElement, map_complex
from conform.refs.exact.promotion import COMPLEX, FLOAT, Scalar, category, converted
from conform.refs.exact.tensor import RefTensor, Shape

Operands = tuple[str, Shape, list[list]]  # of `common_operands`: dtype, shape, the elements of each operand


def refuse(op: str, dtype: str, *kinds: int) -> None:
    """ValueError where torch has no kernel of `op` for the dtype's category."""
    if category(dtype) in kinds:
        raise ValueError(f"{op} is not defined for {dtype}")


def each(operands: Operands, element: Callable[..., Any], dtype: str | None = None) -> RefTensor:
    """`element` of the elements that meet at each index; in the operands' dtype, or in `dtype`."""
    common, shape, data = operands
    return RefTensor(dtype or common, shape, [element(*values) for values in zip(*data, strict=True)])


def unary(self: RefTensor, element: Callable[[Scalar], Any], dtype: str | None = None) -> RefTensor:
    """`element` of each element; in self's dtype, or in `dtype`."""
    return RefTensor(dtype or self.dtype, self.shape, [element(x) for x in self.data])


def real_function(
    op: str,
    self: RefTensor,
    element: Callable[[str, float], Any],
    complex_element: Callable[[str, complex], ComplexElement] | None = None,
) -> RefTensor:
    """`element(dtype, x)` of each number: integers and bools are first converted to float32, the default dtype (P18).

    ValueError for complex numbers without a `complex_element`.
    """
    if category(self.dtype) == COMPLEX and complex_element is not None:
        return map_complex(self, complex_element)
    refuse(op, self.dtype, COMPLEX)
    dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
    return RefTensor(dtype, self.shape, [element(dtype, x) for x in converted(self, dtype)])
