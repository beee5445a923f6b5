"""What others wrote cannot leave its line, its cell or its comment."""

from __future__ import annotations

import ast
import sys

import pytest

from conform import foreign


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("", ""),
        ("mine\n\nconformant: 100 %", "mine conformant: 100 %"),
        ("a\r\x0b\x0c\x1c\x85\u2028\u2029b", "a b"),  # what str.splitlines splits at
        ("\x1b[2Jclear \x07", r"\x1b[2Jclear \x07"),
        ("user\u202etxt.exe\u2066", r"user\u202etxt.exe\u2066"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("lone \ud800", r"lone \ud800"),
        ("Grüße 日本 \U0001f600", "Grüße 日本 \U0001f600"),
        (None, "None"),
    ],
)
def test_a_line_is_printable_and_one(text: object, shown: str) -> None:
    assert foreign.line(text) == shown


def test_a_long_line_keeps_its_beginning_and_its_end() -> None:
    cut = foreign.line("E" * 500 + " (in run, kernels.py:7)")
    assert (len(cut), cut[:5], cut[-28:]) == (200, "EEEEE", "EEEEE (in run, kernels.py:7)")
    assert " ... " in cut
    assert foreign.line("x" * 200) == "x" * 200
    assert len(foreign.line("\x00" * 100)) == 200  # what is escaped counts as it is shown


def test_every_character_is_one_printable_line() -> None:
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    shown = [foreign.line(f"a{one}b") for one in every]
    assert all(one.isprintable() and len(one.splitlines()) == 1 for one in shown)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a b", "`a b`"),
        ("a `b` c", "``a `b` c``"),
        ("`", "`` ` ``"),
        ("``` @everyone", "```` ``` @everyone ````"),
        ("[x](http://e.org) <img src=x>", "`[x](http://e.org) <img src=x>`"),
        ("a\n# title", r"`a\n# title`"),
        ("", ""),
    ],
)
def test_a_code_span_ends_where_its_text_ends(text: str, span: str) -> None:
    assert foreign.code(text) == span


def test_a_cell_keeps_its_bars() -> None:
    assert foreign.cell("a|b") == r"`a\|b`"
    assert foreign.cell(r"a\|b\\||") == r"`a\ \|b\\ \|\|`"


def test_a_fence_is_longer_than_any_in_its_text() -> None:
    assert foreign.fenced("a\n```\n# b") == "````\na\n```\n# b\n````"


@pytest.mark.parametrize("text", ["\n", "\r", "\x0c", "\u2028", "\\\n"])
def test_a_comment_holds_no_code(text: str) -> None:
    assert ast.parse(foreign.comment(f"x{text}import os")).body == []
