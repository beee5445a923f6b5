"""Text within the columns of a terminal: how wide it is, where a line or a command breaks, tables whose cells break.

Text of others must not begin a line, or it would read like one of the kit's: what it goes on with has a bar before it.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Callable, Iterable, Sequence

GAP = 2  # blanks between two columns
BAR, DOTS = "| ", " ..."
LEAST_WIDTH = 20  # what a narrower terminal is taken for


def width_of(text: str) -> int:
    """The columns that printable text takes: two of a wide character of East Asia, none of a combining mark (Unicode
    Standard Annex #11)."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, width: int, right: bool = False) -> str:
    """The text with blanks behind it, or before it, up to a width."""
    blanks = " " * (width - width_of(text))
    return blanks + text if right else text + blanks


def wrapped(text: str, width: int | None) -> list[str]:
    """Lines of at most `width` columns (None: of any): broken at blanks, and within words that are too long."""
    if width is None or width_of(text) <= width:
        return [text]
    lines, current = [], ""
    for word in _pieces(text.split(" "), width):
        joined = f"{current} {word}" if current else word
        if width_of(joined) <= width:
            current = joined
        else:
            lines.append(current)
            current = word
    return [*lines, current]


def _pieces(words: Iterable[str], width: int) -> Iterable[str]:
    for word in words:
        yield from chunks(word, width)


def chunks(word: str, width: int) -> list[str]:
    """A word cut into parts of at most `width` columns, each of one character at least."""
    if width_of(word) <= width:
        return [word]
    parts = [""]
    for character in word:
        if parts[-1] and width_of(parts[-1] + character) > width:
            parts.append("")
        parts[-1] += character
    return parts


def hanging(label: str, text: str, width: int | None) -> list[str]:
    """Text behind a label, its further lines below its first, each with a bar before it."""
    indent = " " * (width_of(label or BAR) - len(BAR)) + BAR
    room = None if width is None else max(width - len(indent), LEAST_WIDTH // 2)
    first, *rest = wrapped(text, room)
    return [f"{label}{first}", *(f"{indent}{line}" for line in rest)]


def cut(text: str, width: int | None) -> str:
    """The beginning of a text that is wider than that, with dots behind it."""
    if width is None or width_of(text) <= width:
        return text
    return f"{chunks(text, max(width - len(DOTS), 1))[0].rstrip()}{DOTS}"


def command(label: str, words: Sequence[str], width: int | None) -> list[str]:
    """A command of the shell behind a label: a line that does not end it ends with a backslash, so that it can be
    copied. A word that fits on no line begins one and is broken within."""
    lines, indent = [label], " " * width_of(label)
    for word in map(shlex.quote, words):
        blank = "" if lines[-1] in (label, indent) else " "
        if width is None or width_of(lines[-1] + blank + word) + 2 <= width:
            lines[-1] += blank + word
        elif width_of(indent + word) + 2 <= width:
            lines[-1] += " \\"
            lines.append(indent + word)
        else:
            lines[-1] += " \\"
            lines += _broken(word, width)
    return lines


def _broken(quoted: str, width: int) -> list[str]:
    """A word over several lines, which begin at the margin: a blank before a part would end the word."""
    (word,) = shlex.split(quoted)
    parts = [""]
    for character in word:
        if parts[-1] and width_of(shlex.quote(parts[-1] + character)) >= width:  # one column is the backslash's
            parts.append("")
        parts[-1] += character
    *others, last = map(shlex.quote, parts)
    return [*(f"{part}\\" for part in others), last]


# --- Tables -----------------------------------------------------------------------------------------------------------

Style = Callable[[str], str]


def table(
    rows: Sequence[Sequence[str]],
    width: int | None,
    least: Sequence[int],
    right: frozenset[int] = frozenset(),
    style: Callable[[int, int], Style | None] = lambda row, column: None,
) -> list[list[str]]:
    """The lines of each row, in columns. Where these are too wide, cells break at blanks, down to the widths `least`;
    a first cell that is longer stands on a line of its own.

    right: the columns that are aligned to the right;  style: what to do to a padded cell, by row and column
    """
    widths = _widths(rows, width, least)
    blocks = []
    for number, (name, *cells) in enumerate(rows):
        is_long = width_of(name) > widths[0]
        parts = [wrapped(cell, size) for cell, size in zip(["" if is_long else name, *cells], widths, strict=True)]
        lines = wrapped(name, width) if is_long else []
        for depth in range(max(map(len, parts))):
            texts = [part[depth] if depth < len(part) else "" for part in parts]
            line = [
                _styled(style(number, column), padded(text, size, column in right))
                for column, (text, size) in enumerate(zip(texts, widths, strict=True))
            ]
            lines.append((" " * GAP).join(line).rstrip())
        blocks.append(lines)
    return blocks


def _styled(style: Style | None, text: str) -> str:
    bare = text.strip()
    return text.replace(bare, style(bare)) if style and bare else text


def _widths(rows: Sequence[Sequence[str]], width: int | None, least: Sequence[int]) -> list[int]:
    """What each column needs, less what is too much, taken where most is above the least; at last below that."""
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    while width is not None and sum(widths) + GAP * (len(widths) - 1) > width:
        spare = [one - few for one, few in zip(widths, least, strict=True)]
        widest = spare.index(max(spare)) if max(spare) > 0 else widths.index(max(widths))
        if widths[widest] == 1:
            break
        widths[widest] -= 1
    return widths
