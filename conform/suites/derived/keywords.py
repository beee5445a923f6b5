"""Targets on everything but tensors: each keyword, number, list, dim and missing tensor at each interesting value, and
these in pairs with each other and with the kinds of dtype."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conform.domains.engine.arguments import Argument
from conform.domains.engine.attribute import Draft
from conform.domains.engine.coverage import Coverage, Place
from conform.domains.engine.dtypes import category
from conform.domains.engine.generator import Target
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.meta_tuple import MetaTuple, wished_tuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import Discrete, Everything, Intervals, Space
from conform.domains.engine.variables import Contradiction
from conform.suites.derived.lists import list_count
from conform.suites.derived.plain import Plain, argument_of, kind_of_number, least_rank
from conform.suites.derived.targets import Derived

QUIET = 12  # tuples in a row that cover nothing new end the search
ONE_DTYPE = ("int64", "int32", "float32")  # of indices, scales and zero points where it is the only one: not told
MOST = 96  # tuples of one op: the last pairs of many keywords are rare
FLOAT = 2  # the category
LONG = 45  # characters of an operator
LONGEST = 206  # of a whole name and what a call is called: an id has 200 and lacks `aten::`
ROOM = 154  # for an operator, twice, and the name of a call: a passing case takes under 500 bytes
_ALL_OF = 8  # integers of an interval that are taken one by one
NUMBERS: dict[type, tuple[Any, ...]] = {
    bool: (True, False),
    int: (2, -3, 0, 1),
    float: (0.3, -1.5, 0.0, 0.5, 2.0, math.inf, -math.inf),
    complex: (0.5 + 1.5j,),
}


def of_keywords(spec: OpSpec) -> Iterator[Derived]:
    """The calls of the op that differ in what is no tensor, each once."""
    wish = _Interesting(spec, Coverage(), Plain(spec, rank=max(3, least_rank(spec) + 1), sizes=(2, 3, 5, 11)))
    seen: set[str] = set()
    quiet = 0
    for number in range(MOST):
        before = wish.coverage.count
        wish.coverage.begin()
        try:
            one = wished_tuple(spec, f"keywords.{number}", wish)
        except Contradiction:
            one = None
        name = name_of(spec, one) if one else ""
        if name and name not in seen:
            seen.add(name)
            # A keyword may arrange the tensors of one list; several lists go together.
            layouts = "all" if list_count(spec) == 1 else "as-written"
            yield Derived(name, one, values=_values(name), layouts=layouts)
        quiet = 0 if wish.coverage.count > before else quiet + 1
        if quiet == QUIET:
            return


def _values(name: str) -> str:
    """Special values and another class in turn for float32, and for conversions between dtypes; the plain call has all
    classes."""
    return "typical" if name.startswith("of_") and "dtype=" not in name else "in turn"


@dataclass(frozen=True)
class _Interesting:
    """The wish for what has not been had of a keyword, nor beside the others; plain tensors."""

    spec: OpSpec
    coverage: Coverage
    plain: Plain

    def __call__(self, place: Place, space: Space | None, preferred: Sequence[Any], draft: Draft) -> Sequence[Any]:
        one = argument_of(self.spec, place)
        candidates = self._candidates(one, place.attribute, space, preferred, draft)
        if space is not None:
            candidates = [value for value in candidates if value in space]
        if not candidates:
            return self.plain(place, space, preferred, draft)
        targets = [Target((type(value), value), 1, value) for value in dict.fromkeys(candidates)]
        paired = Place(place.argument, place.attribute, True)
        return (self.coverage.choose(paired, targets, draft.dice).value,)

    def _candidates(
        self, one: Argument, attribute: str, space: Space | None, preferred: Sequence[Any], draft: Draft
    ) -> Sequence[Any]:
        """The values to try of a keyword's attribute; of a tensor only that it is None, and the dtype of data."""
        if attribute == "Optional":
            return (False, True)
        if one is self.spec.data and attribute == "Dtype" and not one.type.is_list:
            return _one_of_each_category(self.spec)
        if one.type.is_tensor or one.type.is_tensor_list:
            return _members(space) if one.type.is_index and attribute == "Dtype" else ()
        if attribute in ("Length", "Dtype"):
            return _members(space) or (0, 1, 2, 3)
        if one.type.is_number:
            return (*preferred, *NUMBERS[kind_of_number(draft)])
        if one.type.name == "Dim" and space is None:
            return (0, 1, 2, -1, -2, -3)
        numbers = NUMBERS[float] if one.type.name == "Float" else NUMBERS[int]
        return (*preferred, *(_members(space) or numbers))


def _one_of_each_category(spec: OpSpec) -> tuple[str, ...]:
    """bool, the largest integer and complex dtypes, float32 and a half type; where a call names a dtype, all floats."""
    found = {category(dtype): dtype for dtype in spec.dtypes}
    floats = [dtype for dtype in spec.dtypes if category(dtype) == FLOAT]
    if not any(one.type.name == "ScalarType" for one in spec.arguments):
        floats = [dtype for dtype in floats if dtype in ("float32", "bfloat16")]
    return (*floats, *[dtype for each, dtype in found.items() if each != FLOAT])


def _members(space: Space | None) -> tuple[Any, ...]:
    """All of a small space; of a larger one its ends; nothing of one without ends."""
    if space is None or isinstance(space, Everything):
        return ()
    if isinstance(space, Discrete):
        return space.members
    return _few(space) or space.boundaries()


def _few(space: Intervals) -> tuple[int, ...]:
    ends = [end for interval in space.intervals for end in (interval.low, interval.high)]
    is_small = space.of_integers and all(map(math.isfinite, ends)) and ends[-1] - ends[0] < _ALL_OF
    return space.members() if is_small else ()


# --- Names ------------------------------------------------------------------------------------------------------------


def name_of(spec: OpSpec, one: MetaTuple) -> str:
    """ "dim=0,keepdim=true": what is not the default; "of_int64" for data that are not float32. "" for a plain call."""
    defaults = {each.name: each.default for each in spec.schema.arguments if each.has_default}
    parts = []
    for name, meta in one.arguments.items():
        value = _text(meta)
        if meta.type.is_tensor or meta.type.is_tensor_list:
            parts += _of_tensor(spec, name, meta, value)
        elif name not in defaults or value != _literal(defaults[name]):
            parts.append(f"{name}={value}")
    return _short(spec, ",".join(parts))


def _short(spec: OpSpec, name: str) -> str:
    """The name; where a long operator leaves less room in the line of a record, which names it twice, or lists of
    tensors make an id longer than one may be, the end of the name becomes a digest."""
    room = ROOM - 2 * len(spec.name)
    if len(name) <= room or len(spec.name) <= LONG and len(f"{spec.name}/{name}") <= LONGEST:
        return name
    return f"{name[: room - 7]}~{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _of_tensor(spec: OpSpec, name: str, meta: MetaArgument, text: str) -> list[str]:
    declared = next(each for each in spec.arguments if each.name == name)
    if declared is spec.data and not declared.type.is_list:
        return [] if meta.dtype == "float32" else [f"of_{meta.dtype}"]
    if declared.type.is_tensor_list and list_count(spec) > 1:
        return []
    if declared.may_be_none:
        return [f"{name}={'none' if meta.optional else 'given'}"]
    if declared.type.is_tensor_list:
        return [f"{name}={text}"]
    is_given = any(one.suffix == "Eq" and one.value in ONE_DTYPE for one in declared.constraints_on("Dtype"))
    return [f"{name}={meta.dtype}"] if declared.type.is_index and not is_given else []


def _text(meta: MetaArgument) -> str:
    if meta.optional:
        return "none"
    if meta.type.is_tensor_list:
        parts = ("none" if one.is_none else f"{one.dtype}:{'x'.join(map(str, one.shape))}" for one in meta.structure)
        return "+".join(parts)
    if meta.type.is_tensor:
        return meta.dtype
    if meta.type.is_number_list:
        return _literal([one.value for one in meta.structure])
    return _literal(meta.value if meta.is_number else meta.structure)


def _literal(value: object) -> str:
    if isinstance(value, list | tuple):
        return "x".join(map(_literal, value)) or "empty"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
