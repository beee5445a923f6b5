"""Constants that a file keeps apart from its program: `dense_resource<w>`, whose bytes stand behind it.

MLIR's bindings name such a blob, and do not show it. So each is written where it is named, before the text is parsed;
what engines and folded files get holds the same. A blob begins with its alignment, four bytes; elements are little
endian, those of less than a byte with a byte each (MLIR Language Reference, "Dialect Resources", and BuiltinAttributes,
DenseResourceElementsAttr).
"""

from __future__ import annotations

import re
from math import prod

from conform.errors import UsageError
from conform.foreign import line
from conform.frontends.stablehlo_attributes import tensor_type
from conform.frontends.stablehlo_text import is_hidden

_NAME = r'("(?:\\.|[^"\\])*"|[\w.$-]+)'
_SECTION = re.compile(r"^\{-#(.*?)#-\}", re.DOTALL | re.MULTILINE)
_BUILTIN = re.compile(r"\bdialect_resources\s*:\s*\{.*?\bbuiltin\s*:\s*\{(.*?)\}", re.DOTALL)
_BLOB = re.compile(_NAME + r'\s*:\s*"0x([0-9A-Fa-f]*)"')
_NAMED = re.compile(rf"\bdense_resource<\s*{_NAME}\s*>\s*:\s*(tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>)")
_ALIGNMENT = 8  # digits


def with_resources(text: str, file: str) -> str:
    """`text` with the blobs of its constants in their places, and without those behind it; lines stay where they are.
    UsageError, with the place, for a blob that is not there, or is not of the constant's size; Unjudged for elements
    without a meaning."""
    if "dense_resource" not in text:
        return text
    blobs: dict[str, str] = {}
    for section in _SECTION.finditer(text):
        for part in _BUILTIN.findall(section[1]):
            blobs |= {name.strip('"'): digits for name, digits in _BLOB.findall(part)}
    program = _SECTION.sub(lambda match: "\n" * match[0].count("\n"), text)

    def written(match: re.Match[str]) -> str:
        if is_hidden(program, match.start()):
            return match[0]
        where = f"{file}:{program.count(chr(10), 0, match.start()) + 1}"
        return _constant(match[1].strip('"'), match[2], blobs, where) + "\n" * match[0].count("\n")

    return _NAMED.sub(written, program)


def _constant(name: str, type_: str, blobs: dict[str, str], where: str) -> str:
    """`dense<"0x..."> : type`; of bools, which a constant has in bits, one by one."""
    if name not in blobs:
        left_out = ", which was left out when the file was printed" if name == "__elided__" else ""
        raise UsageError(f"{where}: dense_resource<{line(name, 80)}>{left_out}: expected a blob of this name in "
                         "{-# dialect_resources: { builtin: { ... } } #-}")  # fmt: skip
    fmt, shape = tensor_type(" ".join(type_.split())) or (None, ())
    digits = blobs[name][_ALIGNMENT:]
    if fmt is None or None in shape:
        raise UsageError(f"{where}: dense_resource<{line(name, 80)}> of the type {line(type_, 80)}: expected a tensor "
                         "of a static shape that is not quantized")  # fmt: skip
    size = prod(shape) * fmt.storage.itemsize
    if len(blobs[name]) < _ALIGNMENT or len(digits) != 2 * size:
        raise UsageError(f"{where}: dense_resource<{line(name, 80)}> has {len(digits) / 2:g} bytes, expected {size}, "
                         f"those of {type_}")  # fmt: skip
    if not size:
        return f"dense<> : {type_}"
    if fmt.kind == "bool":
        return f"dense<{_nested(['true' if one else 'false' for one in bytes.fromhex(digits)], shape)}> : {type_}"
    return f'dense<"0x{digits}"> : {type_}'


def _nested(words: list[str], shape: tuple[int, ...]) -> str:
    """`[[a, b], [c, d]]`"""
    if not shape:
        return words[0]
    step = len(words) // shape[0]
    return f"[{', '.join(_nested(words[at * step : (at + 1) * step], shape[1:]) for at in range(shape[0]))}]"
