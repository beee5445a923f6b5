"""The value of a plain YAML scalar in the core schema of YAML 1.2 (section 10.3.2).

PyYAML follows YAML 1.1, where 010 is 8, 12:30 is 750, NO is false and 1e-5 is a string.
"""

from __future__ import annotations

import math
import re

_NAMED = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NAN = re.compile(r"\.(nan|NaN|NAN)")
INTEGER_PATTERN = "|".join(form.pattern for form in (_DECIMAL, _OCTAL, _HEXADECIMAL))
NUMBER_PATTERN = "|".join((INTEGER_PATTERN, _FLOAT.pattern, _INFINITY.pattern, _NAN.pattern))
_NUMBER_START = frozenset("0123456789+-.")
_MAX_DIGITS = 1_000  # far beyond any dtype; Python's own conversion gives up at 4300


def resolve_plain(text: str) -> bool | int | float | str | None:
    """The value of an unquoted scalar. ValueError for a number that no float64 or dtype could hold."""
    if text in _NAMED:
        return _NAMED[text]
    number = parse_number(text)
    return text if number is None else number


def parse_number(text: str) -> int | float | None:
    """The number that `text` is in YAML 1.2, None if it is none. ValueError as in `resolve_plain`."""
    if text[:1] not in _NUMBER_START:
        return None
    if _DECIMAL.fullmatch(text):
        return int(_checked_length(text))
    if _FLOAT.fullmatch(text):
        return _finite(_checked_length(text))
    if _INFINITY.fullmatch(text):
        return -math.inf if text[0] == "-" else math.inf
    if _NAN.fullmatch(text):
        return math.nan
    if _OCTAL.fullmatch(text):
        return int(_checked_length(text)[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(_checked_length(text)[2:], 16)
    return None


def _checked_length(text: str) -> str:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(text)} characters; at most {_MAX_DIGITS} are read")
    return text


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is beyond float64; write .inf for infinity")
    return value
