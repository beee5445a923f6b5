"""The scalar fields of the test language: numbers that may be symbols, dtypes, paths."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from conform.call.schemas import operator_names, unknown_operator
from conform.documents.scalars import INTEGER_PATTERN, NUMBER_PATTERN, parse_number
from conform.documents.source import Quoted
from conform.suites.dtypes import dtype_names

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Symbol(str):
    """The name of a dimension, written bare where a number may stand."""

    __slots__ = ()


def _number(value: Any) -> int | float | Symbol:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        number = _number_in(value)
        if number is not None:
            return number
        if _NAME.fullmatch(value):
            if isinstance(value, Quoted):
                message = "{found} is quoted; the symbol of a dimension is written bare"
                raise PydanticCustomError("quoted_symbol", message, {"found": repr(str(value))})
            return Symbol(value)
    raise PydanticCustomError("number", "expected a number or the symbol of a dimension, found {found}",
                              {"found": describe(value)})  # fmt: skip


def _integer(value: Any) -> int | Symbol:
    if isinstance(value, dict) and ("var" in value or value.get("type") == "var"):
        message = "a template variable cannot stand here; expected an integer or the symbol of a dimension"
        raise PydanticCustomError("variable", message)
    number = _number(value)
    if isinstance(number, float):
        raise PydanticCustomError("integer", "expected an integer or the symbol of a dimension, found {found}",
                                  {"found": describe(value)})  # fmt: skip
    return number


def _number_in(text: str) -> int | float | None:
    try:
        return parse_number(text)
    except ValueError as error:
        raise PydanticCustomError("number", "{reason}", {"reason": str(error)}) from None


def _dtype(value: Any) -> str:
    if isinstance(value, str) and value in dtype_names():
        return str(value)
    raise PydanticCustomError("dtype", "unknown dtype")  # the hint takes time: only for what is reported


def _name(value: Any) -> str:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return str(value)
    raise PydanticCustomError("name", "{found} is no name; expected letters, digits and _, not starting with a digit",
                              {"found": describe(value)})  # fmt: skip


def _dimension(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise PydanticCustomError("dimension", "expected a non-negative integer, found {found}", {"found": describe(value)})


def _operator(value: str) -> str:
    if value in operator_names():
        return str(value)
    message = str(unknown_operator(value)) if len(value) <= 100 else f"unknown operator {describe(value)}"
    raise PydanticCustomError("operator", "{message}", {"message": message})


def _scalar_value(value: Any) -> bool | int | float:
    if isinstance(value, bool | int | float):
        return value
    raise PydanticCustomError("value", "expected a number, true or false, found {found}", {"found": describe(value)})


def describe(value: Any) -> str:
    """A value as a message shows it, short."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return repr(str(value) if len(value) <= 60 else value[:57] + "...")
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def amount(count: int) -> str:
    """A count as a message shows it: Python refuses to write out an integer of thousands of digits."""
    return str(count) if count < 10**20 else "more than 10^20"


def _number_schema(type_: str, pattern: str) -> WithJsonSchema:
    text = {"type": "string", "pattern": f"^({_NAME.pattern}|{pattern})$"}  # a symbol, or a number in quotes
    return WithJsonSchema({"anyOf": [{"type": type_}, text]})


Integer = Annotated[int | str, PlainValidator(_integer), _number_schema("integer", INTEGER_PATTERN)]
Number = Annotated[float | str, PlainValidator(_number), _number_schema("number", NUMBER_PATTERN)]
Dtype = Annotated[str, PlainValidator(_dtype), WithJsonSchema({"type": "string", "enum": list(dtype_names())})]
ScalarValue = Annotated[
    bool | int | float, PlainValidator(_scalar_value), WithJsonSchema({"type": ["number", "boolean"]})
]
# Not validated, so that a string keeps whether it was quoted; only scalars reach it.
ScalarLiteral = Annotated[Any, WithJsonSchema({"type": ["null", "boolean", "number", "string"]})]
Operator = Annotated[
    str, PlainValidator(_operator), WithJsonSchema({"type": "string", "enum": sorted(operator_names())})
]
NonEmptyString = Annotated[str, Field(min_length=1, max_length=1_000)]
# One line that a terminal can show, without blanks around it: no control characters, line breaks, reversed or
# invisible text, no blank but the space, and so as a record writes it (conform.foreign).
_CONTROL = (
    r"\x00-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ue000-\uf8ff\ufeff\ufff0-\ufffb"
)
ID_PATTERN = rf"^[^\s{_CONTROL}]([^{_CONTROL}]*[^\s{_CONTROL}])?$"
Id = Annotated[str, Field(pattern=ID_PATTERN, max_length=200)]
Name = Annotated[str, PlainValidator(_name), WithJsonSchema({"type": "string", "pattern": f"^{_NAME.pattern}$"})]
DimensionValue = Annotated[int, PlainValidator(_dimension), WithJsonSchema({"type": "integer", "minimum": 0})]
Shape = Annotated[list[Integer], Field(min_length=1)]


# --- Paths ------------------------------------------------------------------------------------------------------------

_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_FILE_PATH = re.compile(r"file:(?P<file>[^:]+\.py)::(?P<attribute>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)")


def is_path(text: str) -> bool:
    """Whether `text` has one of the two formats of a path."""
    return bool(_IMPORT_PATH.fullmatch(text) or _FILE_PATH.fullmatch(text))


def file_and_attribute(text: str) -> tuple[str, str] | None:
    """The two parts of `file:FILE.py::NAME`; None for an import path."""
    match = _FILE_PATH.fullmatch(text)
    return (match["file"], match["attribute"]) if match else None


PATH_FORMATS = "expected an import path such as torch.nn.Linear, or file:path/to/file.py::Name"
