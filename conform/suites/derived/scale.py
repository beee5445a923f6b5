"""Sizes that people run: one dim of one tensor long at a time, the others short.

Kernels tile, split, vectorise, launch blocks, and count in 16, 24 and 32 bits; the sizes lie around where that changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod

from conform.domains.engine.arguments import Argument
from conform.domains.engine.generator import ANY_COUNT, Limits
from conform.domains.engine.meta_tuple import MetaTuple, results, wished_tuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.variables import Contradiction
from conform.interp.semantics import traits_of
from conform.numerics.formats import format_named
from conform.suites.derived.cost import is_quick
from conform.suites.derived.plain import Plain, is_pointwise, of_last_sizes, shape_of
from conform.suites.derived.targets import Derived, shaped
from conform.suites.generated.as_nodes import is_written_out

AROUND_BLOCKS = tuple(size + step for size in (256, 1024, 2048, 4096, 65_536) for step in (-1, 0, 1))
OF_MODELS = (5120, 128_256)  # a hidden size, a vocabulary
MANY = 100_003  # for what goes wrong in one element of 10^5
ROWS_OF_MORE = (65_537, 4097, 1031)  # instead, where each row has more results than most
LINE = (*AROUND_BLOCKS, *OF_MODELS, MANY)  # sizes of the last dim of the first tensor
OTHER = (257, 2049, 4097, 65_537)  # of every other dim
IN_EVERY_DTYPE = 4097
SQUARE = 257  # of all dims at once
COUNTER = 2**24 + 1  # one more than float32 counts
INDEX = 2**31 + 1  # two more than int32 indexes
_SHORT = (2, 2, 3, 5)
_ROWS = (1, 1, 2)  # beside a line
_MOST_BYTES = 2**32 + 2**20  # what goes in and comes out; a check holds four times that
_MOST = 2**20  # elements of all tensors of a call that has several long dims


def in_core(spec: OpSpec) -> Iterator[Derived]:
    """What the core suite has of it: two lengths of the line, many rows, and every other dim long once. On the longest
    line a bound of so many terms hides most errors; of the probes those alone are run there that it hides nothing of.
    """
    rows = itertools.chain.from_iterable(_rows(spec, size) for size in (MANY, *ROWS_OF_MORE))
    every = itertools.chain(
        _lines(spec, (4097,), values="sums"), _lines(spec, (MANY,), values="long sums"), _quick(spec, rows, most=1),
        _other_dims(spec, (4097,)), _unreduced(spec),
    )  # fmt: skip
    yield from _each_once(_quick(spec, every))


def _quick(spec: OpSpec, targets: Iterator[Derived], most: int | None = None) -> Iterator[Derived]:
    """Those of the targets, at most so many, that cost little."""
    return itertools.islice((one for one in targets if is_quick(spec, one.tuple_)), most)


def of_sizes(spec: OpSpec) -> Iterator[Derived]:
    """Every size in float32, or what the op takes for it, those of `in_core` among them; one size in every dtype."""
    in_every_dtype = (one for dtype in spec.dtypes for one in _lines(spec, (IN_EVERY_DTYPE,), dtype))
    yield from _each_once(itertools.chain(
        _lines(spec, (4097, MANY), values="sums"), _rows(spec, MANY), _other_dims(spec, (4097,)), _unreduced(spec),
        in_core(spec), _lines(spec, LINE), _other_dims(spec, OTHER), _along_the_first(spec, OTHER), _square(spec),
        _counter(spec), in_every_dtype,
    ))  # fmt: skip


def with_one_long_dim(spec: OpSpec, size: int) -> Iterator[Derived]:
    """Every dim of every tensor that size once, beside short ones."""
    return _each_once(itertools.chain(_lines(spec, (size,)), _rows(spec, size), _other_dims(spec, (size,))))


def of_huge_sizes(spec: OpSpec) -> Iterator[Derived]:
    """More elements than 32 bits index, in the narrowest dtype of ops that have results of integers or bools, where all
    tensors fit together and can be drawn."""
    narrowest = min(spec.dtypes, key=lambda dtype: format_named(dtype).storage.itemsize)
    for one in _lines(spec, (INDEX,), narrowest, rank=1):
        metas, tensors = one.tuple_.arguments, list(numbers_of(spec, one.tuple_))
        fits = sum(number * format_named(dtype).storage.itemsize for number, dtype in tensors) <= _MOST_BYTES
        is_drawn = not any(is_written_out(spec, name, meta) for name, meta in metas.items())
        if fits and is_drawn and not any(format_named(dtype).is_float for _, dtype in tensors):
            yield one


def _each_once(targets: Iterator[Derived]) -> Iterator[Derived]:
    """The targets without those that an earlier one is but for its name: dims of several tensors grow together."""
    seen = set()
    for one in targets:
        call = repr(one.tuple_.arguments)
        if call not in seen:
            seen.add(call)
            yield one


# --- One long dim -----------------------------------------------------------------------------------------------------


def _rank(spec: OpSpec) -> int:
    return 1 if is_pointwise(spec) else 2


def _lines(
    spec: OpSpec, sizes: tuple[int, ...], dtype: str = "float32", rank: int | None = None, values: str = "typical"
) -> Iterator[Derived]:
    """The last dim of the first tensor at each of the sizes; of an op without tensors, its result."""
    first = spec.first_tensor
    for size in sizes:
        plain = Plain(spec, dtype, rank=rank or _rank(spec), sizes=(*_ROWS, size))
        wishes = [plain, *of_last_sizes(spec, size, dtype)]
        if first is None:
            wishes = [Plain(spec, dtype, given={("end", "Value"): (size,)})]
        for wish, found in ((wish, found) for wish in wishes if (found := _met(spec, wish))):
            shape = _result_sizes(spec, found) if first is None else shape_of(found.arguments[first.name])
            if size in (shape[-1:] if wish.ending else shape):
                yield Derived(f"line_{size}" if dtype == "float32" else f"line_{size}_{dtype}", found, values=values)
                break


def _rows(spec: OpSpec, size: int) -> Iterator[Derived]:
    """Many short rows: the first dim of the first tensor."""
    first = spec.first_tensor
    plain = None if first is None or is_pointwise(spec) else _met(spec, Plain(spec, sizes=_ROWS))
    shape = shape_of(plain.arguments[first.name]) if plain else ()
    if len(shape) > 1:
        longer = (size, *shape[1:])
        along = traits_of(spec.name).along
        given = {(along, "Value"): (1,), (along, "Optional"): (False,)} if along else {}
        found = _met(spec, Plain(spec, rank=len(longer), sizes=longer, given=given))
        if found and shape_of(found.arguments[first.name]) == longer:
            yield Derived(f"many_rows_{size}", found)


def _unreduced(spec: OpSpec) -> Iterator[Derived]:
    """Losses of many elements, or rows, that are not averaged."""
    if any(one.name == "reduction" for one in spec.arguments):
        for name, sizes in (("line", (*_ROWS, MANY)), ("many_rows", (MANY, _ROWS[-1]))):
            found = _met(spec, Plain(spec, sizes=sizes, given={("reduction", "Value"): (0,)}))
            if found:
                yield Derived(f"{name}_unreduced_{MANY}", found)


def _other_dims(spec: OpSpec, sizes: tuple[int, ...]) -> Iterator[Derived]:
    """Each dim of each tensor but the line at each of the sizes."""
    first = spec.first_tensor
    for one in spec.arguments:
        if not one.type.is_tensor:
            continue
        plain = _met(spec, Plain(spec, rank=_rank(spec), sizes=_SHORT, given={(one.name, "Optional"): (False,)}))
        shape = shape_of(plain.arguments[one.name]) if plain else None
        for dim in range(len(shape or ()) - (one is first)):
            yield from _stretched(spec, plain, one, dim, sizes)


def _stretched(spec: OpSpec, plain: MetaTuple, one: Argument, dim: int, sizes: tuple[int, ...]) -> Iterator[Derived]:
    """The call with one dim of a tensor long. Dims of the first tensor stay short where they can."""
    first = spec.first_tensor
    shape, of_first = shape_of(plain.arguments[one.name]), shape_of(plain.arguments[first.name])
    for size in sizes:
        longer = (*shape[:dim], size, *shape[dim + 1 :])
        beside = {} if one is first else shaped(first.name, of_first)
        wish = Plain(spec, rank=_rank(spec), sizes=_SHORT, given=beside | shaped(one.name, longer))
        found = _met(spec, wish)
        if found and shape_of(found.arguments[one.name]) == longer:
            yield Derived(f"{one.name}_dim{dim}_{size}", found)


def _along_the_first(spec: OpSpec, sizes: tuple[int, ...]) -> Iterator[Derived]:
    """The dim along which the op reads, the first one and long."""
    along = traits_of(spec.name).along
    for size in sizes if along else ():
        values = {(along, "Value"): (0,), (along, "Optional"): (False,)}
        found = _met(spec, Plain(spec, rank=2, sizes=(size, _SHORT[-1]), given=values))
        if found:
            yield Derived(f"{along}0_{size}", found)


def _counter(spec: OpSpec) -> Iterator[Derived]:
    """One line, for ops that read it whole, that is longer than float32 counts."""
    if traits_of(spec.name).along:
        yield from _lines(spec, (COUNTER,), rank=1)


def _square(spec: OpSpec) -> Iterator[Derived]:
    """All dims long, where that is no more than a million elements."""
    if not is_pointwise(spec):
        found = _met(spec, Plain(spec, sizes=(SQUARE,) * 4, free_size=SQUARE))
        if found and sum(number for number, _ in numbers_of(spec, found)) <= _MOST:
            yield Derived(f"square_{SQUARE}", found)


def _met(spec: OpSpec, wish: Plain) -> MetaTuple | None:
    try:
        return wished_tuple(spec, "scale", wish, Limits(largest=ANY_COUNT))
    except Contradiction:
        return None


def _result_sizes(spec: OpSpec, found: MetaTuple) -> tuple[int, ...]:
    return results(spec, found.arguments)[0].shape


def numbers_of(spec: OpSpec, found: MetaTuple) -> Iterator[tuple[int, str]]:
    """How many elements each tensor has that goes in or comes out, and of which dtype."""
    for meta in (*found.arguments.values(), *results(spec, found.arguments)):
        parts = meta.structure if meta.type.is_tensor_list else (meta,) if meta.type.is_tensor else ()
        yield from ((prod(one.shape), one.dtype) for one in parts if not one.optional)
