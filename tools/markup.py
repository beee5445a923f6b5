"""Markdown from foreign text: what docstrings, sources and op names hold shows as it is, and never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# What Markdown, its extensions or HTML read as their own within a line; at the start of one, which no text here is at,
# there would be more.
SIGNS = re.compile(r"[\\`*_{}\[\]<>&|~^#$!]")


def text(plain: str) -> str:
    """One line, with character references for signs of markup. To stand in a line behind something else."""
    return SIGNS.sub(lambda sign: f"&#{ord(sign[0])};", " ".join(plain.split()))


def code(plain: str) -> str:
    return f"<code>{text(plain)}</code>"


def codes(names: Iterable[str]) -> str:
    return " ".join(map(code, names))


def paragraphs(plain: str) -> str:
    """Text whose paragraphs are parted by empty lines; none becomes a list or a heading."""
    return "\n\n".join(f"<span>{text(each)}</span>" for each in re.split(r"\n\s*\n", plain) if each.strip())


def link(shown: str, to: str) -> str:
    """`shown` is markup already, `to` a path."""
    return f"[{shown}]({to})"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The cells are markup already, without a bar or a line break of their own."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(heading: str, *parts: str) -> str:
    """A heading, which is markup already, and what is not empty below it."""
    return "\n\n".join([heading, *(part for part in parts if part)])
