"""A YAML file that a pydantic model describes: its content, or its first mistake with file, line and entry."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, WithJsonSchema

from conform.documents.limits import Limits
from conform.documents.source import SourceError, parse_yaml, position_of, read_text
from conform.errors import UsageError
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
    told = f"unknown key {at[-1]!r}" if is_unknown else one["msg"].removeprefix("Value error, ")
    named = next((part for part in reversed(at) if isinstance(part, str)), None)
    key = f"`{named}`: " if named and not is_unknown and not isinstance(at[-1], int) else ""
    at_line = position_of(tree, at, key=is_unknown).line
    raise UsageError(f"{path}:{at_line}: {entry}{key}{line(told, 300)}") from None
