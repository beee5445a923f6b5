"""What specs say again and again: groups of constraints with a name.

tensor("other", broadcastable_with("self"))        dim("dim", dim_of("self"))        result(shape_of("self"))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from conform.domains.engine.arguments import Argument, scalar
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.dtypes import ALL, COMPLEX, category, common_dtype, component, is_integral, real_result
from conform.domains.engine.mathematics import shown
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space, integers_between
from conform.numerics.formats import format_named


def dim_of(name: str) -> tuple[Constraint, ...]:
    """A dim of the tensor: -max(rank, 1) <= dim < max(rank, 1); a 0-d tensor counts as one of one dimension."""
    return (
        Value.Ge(lambda operand: -max(operand.rank, 1), (name,), f"-max(rank({name}), 1)"),
        Value.Lt(lambda operand: max(operand.rank, 1), (name,), f"max(rank({name}), 1)"),
    )


def distinct_dims_of(name: str) -> tuple[Constraint, ...]:
    """For each element of a list: a dim of the tensor that none before it names, from either end."""
    return (
        *dim_of(name),
        Value.NotIn(
            lambda operand, previous: _named_before(previous, max(operand.rank, 1)),
            (name, "previous"),
            f"the dims before it (modulo rank({name}))",
        ),
    )


def distinct_dims(name: str) -> tuple[Constraint, ...]:
    """A list of dims of the tensor without repetition, empty up to all of them."""
    most = Length.Le(lambda operand: max(operand.rank, 1), (name,), f"max(rank({name}), 1)")
    return (most, *distinct_dims_of(name))


def _named_before(previous: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The dims that an element must not name; none where the list has too many, which is its length's fault."""
    return tuple(place for dim in previous for place in _aliases(dim, rank)) if len(previous) < rank else ()


def _aliases(dim: int, rank: int) -> tuple[int, int]:
    return dim % rank, dim % rank - rank


def shape_of(name: str) -> tuple[Constraint, ...]:
    """The shape of the tensor."""
    return (
        Rank.Eq(lambda operand: operand.rank, (name,), f"rank({name})").same(name),
        Size.Eq(lambda operand, d: operand.size(d), (name, "d"), f"size({name}, d)").same(name),
    )


def dtype_of(name: str) -> Constraint:
    """The dtype of the tensor."""
    return Dtype.Eq(lambda operand: operand.dtype, (name,), f"dtype({name})").same(name)


def shaped(shape: Callable[..., Sequence[int]], text: str = "shape") -> tuple[Constraint, ...]:
    """The shape that a function of other arguments gives: `shaped(lambda self, dim: ...)`."""
    names = shape.__code__.co_varnames[: shape.__code__.co_argcount]
    return (
        Rank.Eq(lambda *operands: len(shape(*operands)), names, f"rank of {text}"),
        Size.Eq(lambda d, *operands: shape(*operands)[d], ("d", *names), f"{text}[d]"),
    )


def sized(sizes: Callable[..., Sequence[int | None]], text: str) -> Constraint:
    """The sizes that a function of other arguments gives, in order of the dims; None, and what is beyond them: any."""
    names = sizes.__code__.co_varnames[: sizes.__code__.co_argcount]

    def allowed(d: int, *operands: Any) -> Space | tuple[int, ...]:
        given = sizes(*operands)
        return ANYTHING if d >= len(given) or given[d] is None else (given[d],)

    return Size.In(allowed, ("d", *names), text)


def broadcastable_with(*names: str) -> tuple[Constraint, ...]:
    """Every size 1, or that of each tensor in its place from the end, where that is not 1.

    Tensors that broadcast with each other two by two broadcast all together.
    """
    return tuple(
        Size.In(lambda one, rank, d: _sizes_beside(one, d - rank), (name, "rank", "d"), f"{{1, size({name}, d)}}")
        for name in names
    )


def _sizes_beside(operand: MetaArgument, d: int) -> Space | tuple[int, ...]:
    """What broadcasts with dim d of the operand; d is negative, counted from the end."""
    if operand.is_none or -d > operand.rank or operand.shape[d] == 1:
        return ANYTHING
    return (1, operand.shape[d])


def broadcast_of(*names: str) -> tuple[Constraint, ...]:
    """The shape to which the tensors broadcast."""
    return (
        Rank.Eq(lambda *operands: len(broadcast(*operands)), names, f"rank of the broadcast of {', '.join(names)}"),
        Size.Eq(lambda d, *operands: broadcast(*operands)[d], ("d", *names), f"size d of that of {', '.join(names)}"),
    )


def broadcast(*operands: MetaArgument) -> tuple[int, ...]:
    """The broadcast shape of operands of which any two broadcast with each other."""
    return broadcast_sizes(*(operand.shape for operand in operands))


def broadcast_sizes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The broadcast shape of shapes of which any two broadcast with each other."""
    rank = max(map(len, shapes))
    sizes = []
    for d in range(-rank, 0):
        found = {shape[d] for shape in shapes if -d <= len(shape)} - {1}
        sizes.append(found.pop() if found else 1)
    return tuple(sizes)


def are_broadcast(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two shapes broadcast with each other."""
    beside = zip(reversed(a), reversed(b), strict=False)
    return all(one == other or 1 in (one, other) for one, other in beside)


def nonzero_if_integer(*names: str) -> Constraint:
    """No zero where the dtype, or the common dtype with the operands `names`, is an integer type.

    Lenient by policy P11: torch raises on the CPU and returns a value on CUDA.
    """
    new = Value.NotIn(
        lambda own, *others: (0,) if is_integral(common_dtype(own, *others)) else (),
        ("", *names),
        f"{{0}} where {'the common dtype with ' + ', '.join(names) if names else 'its dtype'} is integral",
    ).lenient("P11: integer division by zero is unspecified")
    new.is_divisor = True
    return new


def positive_in(dtype: str, numbers: np.ndarray) -> np.ndarray:
    """Positive numbers in the dtype; rounded up in one of integers, in which a fraction would be 0."""
    return (np.ceil(numbers) if is_integral(dtype) else numbers).astype(dtype)


def divisors(number: int) -> tuple[int, ...]:
    """The positive integers that divide a positive one, in rising order."""
    low = [one for one in range(1, math.isqrt(max(number, 0)) + 1) if number % one == 0]
    return (*low, *(number // one for one in reversed(low) if one * one != number))


def typically(low: float, high: float) -> Constraint:
    """Elements preferably from low to high: elsewhere the results are NaN, or all alike."""
    return Value.Be(REALS.within(low, high))


NO_COMPLEX_SEMANTICS = "torch takes complex numbers, and the kit has no semantics for them"


def not_complex_here() -> Constraint:
    """No complex tensors: a limit of the kit, not of the op."""
    return Dtype.NotIn(COMPLEX).lenient(NO_COMPLEX_SEMANTICS)


def no_complex32_with(name: str) -> Constraint:
    """No complex operand beside float16 ones, which together may be complex32: the kit has no such format."""
    return Dtype.NotIn(
        lambda operand: (
            _COMPLEX_KINDS if operand.dtype == "float16" else _HALF if operand.dtype in _COMPLEX_KINDS else ()
        ),
        (name,),
        f"what makes complex32 with dtype({name})",
    ).lenient("torch has complex32, which the kit has not")


_COMPLEX_KINDS, _HALF = (*COMPLEX, "complex"), ("float16",)


def no_complex_number_here() -> Constraint:
    """No complex Python number: a limit of the kit, not of the op."""
    return Dtype.Ne("complex").lenient(NO_COMPLEX_SEMANTICS)


def dtype_common_to(*names: str) -> Constraint:
    """The common dtype of the operands, by type promotion."""
    return Dtype.Eq(lambda *operands: common_dtype(*operands), names, f"common dtype of {', '.join(names)}")


def real_dtype_common_to(*names: str) -> Constraint:
    """The common dtype of the operands, float32 where that is integral."""
    text = f"common dtype of {', '.join(names)}, float32 for an integral one"
    return Dtype.Eq(lambda *operands: real_result(common_dtype(*operands)), names, text)


def not_both(dtypes: Sequence[str], name: str) -> Constraint:
    """None of the dtypes, where the operand `name` has one of them too."""
    return Dtype.NotIn(
        lambda operand: dtypes if operand.dtype in dtypes else (),
        (name,),
        f"{shown(dtypes)} where dtype({name}) is too",
    )


def weight_of(*names: str) -> tuple[Constraint, ...]:
    """alpha and beta: a number that the common dtype of the operands can hold.

    Bools are for bool operands alone, floats for floats and complex numbers, complex numbers for complex ones.
    """
    common = f"common dtype of {', '.join(names)}"
    return (
        Dtype.In(lambda *operands: _kinds_for(common_dtype(*operands)), names, f"the kinds for the {common}"),
        Value.In(
            lambda own, *operands: _integers_of(common_dtype(*operands)) if own.dtype == "int" else ANYTHING,
            ("", *names),
            f"the range of an integer {common} (P19)",
        ),
        Value.In(
            lambda own, *operands: _reals_of(own.dtype, common_dtype(*operands)),
            ("", *names),
            f"the finite range of a float {common}",
        ).lenient("a kernel may hold the factor in the type it computes in"),
    )


def parameter(name: str, *constraints: Constraint) -> Argument:
    """A real number of ordinary size that shapes a function."""
    size = Value.In(
        lambda own: REALS.within(-1e4, 1e4) if own.dtype in ("int", "float") else ANYTHING, ("",), "[-10^4, 10^4]"
    ).unjudged("half types may not hold larger ones, or their products")
    return scalar(name, Dtype.Ne("complex"), size, *constraints)


def written_into(name: str) -> tuple[Constraint, ...]:
    """A Python number that becomes an element of the tensor: `number_for` its dtype."""
    return number_for(lambda operand: operand.dtype, name, text=f"dtype({name})")


def number_for(
    dtype: Callable[..., str | None], *names: str, text: str, otherwise: Mapping[str, str] | None = None
) -> tuple[Constraint, ...]:
    """A Python number that becomes an element of a dtype, which is a function of the arguments `names` (P93); where
    that is None, of the dtype that numbers of its kind have, by `otherwise`.

    No complex one for a real dtype; for an integer dtype one within its range, where a negative integer may be an
    unsigned dtype's; for a float dtype any, of which finite ones beyond its largest may be refused.
    """

    def taken(own: MetaArgument, *given: Any) -> str:
        found = dtype(*given) or (otherwise or {}).get(own.dtype, own.dtype)
        return found if found in ALL else "complex128"  # another is the dtype's own fault

    return (
        Dtype.NotIn(
            lambda *given: ("complex",) if category(dtype(*given) or "complex128") < 3 else (),
            names, f"{{complex}} for a real {text}",
        ).unjudged("torch drops an imaginary part of 0"),
        Value.In(
            lambda own, *given: _numbers_of(own.dtype, taken(own, *given)),
            ("", *names), f"the range of an integral {text} (P93)",
        ),
        Value.NotIn(
            lambda own, *given: overflowing(own.dtype, taken(own, *given)),
            ("", *names), f"what overflows a float {text}",
        ).lenient("it is an infinity, or refused (P93)"),
    )  # fmt: skip


def _numbers_of(kind: str, dtype: str) -> Space:
    """What of a kind of Python number an integer dtype can hold."""
    fmt = format_named(component(dtype))
    if not fmt.is_integer or kind in ("bool", "complex"):
        return ANYTHING
    if kind == "int":
        return _integers_of(dtype) if fmt.bits < 64 else integers_between(fmt.min_value, fmt.max_value)
    largest = fmt.max_value if fmt.bits < 64 else math.nextafter(2.0**63, 0)  # the double below 2^63
    return REALS.narrowed("Ge", fmt.min_value).narrowed("Le", largest)


def overflowing(kind: str, dtype: str) -> Space | tuple[()]:
    """The finite numbers of a kind that overflow a float dtype."""
    finite = _reals_of(kind, dtype)
    return () if finite is ANYTHING else finite.complement(REALS)


def _kinds_for(dtype: str) -> tuple[str, ...]:
    return (("bool", "int"), ("int",), ("int", "float"), ("int", "float", "complex"))[category(dtype)]


def _integers_of(dtype: str) -> Space:
    """What torch converts to an integer dtype: a negative number also to an unsigned one, if its magnitude fits."""
    fmt = format_named(component(dtype))
    if not fmt.is_integer or fmt.bits == 64:
        return ANYTHING
    return integers_between(-max(-fmt.min_value, fmt.max_value), fmt.max_value)


def _reals_of(kind: str, dtype: str) -> Space:
    """The finite range of a float dtype, or of the parts of a complex one, where numbers of the kind lie beyond it."""
    fmt = format_named(component(dtype))
    if not fmt.is_float or kind not in ("int", "float") or fmt.bits == 64 or kind == "int" and fmt.max_finite > 2**63:
        return ANYTHING
    return REALS.narrowed("Ge", -fmt.max_finite).narrowed("Le", fmt.max_finite)


NOT_MANY = "a limit of what is generated, not of the op"
NOT_LONG = Length.Le(6).lenient(NOT_MANY)  # of a list that may have any length


def new_dim_of(name: str) -> tuple[Constraint, ...]:
    """A dim of what the tensor becomes with one dim more: -rank - 1 <= dim <= rank."""
    return (
        Value.Ge(lambda operand: -operand.rank - 1, (name,), f"-rank({name}) - 1"),
        Value.Le(lambda operand: operand.rank, (name,), f"rank({name})"),
    )


def another_dim_than(dim: str, name: str, more: int = 0) -> Constraint:
    """Not the same dim of the tensor (with `more` dims than it has) as the argument `dim`, from either end."""
    return Value.NotIn(
        lambda other, operand: _aliases(other, max(operand.rank + more, 1)),
        (dim, name),
        f"{dim} (modulo rank({name}){f' + {more}' if more else ''})",
    )
