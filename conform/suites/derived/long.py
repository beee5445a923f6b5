"""Long sums: a call of LENGTH terms or more in each float dtype, for every op that accumulates or attends.

Bounds grow with the number of terms, and so does what they hide: these calls run on the classes of values that show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from conform.domains.engine.meta_tuple import results
from conform.domains.engine.op_spec import OpSpec
from conform.interp.semantics import traits_of
from conform.suites.derived.plain import Plain, shape_of
from conform.suites.derived.targets import Derived, Metas, met, shaped

LENGTH = 4096  # from here on n u, the bound of a float32 sum, is more than the share of one of n terms
FLOATS = ("float16", "bfloat16", "float32", "float64")
# Sizes by what is added up: windows and whole tensors, the last dim, channels, the first dim, channels and places, the
# only row; channels of images, of volumes.
SIZES = (
    (2, 64, 64), (3, LENGTH), (2, LENGTH, 1), (LENGTH, 3), (2, 128, 64), (1, LENGTH), (2, LENGTH, 1, 1),
    (2, LENGTH, 1, 1, 1),
)  # fmt: skip
CHANNELS = (2, 3, LENGTH)  # of which each channel has a mean and a variance
FACTORS = ((3, LENGTH), (2, 3, LENGTH), (LENGTH,))  # of products: matrices, stacks of them, vectors
WINDOW = 64
HEAD = 8  # elements of a query
OF_STATISTICS = ("training", "use_input_stats")  # what says whether a mean and a variance are those of the input


def of_lengths(spec: OpSpec) -> Iterator[Derived]:
    """The long calls, of the first sizes that make a sum as long."""
    traits = traits_of(spec.name)
    for dtype in (dtype for dtype in FLOATS if dtype in spec.dtypes):
        if traits.attends is not None:
            wishes = [_of_attention(spec, dtype)]
        elif (switch := _switch(spec)) is not None:
            wishes = [Plain(spec, dtype, rank=len(CHANNELS), sizes=CHANNELS, given={(switch, "Value"): (True,)})]
        elif traits.accumulates is not None:
            wishes = [_of_sizes(spec, dtype, sizes) for sizes in SIZES]
            wishes += [_of_factors(spec, dtype, shape) for shape in FACTORS if traits.products]
        else:
            return
        found = (one for wish in wishes for one in met(spec, f"long_{dtype}", wish, _is_long(spec), values="sums"))
        yield from _first(found)


def _switch(spec: OpSpec) -> str | None:
    """The argument by which statistics are those of the input's channels, if the op adds any up."""
    if traits_of(spec.name).accumulates is None:
        return None
    return next((one.name for one in spec.arguments if one.name in OF_STATISTICS), None)


def _first(found: Iterator[Derived]) -> Iterator[Derived]:
    for one in found:
        yield one
        return


def _of_sizes(spec: OpSpec, dtype: str, sizes: tuple[int, ...]) -> Plain:
    return Plain(spec, dtype, rank=len(sizes), sizes=sizes, integers=(WINDOW, WINDOW, 1, 0))


def _of_factors(spec: OpSpec, dtype: str, shape: tuple[int, ...]) -> Plain:
    """Of the first factor, whatever tensor comes first."""
    return Plain(spec, dtype, given=shaped(traits_of(spec.name).products.factors[0], shape))


def _of_attention(spec: OpSpec, dtype: str) -> Plain:
    query, key, value = traits_of(spec.name).attends
    shapes = {query: (3, HEAD), key: (LENGTH, HEAD), value: (LENGTH, HEAD)}
    given = {place: wish for name, shape in shapes.items() for place, wish in shaped(name, shape).items()}
    return Plain(spec, dtype, given=given)


def _is_long(spec: OpSpec) -> Callable[[Metas], bool]:
    """Whether a result of the call adds up LENGTH terms: of products so many, of statistics a sample's channel, or its
    operand is so much larger than its smallest result; where all results have the operand's shape, the last dim is so
    long."""
    traits, switch = traits_of(spec.name), _switch(spec)

    def is_long(metas: Metas) -> bool:
        if traits.attends is not None:
            return shape_of(metas[traits.attends.key])[-2] >= LENGTH
        shape = shape_of(metas[traits.accumulates])
        if traits.products is not None:
            return contracted(spec, metas) >= LENGTH
        if switch is not None:
            return metas[switch].structure is True and prod(shape[2:]) >= LENGTH
        smallest = min((one.shape for one in results(spec, metas)), key=prod)
        if smallest == shape:
            return shape[-1] >= LENGTH
        return 0 < LENGTH * prod(smallest) <= prod(shape)

    return is_long


def contracted(spec: OpSpec, metas: Metas) -> int:
    """How many terms each sum of a call has, at least, of an op that adds up products: the last size of the first
    factor, or the channels of an image."""
    first, second = (shape_of(metas[name]) for name in traits_of(spec.name).products.factors)
    if any(one.name == "stride" for one in spec.arguments):  # places of a window may lie in the padding
        return first[1 - len(second)]  # of one group, as plain calls have
    summed = len(first) + len(second) > len(results(spec, metas)[0].shape)  # or each with each
    return first[-1] if summed else 1
