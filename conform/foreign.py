"""Foreign text: the one door for what others wrote (backends, their exceptions and prints, files, run records).

A name that holds a line break and `conformant: conformance 100 %` must not put that line into a report, nor a
character that moves the cursor or reverses the text change how a line reads. What goes through here is printable
(`str.isprintable`, which leaves out the control, bidirectional, invisible and unassigned characters of Unicode), and
`line` is one line. What a destination needs besides is here as well: Markdown, a comment of Python, data for a page's
scripts; the escapes of XML and HTML are those of the libraries that write them.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

MAX_CHARACTERS = 200
_CUT = " ... "
_SHARE_IN_FRONT = 0.7  # of what a cut leaves: a message begins with what happened and ends with where


def escaped(text: str) -> str:
    """`text` with every character that is not printable written as Python writes it: `\\n`, `\\x1b`, `\\u202e`."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def line(text: object, most: int | None = MAX_CHARACTERS) -> str:
    """`str(text)` as one printable line of at most `most` characters (None: of any length), cut in its middle.

    Blanks and line breaks become one space each run; other characters that are not printable are escaped.
    """
    found = escaped(" ".join(str(text).split()))
    if most is None or len(found) <= most:
        return found
    kept = most - len(_CUT)
    front = int(kept * _SHARE_IN_FRONT)
    return f"{found[:front]}{_CUT}{found[front - kept :]}"


def lines(text: str, most: int = MAX_CHARACTERS) -> str:
    """Text of several lines, each printable and of at most `most` characters; indentation stays."""
    return "\n".join(escaped(one)[:most] for one in text.split("\n"))


def code(text: str) -> str:
    """`text` as a code span of Markdown (CommonMark 0.31, section 6.1): nothing in it is a link, a mention or markup.

    Empty text stays empty: there is no empty code span.
    """
    shown = escaped(text)
    if not shown.strip():
        return shown
    fence = _fence(shown, 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str) -> str:
    """`code` for a cell of a Markdown table: a bar ends a cell unless one backslash stands before it."""
    return re.sub(r"(\\*)\|", lambda bar: f"{bar[1]} \\|" if bar[1] else "\\|", code(text))


def fenced(text: str) -> str:
    """Printable lines as a fenced code block of Markdown (CommonMark 0.31, section 4.5) that none of them ends."""
    fence = _fence(text, 3)
    return f"{fence}\n{text}\n{fence}"


def _fence(text: str, least: int) -> str:
    """More backticks than stand anywhere in the text side by side, and at least so many."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(longest + 1, least)


def shown(text: object, most: int = MAX_CHARACTERS * 10) -> str:
    """`str(text)` for a page of HTML: printable, of at most `most` characters. The template engine escapes the markup.

    Text of right-to-left scripts is printable: what shows it isolates it (`unicode-bidi`).
    """
    return line(text, most)


def packed(value: object) -> str:
    """Data for a script on a page of HTML, as compressed JSON in base64: whatever texts it holds, nothing of it is
    markup (RFC 4648, section 4), and no character of it is lost. The same value has the same bytes under one zlib."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode())).decode()


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of foreign JSON (`object_pairs_hook`). ValueError for a key that stands twice, of which readers take
    one or the other (RFC 8259, section 4)."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {line(repr(twice), 80)} stands twice")
    return found


def comment(text: object) -> str:
    """`# text`, a comment of Python on a line of its own.

    In the first two lines of a file Python looks for the file's encoding in comments (language reference, section
    2.1.4): a script with foreign text must name its encoding in its first line.
    """
    return f"# {line(text, None)}"
