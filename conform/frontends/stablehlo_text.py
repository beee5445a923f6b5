"""MLIR files as text: their programs, and the own spelling of the dialects check and interpreter made generic, which
every parser reads.

A file holds several programs, with `// -----` on a line between them. Line breaks are kept, so that places stay true.
"""

from __future__ import annotations

import re

from conform.errors import UsageError

_DIVIDER = re.compile(r"^[ \t]*// -----.*$", re.MULTILINE)
_CHECK = re.compile(r"\b(check|interpreter)\.(\w+)(?=\s+%)")
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_WORD = re.compile(r"[%@]?[\w.$-]+(?:#\d+)?")
_QUANTIZED = re.compile(r"!quant\.uniform<(\w+).*>(?=>)", re.DOTALL)
_QUANTIZED_ALIAS = re.compile(r"^[ \t]*(![\w.$-]+)[ \t]*=[ \t]*(!quant\.uniform<.*>)", re.MULTILINE)
# What stands behind the operands of a check, by its name; the others have two operands.
_CONSTANTS = ("expect_eq_const", "expect_almost_eq_const")


def programs(text: str) -> list[str]:
    """The programs of a file, each with as many empty lines before it as it has lines above it."""
    found, start = [], 0
    for end in [*(match.start() for match in _DIVIDER.finditer(text)), len(text)]:
        piece = text[start:end]
        if _without_comments(piece).strip():
            found.append("\n" * text.count("\n", 0, start) + piece)
        start = end
    return found


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def generic_checks(text: str, name: str) -> str:
    """`text`, with `check.X %a, value : type` spelled `"check.X"(%a) {value = value : type} : (type) -> ()`, and
    `interpreter.X` likewise.
    UsageError, with the place in the file `name`, for a check that cannot be read."""
    pieces, at = [], 0
    for match in _CHECK.finditer(text):
        if match.start() < at or is_hidden(text, match.start()):
            continue
        pieces.append(text[at : match.start()])
        place = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
        check, at = _Check(text, match.end(), place).generic(match[1], match[2])
        pieces.append(check)
    return "".join([*pieces, text[at:]])


def _stored(type_: str, text: str) -> str:
    """The type of a constant of `type_`: of a quantized tensor that of the integers that it stores; `text` may give a
    quantized type another name."""
    for alias, element in _QUANTIZED_ALIAS.findall(text):
        type_ = re.sub(rf"{re.escape(alias)}(?![\w.$-])", element, type_)
    return _QUANTIZED.sub(lambda match: match[1].replace("u", "ui") if match[1][:2] != "ui" else match[1], type_)


def is_hidden(text: str, at: int) -> bool:
    """Whether a place is in a comment or a string."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    outside = re.sub(r'"(?:\\.|[^"\\])*"', "", line)
    return "//" in outside or outside.count('"') % 2 == 1


class _Check:
    """The text of one check behind its name."""

    def __init__(self, text: str, at: int, place: str) -> None:
        self.text, self.at, self.place = text, at, place

    def generic(self, dialect: str, name: str) -> tuple[str, int]:
        """Its generic spelling, and where it ends."""
        begin, operands, attributes = self.at, [self._word()], []
        while self._take(","):
            if name in _CONSTANTS and len(operands) == 1 and not attributes:
                attributes.append(f"value = {self._until_colon()}")
            elif (word := self._word()).startswith("%"):
                operands.append(word)
            else:
                self._expect("=")
                attributes.append(f"{word} = {self._attribute()}")
        if self._peek() == "{":
            attributes.append(self._balanced()[1:-1])
        elif name in _CONSTANTS and self._peek() != ":":
            attributes.append(self._until_colon())
        self._expect(":")
        types = [self._type()]
        while self._take(","):
            types.append(self._type())
        if name in _CONSTANTS:
            if not attributes:
                raise UsageError(f"{self.place}: check.{name} without a constant to compare with")
            attributes[0] += f" : {_stored(types[0], self.text)}"
        types = types * len(operands) if len(types) == 1 else types
        breaks = "\n" * (self.text.count("\n", begin, self.at) - sum(one.count("\n") for one in (*attributes, *types)))
        listed = f"{{{', '.join(one for one in attributes if one.strip())}}}"
        results = types[0] if name == "probe" else ""
        signature = f"({', '.join(types)}) -> ({results})"
        return f'"{dialect}.{name}"({", ".join(operands)}) {listed} : {signature}{breaks}', self.at

    def _attribute(self) -> str:
        if self._peek() == '"':
            return self._balanced()
        number = self._word()
        return f"{number} : {'i64' if number.isdigit() else 'f64'}"

    def _peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _take(self, mark: str) -> bool:
        if found := self._peek() == mark:
            self.at += 1
        return found

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            raise UsageError(f"{self.place}: found {self.text[self.at : self.at + 20]!r} in a check, expected {mark!r}")

    def _word(self) -> str:
        self._peek()
        match = _WORD.match(self.text, self.at)
        if match is None:
            raise UsageError(f"{self.place}: found {self.text[self.at : self.at + 20]!r} in a check, expected a name")
        self.at = match.end()
        return match[0]

    def _until_colon(self) -> str:
        """A constant, up to the colon before its type; `[1, 2]` is short for `dense<[1, 2]>`."""
        begin = self.at + (len(self.text[self.at :]) - len(self.text[self.at :].lstrip()))
        self.at = begin
        while self._peek() not in (":", "{", ""):
            if self.text[self.at] in _BRACKETS or self.text[self.at] == '"':
                self._balanced()
            else:
                self.at += 1
        constant = self.text[begin : self.at].strip()
        return constant if "<" in constant.partition("[")[0] else f"dense<{constant}>"

    def _balanced(self) -> str:
        """A bracket and all that it holds, or a string."""
        begin, open_ = self.at, []
        while self.at < len(self.text):
            mark = self.text[self.at]
            if mark == '"':
                self.at = self.text.find('"', self.at + 1)
                if self.at < 0:
                    break
            elif mark in _BRACKETS:
                open_.append(_BRACKETS[mark])
            elif open_ and mark == open_[-1]:
                open_.pop()
            self.at += 1
            if not open_:
                return self.text[begin : self.at]
        raise UsageError(f"{self.place}: a bracket or string of a check is not closed")

    def _type(self) -> str:
        begin = self.at
        self._word() if self._peek() != "!" else None
        while self.at < len(self.text) and (self.text[self.at] in "!." or self.text[self.at].isalnum()):
            self.at += 1
        if self.text[self.at : self.at + 1] == "<":
            self._balanced()
        return self.text[begin : self.at].strip()
