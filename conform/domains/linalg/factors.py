"""LU factors: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, boolean, index_tensor, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.linalg.matrices import DTYPES, ROWS, any_matrix
from conform.domains.specs import spec

WITHOUT_PIVOTS = "torch documents it of CUDA alone"

A = any_matrix("A", lambda A: A.numel == 0)
PIVOT = boolean("pivot", Value.Eq(True).unjudged(WITHOUT_PIVOTS))
LIKE_A = result(dtype_of("A"), shape_of("A"))
PIVOTS = result(Dtype.Eq("int32"), shaped(lambda A: (*A.shape[:-2], min(A.shape[-2:]))))
INFO = result(Dtype.Eq("int32"), shaped(lambda A: A.shape[:-2]))

spec("aten::linalg_lu_factor_ex", A, PIVOT, boolean("check_errors"), LIKE_A, PIVOTS, INFO)
spec("aten::linalg_lu_factor", A, PIVOT, LIKE_A, PIVOTS)
spec(
    "aten::linalg_lu",
    A,
    PIVOT,
    result(dtype_of("A"), shaped(lambda A: (*A.shape[:-1], A.shape[-2]))),
    result(dtype_of("A"), shaped(lambda A: (*A.shape[:-1], min(A.shape[-2:])))),
    result(dtype_of("A"), shaped(lambda A: (*A.shape[:-2], min(A.shape[-2:]), A.shape[-1]))),
)

LU_DATA = tensor(
    "LU_data", Dtype.In(DTYPES).unjudged("torch moves elements of any dtype"), Rank.Ge(2), Size.Be(ROWS)
)
NOTHING = (0,)
NOT_READ = "torch does not look at pivots that are not unpacked", lambda unpack_pivots: not unpack_pivots


def _pivots(name: str, both: str) -> Argument:
    """The places of rows, counted from 1, that belong to the factors `both`, each a step's."""
    return index_tensor(
        name,
        Dtype.Eq("int32").unjudged(*NOT_READ),
        Rank.Eq(lambda one: one.rank - 1, (both,), f"rank({both}) - 1").unjudged(*NOT_READ),
        Size.Eq(
            lambda one, d: min(one.shape[-2:]) if d == one.rank - 2 else one.shape[d],
            (both, "d"),
            f"size({both}, d), of the last dim the smaller one of the last two of {both}",
        ).unjudged("torch does not say what pivots of other factors are"),
        Value.Ge(1).unjudged(*NOT_READ),
        Value.Le(lambda one: one.shape[-2], (both,), f"size({both}, -2)").unjudged(*NOT_READ),
    )


def _shape(of: tuple[int, ...], is_unpacked: bool) -> tuple[int, ...]:
    return of if is_unpacked else NOTHING


spec(
    "aten::lu_unpack",
    LU_DATA,
    _pivots("LU_pivots", "LU_data"),
    boolean("unpack_data"),
    boolean("unpack_pivots"),
    result(dtype_of("LU_data"), shaped(
        lambda LU_data, unpack_pivots: _shape((*LU_data.shape[:-1], LU_data.shape[-2]), unpack_pivots))),
    result(dtype_of("LU_data"), shaped(
        lambda LU_data, unpack_data: _shape((*LU_data.shape[:-1], min(LU_data.shape[-2:])), unpack_data))),
    result(dtype_of("LU_data"), shaped(
        lambda LU_data, unpack_data: _shape((*LU_data.shape[:-2], min(LU_data.shape[-2:]), LU_data.shape[-1]),
                                            unpack_data))),
)  # fmt: skip
