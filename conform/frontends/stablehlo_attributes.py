"""MLIR's attributes and types as Python values, from their text: arrays for constants, dicts for dimension numbers.

Text is what all attributes have: the bindings give no access to StableHLO's own, nor to constants of complex numbers
and of most small formats.
"""

from __future__ import annotations

import re
from functools import cache
from math import prod
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.program.form import Value
from conform.interp.stablehlo.quantization import PREFIX, quantization_of
from conform.interp.stablehlo.values import TOKEN, contiguous
from conform.numerics.formats import FORMATS, Format
from conform.numerics.rounding import round_to

_ELEMENTS = {fmt.stablehlo_name.replace("si", "i"): fmt for fmt in FORMATS.values()}
_ELEMENTS |= {f"si{fmt.bits}": fmt for fmt in FORMATS.values() if fmt.kind == "int"}
_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)(.*?)(?:, *[#@].*)?>", re.DOTALL)
_BOUNDS = re.compile(r"#stablehlo\.bounds<([\d?, ]*)>>$")
_MARKS = re.compile(
    r'\s*("(?:\\.|[^"\\])*"|[-+]?0x[0-9A-Fa-f]+|->|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[#!@%]?[\w.$]+|.)', re.DOTALL
)


# Types


@cache
def tensor_type(text: str) -> tuple[Format, tuple[int | None, ...]] | None:
    """The element type and shape of `tensor<2x?xf32>`; None of what is no tensor, or a quantized one. Unjudged for an
    element type that the kit does not have."""
    match = _TENSOR.fullmatch(text)
    if match is None or match[2].startswith(PREFIX):
        return None
    if match[2] not in _ELEMENTS:
        raise Unjudged(f"no meaning for elements of the type {match[2]} in {text}")
    return _ELEMENTS[match[2]], _sizes(match[1])


def _bounds(text: str) -> tuple[int | None, ...]:
    """Of the sizes of `tensor<?x2xf32, #stablehlo.bounds<4, ?>>` the largest that they may be."""
    found = _BOUNDS.search(text)
    return tuple(None if one.strip() == "?" else int(one) for one in found[1].split(",")) if found else ()


def _sizes(text: str) -> tuple[int | None, ...]:
    """`2x?x`"""
    return tuple(None if size == "?" else int(size) for size in text.split("x") if size)


def value_of(name: str, text: str) -> Value:
    """The value `name` of an MLIR type. InvalidArguments for a quantized type that breaks a constraint."""
    if text == "!stablehlo.token":
        return Value(name, TOKEN, ())
    if text.startswith("tuple<"):
        return Value(name, text, ())
    match = _TENSOR.fullmatch(text)
    if match and (quantization := quantization_of(match[2])):
        quantization.require_valid(_sizes(match[1]))
        return Value(name, str(quantization), _sizes(match[1]), _bounds(text))
    found = tensor_type(text)
    if found is None:
        raise Unjudged(f"no meaning for values of the type {text}")
    return Value(name, found[0].name, found[1], _bounds(text))


# Dense constants


def dense(literal: str, type_text: str) -> np.ndarray:
    """The array of `dense<literal> : type_text`, of a static shape."""
    fmt, shape = tensor_type(type_text) or (None, ())
    literal = literal.strip()
    if fmt is None or None in shape or not literal and prod(shape):
        raise Unjudged(f"no meaning for the constant dense<{literal[:40]}> of the type {type_text}")
    if literal.startswith('"0x'):
        return _of_bytes(bytes.fromhex(literal[3:-1]), fmt, shape)
    numbers = _elements(re.findall(r"[^\s,()\[\]]+", literal), fmt)
    if numbers.size not in (1, prod(shape)):
        raise Unjudged(f"no meaning for the constant dense<{literal[:40]}> of the type {type_text}")
    return np.broadcast_to(numbers if numbers.size != prod(shape) else numbers.reshape(shape), shape).copy()


def _elements(words: list[str], fmt: Format) -> np.ndarray:
    if fmt.is_complex:
        parts = _elements(words, fmt.component)
        return contiguous(parts).view(fmt.storage)
    if fmt.kind == "bool":
        return np.array([word == "true" or word == "1" for word in words], np.bool_)
    if fmt.is_integer:
        wide = np.int64 if fmt.kind == "int" else np.uint64
        return np.array([int(word, 0) for word in words], wide).astype(fmt.storage)
    if any(word.startswith(("0x", "-0x")) for word in words):
        return np.concatenate([_float(word, fmt) for word in words])
    return round_to(fmt, np.array([float(word) for word in words]))


def _float(word: str, fmt: Format) -> np.ndarray:
    """A decimal number, or the bits of one."""
    if word.startswith("0x"):
        return np.array([int(word, 16)], fmt.code_storage).view(fmt.storage)
    return round_to(fmt, np.array([float(word)]))


def _of_bytes(content: bytes, fmt: Format, shape: tuple[int, ...]) -> np.ndarray:
    """Little endian. Bools have a byte each, or a bit in older versions of MLIR; other elements of less than a byte
    have a byte, of which the upper bits say nothing."""
    count, array = prod(shape), np.frombuffer(content, fmt.storage)
    if fmt.kind == "bool":
        codes = np.frombuffer(content, np.uint8)
        array = (codes if len(codes) == count else np.unpackbits(codes, bitorder="little")[:count]) != 0
    elif fmt.bits < 8:
        array = (np.frombuffer(content, np.uint8) & np.uint8(2**fmt.bits - 1)).view(fmt.storage)
    if array.size not in (1, count):
        raise Unjudged(f"no meaning for a constant of {array.size} elements in the shape {list(shape)}")
    return np.broadcast_to(array if array.size != count else array.reshape(shape), shape).copy()


# Attributes


def attribute(text: str) -> Any:
    """A dense constant as an array, lists as tuples, dictionaries and dimension numbers as dicts, enums and names as
    strings, numbers as numbers; what is none of these, a type for example, as its text."""
    if match := re.match(r"dense<(.*)> : (tensor<.*>)$", text, re.DOTALL):
        return dense(match[1], match[2])
    if match := re.match(r"#stablehlo\.conv<(.*)>$", text, re.DOTALL):
        return convolution_dimensions(match[1])
    reader = _Reader(_MARKS.findall(text))
    found = reader.value()
    return found if reader.is_done() else text


def convolution_dimensions(text: str) -> dict[str, Any]:
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: where each part has its batch, feature and spatial dimensions."""
    parts = [re.findall(r"\w+", part) for part in re.findall(r"\[(.*?)\]", text)]
    found: dict[str, Any] = {}
    of_values, of_kernel = {"b": "batch", "f": "feature"}, {"i": "input_feature", "o": "output_feature"}
    labels_of = (("input", of_values), ("kernel", of_kernel), ("output", of_values))
    for (name, labels), marks in zip(labels_of, parts, strict=True):
        for mark, label in labels.items():
            found[f"{name}_{label}_dimension"] = marks.index(mark)
        spatial = sorted((int(mark), place) for place, mark in enumerate(marks) if mark.isdigit())
        found[f"{name}_spatial_dimensions"] = tuple(place for _, place in spatial)
    return found


class _Reader:
    """The marks of an attribute, one after the other."""

    def __init__(self, marks: list[str]) -> None:
        self.marks, self.at = marks, 0

    def is_done(self) -> bool:
        return self.at >= len(self.marks)

    def _peek(self) -> str:
        return self.marks[self.at] if self.at < len(self.marks) else ""

    def _next(self) -> str:
        self.at += 1
        return self.marks[self.at - 1] if self.at <= len(self.marks) else ""

    def value(self) -> Any:
        mark = self._next()
        if mark == "[":
            return tuple(self._list("]"))
        if mark == "{":
            return self._pairs("}")
        if mark.startswith('"'):
            return mark[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        if mark in ("true", "false"):
            return mark == "true"
        if mark == "array":
            return self._array()
        if mark.startswith(("#stablehlo", "#chlo")):
            return self._own(mark)
        if re.fullmatch(r"[-+]?(0x[0-9A-Fa-f]+|\d.*)", mark):
            return self._number(mark)
        return mark.removeprefix("@")

    def _list(self, end: str) -> list[Any]:
        found = []
        while self._peek() not in (end, ""):
            found.append(self.value())
            if self._peek() == ",":
                self._next()
        self._next()
        return found

    def _pairs(self, end: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._peek() not in (end, ""):
            name = self._next().strip('"')
            found[name] = True
            if self._peek() == "=":
                self._next()
                found[name] = self.value()
            if self._peek() == ",":
                self._next()
        self._next()
        return found

    def _array(self) -> tuple[Any, ...]:
        """`array<i64: 0, 1>`"""
        self._next(), self._next()
        if self._peek() == ":":
            self._next()
        return tuple(self._list(">"))

    def _own(self, mark: str) -> Any:
        """`#stablehlo<precision HIGHEST>`, `#stablehlo.gather<offset_dims = [0], ...>`"""
        self._next()
        if mark in ("#stablehlo", "#chlo"):
            self._next()
            found = self._next()
            self._next()
            return found
        return self._pairs(">")

    def _number(self, mark: str) -> int | float:
        """With its type, to which a float is rounded."""
        fmt = None
        if self._peek() == ":":
            self._next()
            fmt = _ELEMENTS.get(self._next())
        if fmt is not None and fmt.is_float:
            return float(_float(mark, fmt)[0])
        return int(mark, 0) if re.fullmatch(r"[-+]?(0x[0-9A-Fa-f]+|\d+)", mark) else float(mark)
