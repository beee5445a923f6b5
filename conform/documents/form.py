"""A YAML file that a pydantic model describes: its content, or its first mistake with file, line and entry."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, WithJsonSchema

from conform.documents.limits import Limits
from conform.documents.source import SourceError, parse_yaml, position_of, read_text
from conform.errors import UsageError, did_you_mean
from conform.foreign import line

Model = TypeVar("Model", bound=BaseModel)


def listed(value: Any) -> Any:
    """A list of what may stand alone."""
    return list(value) if isinstance(value, list | tuple) else [value]


_TEXT = {"type": "string", "minLength": 1, "maxLength": 1000}
Text = Annotated[str, Field(min_length=1, max_length=1000)]
Texts = Annotated[
    list[Text],
    BeforeValidator(listed),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}),
]


_FILLED_IN = "by who reads the file"
Place = Annotated[int, _FILLED_IN]  # where an entry stands, which is no key of the file


@dataclass(frozen=True)
class Form(Generic[Model]):
    """The content of a file, the digest of its text, and its tree, which knows where everything stands."""

    content: Model
    digest: str
    tree: Any

    def line(self, *path: str | int) -> int:
        """The line of what stands at a path: `("waivers", 3)`."""
        return position_of(self.tree, path).line


def read_form(path: Path, model: type[Model]) -> Form[Model]:
    """The file as a `model`. UsageError, with the line, for any mistake in it."""
    limits = Limits.from_environment()
    try:
        text = read_text(path, limits)
        tree = parse_yaml(text, limits)
    except SourceError as error:
        raise UsageError(f"{path}:{error.position.line}: {error.message}") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return Form(_checked(path, tree, model), digest, tree)


def _checked(path: Path, tree: Any, model: type[Model]) -> Model:
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        one = error.errors(include_url=False)[0]
    at = tuple(one["loc"])[:3]
    entry = f"entry {at[1] + 1}: " if len(at) > 1 and isinstance(at[1], int) else ""
    is_unknown = one["type"] == "extra_forbidden"
    told = _unknown(at, model) if is_unknown else _wrong(one)
    named = next((part for part in reversed(at) if isinstance(part, str)), None)
    key = f"`{named}`: " if named and not is_unknown and not isinstance(at[-1], int) else ""
    at_line = position_of(tree, at, key=is_unknown).line
    raise UsageError(f"{path}:{at_line}: {entry}{key}{line(told, 300)}") from None


def _wrong(one: Mapping[str, Any]) -> str:
    """What pydantic says of a value, in the words of who writes the file."""
    if one["type"] == "missing":
        return "the key is missing"
    if one["type"] in ("model_type", "dict_type", "model_attributes_type"):
        return f"expected keys with values, found {one['input']!r}"
    if one["type"] == "too_short":
        return "expected at least one, found none"
    told = one["msg"].removeprefix("Value error, ")
    return told if one["type"] == "value_error" else f"{told}, found {one['input']!r}"


def _unknown(at: tuple[str | int, ...], model: type[BaseModel]) -> str:
    known = _keys(model, at[:-1])
    return f"unknown key {at[-1]!r}{did_you_mean(str(at[-1]), known)}; expected one of {', '.join(known)}"


def _keys(kind: Any, at: tuple[str | int, ...]) -> list[str]:
    """The keys that a file may have at a place in a model: of lists, optional and annotated values those of what they
    hold."""
    while not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        held = [one for one in get_args(kind) if get_args(one) or isinstance(one, type)]
        if not held:
            return []
        kind = next((one for one in held if isinstance(one, type) and issubclass(one, BaseModel)), held[0])
    inner = [part for part in at if isinstance(part, str)]
    if inner and inner[0] in kind.model_fields:
        return _keys(kind.model_fields[inner[0]].annotation, at[at.index(inner[0]) + 1 :])
    return [name for name, field in kind.model_fields.items() if _FILLED_IN not in field.metadata]
