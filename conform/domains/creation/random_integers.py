"""Random integers: the domains of the arguments."""

from __future__ import annotations

from collections.abc import Callable

from conform.domains.creation.constants import LIKE, OF_SIZE, SIZE, dtype_argument
from conform.domains.engine.arguments import Argument, dtype, integer, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Optional, Value
from conform.domains.engine.dtypes import FLOATS, REAL
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dtype_of, shape_of
from conform.domains.specs import spec
from conform.numerics.formats import format_named

INEXACT = "integers that the dtype does not hold become others, or are refused"
NO_SUCH = "where nothing is drawn, torch may take any dtype"
OFTEN = (2, 10, 3, 100)
Named = Callable[..., str]  # from arguments to the dtype that is drawn in


def _ends(dtype: str) -> tuple[int, int]:
    """The least and the largest integer between which the dtype has all."""
    fmt = format_named(dtype)
    if dtype in FLOATS:
        return -(2**fmt.precision), 2**fmt.precision
    return (fmt.min_value, fmt.max_value) if fmt.is_integer else (0, 1)


def _from(name: str, named: Named, *names: str) -> Argument:
    """The first of a range of integers."""
    least = Value.Ge(lambda *given: _ends(named(*given))[0], names, "the least integer of the dtype")
    most = Value.Le(
        lambda *given: min(_ends(named(*given))[1], 2**63 - 2), names, "the largest of the dtype, below 2^63 - 1"
    )
    return integer(name, least.unjudged(INEXACT), most.unjudged(INEXACT), Value.Be((0, -3, 1)))


def _to(name: str, after: str | None, named: Named, *names: str) -> Argument:
    """What follows the last of them: more than the argument `after`, or than 0."""
    above = Value.Gt(0) if after is None else Value.Gt(lambda low: low, (after,), after)
    often = Value.Be(OFTEN) if after is None else Value.Be(lambda low: (low + 1, low + 10, low + 100), (after,))
    most = Value.Le(
        lambda *given: min(_ends(named(*given))[1] + 1, 2**63 - 1), names, "the largest integer of the dtype + 1"
    )
    return integer(name, above, most.unjudged(INEXACT), often)


def _of_argument(dtype: str | None) -> str:
    return dtype if dtype in REAL else "int64"  # another is the dtype's own fault


def _of_both(self: MetaArgument, dtype: str | None) -> str:
    return _of_argument(dtype or self.dtype)


def _of_self(self: MetaArgument) -> str:
    return _of_argument(self.dtype)


NAMED = optional(
    dtype("dtype", Value.In(REAL).unjudged(NO_SUCH, lambda size: 0 in size)),
    Optional.Eq(False).unjudged("torch.randint documents int64, and the operator gives the default dtype"),
)
HELD = result(Dtype.Eq(_of_argument, ("dtype",)), OF_SIZE)
spec("aten::randint", _to("high", None, _of_argument, "dtype"), SIZE, NAMED, HELD)
spec(
    "aten::randint.low",
    _from("low", _of_argument, "dtype"),
    _to("high", "low", _of_argument, "dtype"),
    SIZE,
    NAMED,
    HELD,
)


LIKE_NAMED = dtype_argument(Value.In(REAL).unjudged(NO_SUCH, lambda self: self.numel == 0))
LIKE_SELF = result(LIKE, shape_of("self"))
ANY_REAL = tensor("self", Dtype.In(REAL).unjudged("with a dtype that is named torch takes any tensor"))
spec("aten::randint_like", ANY_REAL, _to("high", None, _of_both, "self", "dtype"), LIKE_NAMED, LIKE_SELF)
spec(
    "aten::randint_like.low_dtype",
    ANY_REAL,
    _from("low", _of_both, "self", "dtype"),
    _to("high", "low", _of_both, "self", "dtype"),
    LIKE_NAMED,
    LIKE_SELF,
)

REAL_SELF = tensor("self", Dtype.In(REAL).unjudged(NO_SUCH, lambda self: self.numel == 0))
AS_SELF = result(dtype_of("self"), shape_of("self"))
spec("aten::random", REAL_SELF, AS_SELF)
spec("aten::random.to", REAL_SELF, _to("to", None, _of_self, "self"), AS_SELF)
spec(
    "aten::random.from",
    REAL_SELF,
    _from("from", _of_self, "self"),
    optional(
        _to("to", "from", _of_self, "self"),
        Optional.NotIn(
            lambda self: (True,) if self.dtype in FLOATS else (), text="{True} where dtype(self) is a float"
        ).unjudged("up to which number a float dtype then goes is not documented"),
    ),
    AS_SELF,
)
