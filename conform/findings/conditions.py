"""Which conditions hold of a case: of its dtype, its layout, the values, each argument, the sizes of its tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conform.call import schemas
from conform.call.schemas import Argument
from conform.domains.engine.arguments import DIM, DIM_LIST
from conform.domains.specs import spec_of
from conform.errors import UsageError
from conform.findings.splits import Condition
from conform.judging.evidence import TensorMeta
from conform.judging.verdict import REFUSAL, Verdict
from conform.numerics.formats import FORMATS

WIDTHS = (2, 4, 8, 16, 32, 64, 128)  # elements that an implementation may take at a time
SHOWN = 24  # characters of an argument's value

Masks = dict[Condition, int]  # bit k: it holds of case k


def masks_of(verdicts: Sequence[Verdict]) -> Masks:
    """Of cases of one op, which conditions hold of which; those that hold of all or of none are left out."""
    masks: Masks = {}
    for number, verdict in enumerate(verdicts):
        for condition in _conditions(verdict):
            masks[condition] = masks.get(condition, 0) | 1 << number
    for number, verdict in enumerate(verdicts):
        for condition in _negated(verdicts[0].op, masks, verdict):
            masks[condition] = masks.get(condition, 0) | 1 << number
    masks |= _of_sizes([_sizes(verdict) for verdict in verdicts])
    everywhere = (1 << len(verdicts)) - 1
    return {condition: mask for condition, mask in masks.items() if 0 < mask < everywhere}


def _conditions(verdict: Verdict) -> Iterator[Condition]:
    asked = verdict.asked
    assert asked is not None
    yield from _of_axes(verdict)
    yield from (Condition(mark, f"`{name}` holds {_WITH_ARTICLE.get(mark, mark)}", True) for name, mark in asked.holds)
    if verdict.check == REFUSAL:
        yield Condition("refusal", "the call has to be refused")
    rank = next((len(one.shape) for one in asked.arguments.values() if isinstance(one, TensorMeta)), 0)
    for name, value in asked.arguments.items():
        yield from _of_argument(verdict.op, name, value, rank)
    yield from _of_shapes(verdict)


_WITH_ARTICLE = {"NaN": "a NaN", "infinite": "an infinity", "-0": "a -0", "subnormal": "a subnormal number"}


# --- The axes of a case -----------------------------------------------------------------------------------------------


def _of_axes(verdict: Verdict) -> Iterator[Condition]:
    yield from _of_dtype("the dtype", verdict.dtype)
    yield from (each for one in verdict.asked.results[:1] for each in _of_dtype("the result's dtype", one.dtype))
    yield Condition("values", f"the values are `{verdict.values}`", True)
    if verdict.values.startswith("special"):
        yield Condition("values", "the values are special ones", True)
    if verdict.values != "typical":
        yield Condition("values", "the values are not the typical ones", True)
    if verdict.asked.placed is not None:
        layout, name = verdict.layout.partition(".")[0], verdict.asked.placed
        for of, who in ((f"layout of {name}", f"`{name}`"), ("layout", "an operand")):
            yield from (Condition(of, f"{who} is {words}") for words in _LAYOUTS[layout])


def _of_dtype(whose: str, dtype: str) -> Iterator[Condition]:
    yield Condition("dtype", f"{whose} is {dtype}")
    if dtype in FORMATS:
        fmt = FORMATS[dtype]
        yield Condition("dtype", f"{whose} is {_KINDS[fmt.kind]}")
        if fmt.is_float and fmt.bits < 32:
            yield Condition("dtype", f"{whose} is a float of 16 bits or less")


_KINDS = {"bool": "bool", "int": "a signed integer", "uint": "an unsigned integer", "float": "a float",
          "complex": "complex"}  # fmt: skip
_PERMUTED, _GAPS, _OTHERWISE = "transposed or channels_last", "permuted, or with gaps", "not contiguous"
_LAYOUTS = {
    "transposed": ("transposed", _PERMUTED, _GAPS, _OTHERWISE),
    "channels_last": ("channels_last", _PERMUTED, _GAPS, _OTHERWISE),
    "strided": ("strided with gaps", _GAPS, _OTHERWISE),
    "expanded": ("expanded", _OTHERWISE),
    "offset": ("at an offset in its storage",),
    "odd_strides": ("of strides that address nothing",),
}


def _negated(op: str, masks: Masks, verdict: Verdict) -> Iterator[Condition]:
    """Of the dtypes that occur, those that a case does not have."""
    for condition in list(masks):
        name = condition.words.removeprefix("the dtype is ")
        if condition.subject == "dtype" and name in FORMATS and name != verdict.dtype:
            yield Condition("dtype", f"the dtype is not {name}")


# --- Arguments --------------------------------------------------------------------------------------------------------


def _of_argument(op: str, name: str, value: Any, rank: int) -> Iterator[Condition]:
    default, is_optional, is_dim = _declared(op, name)
    if isinstance(value, TensorMeta):
        yield from _of_tensor(name, value)
    elif not _has_tensors(value) and default is not _NONE and not _same(value, default):
        yield Condition(name, f"`{name}` is not {_text(default)}")
    if is_optional and value is not None:
        yield Condition(name, f"`{name}` is given")
    if _has_tensors(value):
        yield Condition(f"elements of {name}", f"`{name}` holds {len(value)} tensors")
    elif isinstance(value, tuple) and not isinstance(value, TensorMeta):
        yield from _of_list(name, value, rank, is_dim)
    elif not isinstance(value, TensorMeta):
        yield Condition(name, f"`{name}` is {_text(value)}")
        yield from _of_number(name, value, rank, is_dim)


_NONE = object()  # no default


def _declared(op: str, name: str) -> tuple[Any, bool, bool]:
    """The default of an argument, `_NONE` if it has none; whether it may be None; whether it names dims."""
    one = next((each for each in _arguments(op) if each.name == name), None)
    if one is None:
        return _NONE, False, False
    spec = spec_of(op)
    types = {each.name: each.type.name for each in spec.arguments} if spec else {}
    is_dim = types.get(name) in (DIM.name, DIM_LIST.name)
    return one.default if one.has_default else _NONE, one.type.endswith("?"), is_dim


def _arguments(op: str) -> tuple[Argument, ...]:
    """Those of the op's schema, which a module has not. That of a name which torch has not would be an error that takes
    its time to find similar ones."""
    if op not in schemas.operator_names():
        return ()
    try:
        return schemas.schema(op).arguments
    except UsageError:  # written without its overload
        return ()


def _same(value: Any, default: Any) -> bool:
    """Whether an argument is its default; a list of the default is."""
    if isinstance(value, tuple):
        return repr(list(value)) == repr(default) or all(repr(one) == repr(default) for one in value)
    return repr(value) == repr(default)


def _has_tensors(value: Any) -> bool:
    return isinstance(value, tuple) and any(isinstance(one, TensorMeta) for one in value)


def _of_tensor(name: str, tensor: TensorMeta) -> Iterator[Condition]:
    count = math.prod(tensor.shape)
    yield Condition(f"dtype of {name}", f"`{name}` is of {tensor.dtype}")
    yield Condition(f"rank of {name}", f"`{name}` has {len(tensor.shape)} dims" if tensor.shape else f"`{name}` is 0-d")
    yield Condition(f"elements of {name}", f"`{name}` has {'' if count else 'no '}elements")
    if len(tensor.shape) > 1:
        yield Condition(f"rank of {name}", f"`{name}` has more than one dim")


def _of_list(name: str, value: tuple, rank: int, is_dim: bool) -> Iterator[Condition]:
    if len(value) > 1:
        yield Condition(name, f"`{name}` has more than one entry")
    if len(set(map(repr, value))) > 1:
        yield Condition(name, f"the entries of `{name}` differ")
    if is_dim and 0 < len(value) < rank:
        yield Condition(name, f"`{name}` does not name all dims")
    yield Condition(name, f"`{name}` is {_text(list(value))}")
    for one in value:
        yield from _of_number(name, one, rank, is_dim)


def _of_number(name: str, value: Any, rank: int, is_dim: bool) -> Iterator[Condition]:
    if isinstance(value, bool) or not isinstance(value, int | float | complex):
        return
    if isinstance(value, complex):
        yield Condition(name, f"`{name}` is complex")
        return
    if value < 0:
        yield Condition(name, f"`{name}` is negative")
    if value not in (0, 1):
        yield Condition(name, f"`{name}` is neither 0 nor 1")
    if value != 0:
        yield Condition(name, f"`{name}` is not 0")
    if value != 1:
        yield Condition(name, f"`{name}` is not 1")
    if isinstance(value, float) and not value.is_integer():
        yield Condition(name, f"`{name}` is not an integer")
    if is_dim and rank and value not in (-1, rank - 1):
        yield Condition(name, f"`{name}` is not the last dim")
    if is_dim and -rank < value < 0:
        yield Condition(name, f"`{name}` is negative and not the first dim")
    if is_dim and rank and value not in (0, -rank):
        yield Condition(name, f"`{name}` is not the first dim")


def _text(value: Any) -> str:
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


# --- Shapes and sizes -------------------------------------------------------------------------------------------------


def _of_shapes(verdict: Verdict) -> Iterator[Condition]:
    tensors = {name: one for name, one in verdict.asked.arguments.items() if isinstance(one, TensorMeta)}
    if len({one.shape for one in tensors.values()}) > 1:
        yield Condition("shapes", "the operands differ in shape")
    elif len(tensors) > 1:
        yield Condition("shapes", "the operands have one shape")
    if len({one.dtype for one in tensors.values()}) > 1:
        yield Condition("dtypes", "the operands differ in dtype")
    for name, one in tensors.items():
        if verdict.asked.results and one.dtype != verdict.asked.results[0].dtype:
            yield Condition("dtypes", f"the result's dtype is not that of `{name}`")


Sizes = Mapping[str, tuple[str, int]]  # by subject: words with a place for the figure, and the figure


def _sizes(verdict: Verdict) -> Sizes:
    found: dict[str, tuple[str, int]] = {}
    tensors = {f"`{name}`": one for name, one in verdict.asked.arguments.items() if isinstance(one, TensorMeta)}
    results = dict(zip(["the result"], verdict.asked.results, strict=False))
    for name, one in {**results, **tensors}.items():
        plain, count = name.strip("`"), math.prod(one.shape)
        found[f"elements of {plain}"] = (f"the number of elements of {name} is {{}}", count)
        if len(one.shape) > 1:
            found[f"last dim of {plain}"] = (f"the last dim of {name} is {{}}", one.shape[-1])
        first = next(iter(tensors), None)
        if name == first and results and (outputs := math.prod(results["the result"].shape)) and count != outputs:
            found["terms"] = (f"the number of elements of {name} for each of the result is {{}}", count // outputs)
    return found


def _of_sizes(sizes: Sequence[Sizes]) -> Masks:
    """Conditions `more than` and `less than`, at every figure that occurs, and `not a multiple of`, for every width of
    which some figure is a multiple."""
    masks: Masks = {}
    for subject in dict.fromkeys(name for each in sizes for name in each):
        known = [(1 << number, each[subject][1]) for number, each in enumerate(sizes) if subject in each]
        words = next(each[subject][0] for each in sizes if subject in each)
        for at in sorted({figure for _, figure in known}):
            masks[Condition(subject, words.format(f"more than {at:,}"))] = sum(bit for bit, size in known if size > at)
            masks[Condition(subject, words.format(f"less than {at:,}"))] = sum(bit for bit, size in known if size < at)
        for width in WIDTHS:
            if any(size and size % width == 0 for _, size in known):
                others = sum(bit for bit, size in known if size % width)
                masks[Condition(subject, words.format(f"not a multiple of {width}"))] = others
    return masks
