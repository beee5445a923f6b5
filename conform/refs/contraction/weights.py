"""Products with quantized weights: exact sums times a scale, rounded once."""

from __future__ import annotations

from functools import reduce

from conform.refs.contraction.products import round_total
from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.reals import add_exact, exact, multiply_exact
from conform.refs.exact.tensor import RefTensor
from conform.refs.references import reference


@reference("aten::_weight_int8pack_mm")
def weight_int8pack_mm(self: RefTensor, mat2: RefTensor, scales: RefTensor) -> RefTensor:
    """scales[j] times the sum over k of self[i, k] * mat2[j, k]."""
    (rows, inner), (columns, width) = self.shape, mat2.shape
    if category(self.dtype) != FLOAT or mat2.dtype != "int8" or scales.dtype != self.dtype:
        raise ValueError(f"_weight_int8pack_mm of {self.dtype}, {mat2.dtype} and {scales.dtype}")
    if inner != width or scales.shape != (columns,):
        raise ValueError(f"_weight_int8pack_mm of {self.shape}, {mat2.shape} and {scales.shape}")
    data = []
    for i in range(rows):
        for j in range(columns):
            pairs = zip(self.data[i * inner :][:inner], mat2.data[j * inner :][:inner], strict=True)
            total = reduce(add_exact, (multiply_exact(exact(x), exact(float(w))) for x, w in pairs), (0, 0))
            data.append(round_total(self.dtype, multiply_exact(total, exact(scales.data[j]))))
    return RefTensor(self.dtype, (rows, columns), data)
