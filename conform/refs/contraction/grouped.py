"""Products of groups of rows, columns or terms: exact sums, rounded once."""

from __future__ import annotations

from conform.refs.contraction.products import Elements, dot, one_dtype, round_total
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference

FACTORS = ("float64", "float32", "bfloat16", "float16")


@reference("aten::_grouped_mm")
def grouped_mm(
    self: RefTensor,
    mat2: RefTensor,
    offs: RefTensor | None = None,
    bias: RefTensor | None = None,
    out_dtype: str | None = None,
) -> RefTensor:
    """A product for each expert: offs[e] is where its part of what a matrix has of all experts ends, and the next one's
    begins; nobody's part is unspecified."""
    dtype = one_dtype("_grouped_mm", self, mat2)
    if dtype not in FACTORS or bias is not None or out_dtype not in (None, dtype):
        raise NotImplementedError(f"the reference multiplies {FACTORS}, adds nothing, and gives what it takes")
    ranks = len(self.shape), len(mat2.shape)
    if not set(ranks) <= {2, 3} or self.shape[-1] != mat2.shape[-2] or (offs is None) != (ranks == (3, 3)):
        raise ValueError(f"_grouped_mm: {self.shape} by {mat2.shape}, offsets {offs}")
    (rows, inner), columns = self.shape[-2:], mat2.shape[-1]
    left, right = Elements(self), Elements(mat2)

    def element(i: int, j: int, own: int, other: int, terms: range) -> int | float:
        """Of the row i of self's matrix `own` and the column j of mat2's matrix `other`."""
        lhs = left.at((own * rows + i) * inner + k for k in terms)
        rhs = right.at((other * inner + k) * columns + j for k in terms)
        return round_total(dtype, dot(lhs, rhs))

    whole, cells = range(inner), [(i, j) for i in range(rows) for j in range(columns)]
    if ranks == (3, 3):
        if self.shape[0] != mat2.shape[0]:
            raise ValueError(f"_grouped_mm: {self.shape[0]} matrices beside {mat2.shape[0]}")
        data = [element(i, j, b, b, whole) for b in range(self.shape[0]) for i, j in cells]
        return RefTensor(dtype, (self.shape[0], rows, columns), data)
    ends = _checked(offs, {(2, 3): rows, (3, 2): columns, (2, 2): inner}[ranks])
    if ranks == (2, 2):
        parts = [range(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
        data = [element(i, j, 0, 0, part) for part in parts for i, j in cells]
        return RefTensor(dtype, (len(ends), rows, columns), data)
    if len(ends) != (mat2 if ranks == (2, 3) else self).shape[0]:
        raise ValueError(f"_grouped_mm: {len(ends)} ends of groups, of matrices {self.shape} and {mat2.shape}")
    data = []
    for i, j in cells:
        expert = next((e for e, end in enumerate(ends) if (i if ranks == (2, 3) else j) < end), None)
        own, other = (0, expert) if ranks == (2, 3) else (expert, 0)
        data.append(UNSPECIFIED if expert is None else element(i, j, own, other, whole))
    return RefTensor(dtype, (rows, columns), data)


def _checked(offs: RefTensor, length: int) -> list[int]:
    if offs.dtype != "int32" or len(offs.shape) != 1 or any(not 0 <= end <= length for end in offs.data):
        raise ValueError(f"_grouped_mm: ends {offs.data} of {offs.dtype}, expected int32 from 0 to {length}")
    if offs.data != sorted(offs.data):
        raise NotImplementedError(f"_grouped_mm: the ends {offs.data} of groups do not ascend")
    return offs.data
