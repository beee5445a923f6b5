"""Systems of any square matrices, their inverses and determinants: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, boolean, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size
from conform.domains.engine.dtypes import component
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import dtype_of, not_complex_here, shape_of, shaped
from conform.domains.linalg.matrices import ROWS, batch_beside, matrix, stacked
from conform.domains.specs import spec

Sizes = Space | tuple[int, ...]


def _is_of_vectors(A: MetaArgument, B: MetaArgument) -> bool:
    return B.rank == 1 or B.shape == A.shape[:-1]


def _sizes(A: MetaArgument, rank: int, d: int, sizes: tuple[int, ...], is_left: bool) -> Sizes:
    """The next size of B behind `sizes`: that of vectors, if it may be a stack of these, or of matrices."""
    if rank == 1:
        return A.shape[-1:] if is_left else ()
    of_vectors = A.shape[d : d + 1] if is_left and rank == A.rank - 1 and sizes == A.shape[:d] else ()
    of_matrices = _size_of_matrices(A, rank, d, is_left) if _may_be_of_matrices(A, rank, sizes, is_left) else ()
    return (*of_vectors, *of_matrices) if isinstance(of_matrices, tuple) else of_matrices


def _size_of_matrices(A: MetaArgument, rank: int, d: int, is_left: bool) -> Sizes:
    if d < rank - 2:
        return batch_beside(A, rank, d)
    return A.shape[-1:] if d == rank - (2 if is_left else 1) else ANYTHING


def _may_be_of_matrices(A: MetaArgument, rank: int, sizes: tuple[int, ...], is_left: bool) -> bool:
    spaces = [_size_of_matrices(A, rank, d, is_left) for d in range(len(sizes))]
    return all(space is ANYTHING or size in space for size, space in zip(sizes, spaces, strict=True))


def _sides() -> Argument:
    return tensor(
        "B",
        dtype_of("A"),
        Rank.Ge(lambda is_left: 1 if is_left else 2, ("left",), "1, or 2 where left is False"),
        Size.In(
            _sizes,
            ("A", "rank", "d", "sizes", "left"),
            "{the sizes of A without the last dim, or size(A, -1) as rows, as columns where left is False, behind dims "
            "that broadcast with those of A}",
        ),
        Size.NotIn(
            lambda A, rank, d, sizes, is_left: A.shape[d : d + 1] if not is_left and rank == A.rank - 1 == d + 2
            and sizes == A.shape[:d] else (),
            ("A", "rank", "d", "sizes", "left"),
            "{size(A, d)} of the last dim but one, where left is False and B would be a stack of vectors",
        ),
        Size.Be(ROWS),
    )  # fmt: skip


def _solution(A: MetaArgument, B: MetaArgument) -> tuple[int, ...]:
    return A.shape[:-1] if _is_of_vectors(A, B) else stacked(A, B)


SOLUTION = result(dtype_of("A"), shaped(lambda A, B: _solution(A, B)))
LIKE_A = result(dtype_of("A"), shape_of("A"))
PIVOTS = result(Dtype.Eq("int32"), shaped(lambda A: A.shape[:-1]))
INFO = result(Dtype.Eq("int32"), shaped(lambda A: A.shape[:-2]))
A = matrix("A", lambda A: A.numel == 0)
OF_SELF = matrix("self")

spec("aten::_linalg_solve_ex", A, _sides(), boolean("left"), boolean("check_errors"), SOLUTION, LIKE_A, PIVOTS, INFO)
spec("aten::linalg_solve_ex", A, _sides(), boolean("left"), boolean("check_errors"), SOLUTION, INFO)
spec("aten::linalg_solve", A, _sides(), boolean("left"), SOLUTION)
spec("aten::linalg_inv_ex", A, boolean("check_errors"), LIKE_A, INFO)
spec("aten::linalg_inv", A, LIKE_A)
spec("aten::inverse", OF_SELF, result(dtype_of("self"), shape_of("self")))

DETERMINANT = result(dtype_of("A"), shaped(lambda A: A.shape[:-2]))
LOGARITHM = result(Dtype.Eq(lambda A: component(A.dtype), ("A",), "real dtype of A"), shaped(lambda A: A.shape[:-2]))
DETERMINANT_OF_SELF = result(dtype_of("self"), shaped(lambda self: self.shape[:-2]))

spec("aten::linalg_det", A, DETERMINANT)
spec("aten::_linalg_det", A, DETERMINANT, LIKE_A, PIVOTS)
spec("aten::det", OF_SELF, DETERMINANT_OF_SELF)
spec("aten::linalg_slogdet", A, DETERMINANT, LOGARITHM)
spec("aten::_linalg_slogdet", A, DETERMINANT, LOGARITHM, LIKE_A, PIVOTS)
spec(
    "aten::slogdet",
    OF_SELF,
    DETERMINANT_OF_SELF,
    result(Dtype.Eq(lambda self: component(self.dtype), ("self",), "real dtype of self"),
           shaped(lambda self: self.shape[:-2])),
)  # fmt: skip
spec("aten::logdet", matrix("self", lambda self: self.numel == 0, not_complex_here()), DETERMINANT_OF_SELF)
