"""What is left of an entry without its mistakes, so that the names in the rest of it are looked up in the same pass.

Nothing of it ever runs: a file with a mistake is refused. A wrong node becomes the constant null, a wrong dimension 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from conform.suites.messages import Path, suggest, untagged
from conform.suites.written import Header, TestForm

_TEST = TypeAdapter(TestForm)
_NULL = {"type": "const", "value": None}
_SOME_OP = "aten::relu"
_DEFINING = ("include", "dims", "presets")


def header_without_mistakes(written: dict[str, Any], error: ValidationError) -> tuple[Header, bool]:
    """The header without what pydantic refused, and whether the file's names can all be known from it."""
    rest, is_complete = dict(written), True
    places = [place for place, _ in _mistakes(error)]
    for place in places:
        section, *inside = place
        if section in ("dims", "presets") and inside:
            stand_in = {inside[0]: 1 if section == "dims" else _NULL}
            is_no_name = (section, inside[0], "[key]") in places
            rest[section] = _without(rest[section], (inside[0],)) | ({} if is_no_name else stand_in)
        else:
            rest = _without(rest, (section,))
            is_complete = is_complete and not suggest(section, _DEFINING)
    return Header.model_validate(rest), is_complete


def test_without_mistakes(written: Any, error: ValidationError) -> TestForm | None:
    """The test without what pydantic refused; `op` is None if that was. None for what has no names to be looked up: no
    mapping, or a template whose variables are not known."""
    rest, op_is_wrong = written, False
    while isinstance(rest, dict):
        for place, is_unknown_key in _mistakes(error):
            op_is_wrong = op_is_wrong or (place[0] == "op" and not _constructor_argument(place))
            rest = _mended(rest, place, is_unknown_key)
        try:
            form = _TEST.validate_python(rest)
        except ValidationError as another:
            error = another
        else:
            if not op_is_wrong:
                return form
            return None if isinstance(written.get("op"), dict) else form.model_copy(update={"op": None})
    return None


def _mistakes(error: ValidationError) -> Iterator[tuple[Path, bool]]:
    """Where each is, and whether it is a key that should not be there; those first."""
    found = [(untagged(one["loc"]), one["type"] == "extra_forbidden") for one in error.errors(include_url=False)]
    yield from sorted(found, key=lambda one: not one[1])


def _mended(test: dict[str, Any], place: Path, is_unknown_key: bool) -> dict[str, Any]:
    key, *inside = place
    argument = _constructor_argument(place)
    if argument and isinstance(test["op"], dict):
        return _with_null(test, argument)
    if key == "op":
        return {**test, "op": _SOME_OP}
    if is_unknown_key:
        return _without(test, place)
    if key in ("in", "kwargs") and inside:
        nodes = list(test[key]) if key == "in" else dict(test[key])
        nodes[inside[0]] = _NULL
        return {**test, key: nodes}
    return {**test, "in": []} if key == "in" else _without(test, place[:1])


def _constructor_argument(place: Path) -> Path:
    """The constructor's argument that `place` is in: "op", "args", 0 of "op", "args", 0, "shape"; () if in none."""
    for at in range(1, min(3, len(place) - 1)):  # of the op itself, or of a side of a pair
        if place[0] == "op" and place[at] in ("args", "kwargs") and place[at + 1] != "[key]":
            return place[: at + 2]
    return ()


def _with_null(tree: Any, place: Path) -> Any:
    """A copy with null at `place`."""
    key, *inside = place
    copy = list(tree) if isinstance(tree, list) else dict(tree)
    copy[key] = _with_null(tree[key], tuple(inside)) if inside else None
    return copy


def _without(tree: Any, place: Path) -> Any:
    """A copy without the key at `place`."""
    key, *inside = place
    if not inside:
        return {name: value for name, value in tree.items() if name != key}
    copy = list(tree) if isinstance(tree, list) else dict(tree)
    copy[key] = _without(tree[key], tuple(inside))
    return copy
