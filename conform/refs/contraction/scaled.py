"""Products of scaled matrices of 8-bit floats: exact sums, rounded once."""

from __future__ import annotations

from functools import reduce

from conform.refs.contraction.products import round_total
from conform.refs.exact.reals import add_exact, exact, multiply_exact
from conform.refs.exact.tensor import RefTensor
from conform.refs.references import reference

FACTORS = ("float8_e4m3fn", "float8_e5m2")
RESULTS = ("float16", "bfloat16", "float32")


@reference("aten::_scaled_mm")
def scaled_mm(
    self: RefTensor,
    mat2: RefTensor,
    scale_a: RefTensor,
    scale_b: RefTensor,
    bias: RefTensor | None = None,
    scale_result: RefTensor | None = None,
    out_dtype: str | None = None,
    use_fast_accum: bool = False,
) -> RefTensor:
    """The matrix product of self and mat2, each number multiplied by the scale that decodes it, and a bias added."""
    if self.dtype not in FACTORS or mat2.dtype not in FACTORS:
        raise ValueError(f"_scaled_mm multiplies 8-bit floats, found {self.dtype} and {mat2.dtype}")
    if len(self.shape) != 2 or len(mat2.shape) != 2 or self.shape[1] != mat2.shape[0]:
        raise ValueError(f"matrices of shapes {self.shape} and {mat2.shape} have no product")
    if out_dtype not in RESULTS or scale_result is not None or use_fast_accum:
        raise NotImplementedError("the reference gives wide results, computed in full")
    (rows, inner), columns = self.shape, mat2.shape[1]
    of_rows, of_columns = _decoding(scale_a, (rows, 1)), _decoding(scale_b, (1, columns))
    if bias is not None and (bias.shape != (columns,) or bias.dtype != out_dtype):
        raise NotImplementedError(f"the reference adds one {out_dtype} a column, found {bias.dtype} of {bias.shape}")
    data = []
    for i in range(rows):
        for j in range(columns):
            total = (0, 0) if bias is None else exact(bias.data[j])
            left = [multiply_exact(exact(x), of_rows[i]) for x in self.data[i * inner :][:inner]]
            right = [multiply_exact(exact(x), of_columns[j]) for x in mat2.data[j::columns]]
            products = (multiply_exact(x, y) for x, y in zip(left, right, strict=True))
            data.append(round_total(out_dtype, reduce(add_exact, products, total)))
    return RefTensor(out_dtype, (rows, columns), data)


def _decoding(scale: RefTensor, shape: tuple[int, int]) -> list:
    """The scale of each row, or column: one for all, or one each, in a column, or a row."""
    count = shape[0] * shape[1]
    if scale.dtype != "float32" or not (len(scale.data) == 1 or scale.shape == shape):
        raise NotImplementedError(f"expected one float32 for all or {shape}, found {scale.dtype}, {scale.shape}")
    numbers = [exact(x) for x in scale.data]
    return numbers * count if len(numbers) == 1 else numbers
