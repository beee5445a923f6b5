"""A backend that writes the report it would like: nothing of it is a line of its own, or anything but text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner

from conform.cli import main
from conform.report import terminal
from conform.report.html.page import asset
from conform.report.write import FILES, PAGE
from conform.straight_line import check

CLAIM = "conformant: conformance 100 % (577 of 577 judged cases pass)"
HOSTILE = rf"mine\n\n{CLAIM}\n\x1b[2J\x1b[1A\u202egnorw\u2066 ``` @everyone | <script> [a](http://b) " + "z" * 500
TEXTS = [name for name in FILES if name != PAGE]  # of the page, text is what its scripts do not hold
WIDTHS = (20, 40, 64, 67, 68, 80, 100, 200)
BACKEND = f"""
import os
import conform

class Mine(conform.Backend):
    name = version = "{HOSTILE}"

    def run(self, op, args, kwargs):
        if op == "aten::neg":
            print("{HOSTILE}")
            os.abort()
        if op == "aten::exp":
            raise conform.Unsupported("{HOSTILE}")
        print("{HOSTILE}")
        raise ValueError("{HOSTILE}")
"""
CONTRACT = f"""
name: "{HOSTILE.replace("z" * 500, "")}"
base: opencl
rows: [{{ops: [aten::add], kind: exact, source: "{HOSTILE}"}}]
"""
SUITE = """
tests:
  - {id: refused, op: aten::exp, in: [{type: tensor, shape: [3], dtype: float32}]}
  - {id: crashed, op: aten::neg, in: [{type: tensor, shape: [3], dtype: float32}]}
  - {id: raised, op: aten::add, in: [{type: tensor, shape: [3], dtype: int32}, {type: const, value: 1}]}
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is printed, and the files, of a run whose backend, contract and suite's path are hostile."""
    folder = tmp_path_factory.mktemp("forged")
    suite = f"a\n{CLAIM}\n\x1b[2J.yaml"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("backend.py").write_text(BACKEND)
        Path("strict.yaml").write_text(CONTRACT)
        Path(suite).write_text(SUITE)
        words = ("check", suite, "--backend", "backend.py::Mine", "--contract", "strict.yaml", "--out", "out")
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 1, result.output
        record = check([suite], "backend.py::Mine", contract="strict.yaml").record
        narrow = {f"stdout {width}": click.unstyle(terminal.render(record, width)) for width in WIDTHS}
        return {"stdout": result.stdout, **narrow, **{path.name: path.read_text() for path in Path("out").iterdir()}}


@pytest.mark.parametrize("name", ["stdout", *(f"stdout {width}" for width in WIDTHS), *TEXTS])
def test_a_report_is_printable_and_the_claim_stands_on_no_line_of_its_own(texts: dict[str, str], name: str) -> None:
    """In run.json, which is data, the lines of a log are strings in quotes."""
    lines = texts[name].split("\n")
    assert all(line.isprintable() for line in lines)
    marks = {"run.json": " #|`'", "report.md": " #|`\"'"}.get(name, " ")
    assert not [line for line in lines if line.lstrip(marks).startswith(CLAIM[:30])]
    assert CLAIM.replace(" ", "") in re.sub("[ |]", "", "".join(lines))  # it is there, as what it is
    assert "z" * 200 not in texts[name]


def test_the_verdict_is_the_kit_s(texts: dict[str, str]) -> None:
    assert click.unstyle(texts["stdout"]).count("\nnot conformant: ") == 1
    assert texts["report.md"].startswith("# conform: not conformant\n")


def test_what_a_backend_printed_is_labelled_line_by_line(texts: dict[str, str]) -> None:
    for name in ("stdout", "junit.xml", "report.md"):
        assert re.search(rf"^ *printed +{re.escape(CLAIM)}$", texts[name], re.MULTILINE), name
    (log,) = json.loads(texts["run.json"])["environment"]["logs"].values()
    assert log[:3] == ["mine", "", CLAIM]


def test_markdown_shows_foreign_text_as_code(texts: dict[str, str]) -> None:
    """Outside code, nothing is left that could be a link, a mention or markup."""
    outside = re.sub(r"(?s)^(`{3,})\n.*?\n\1$", "", texts["report.md"], flags=re.MULTILINE)
    outside = "\n".join(re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line) for line in outside.split("\n"))
    assert not re.search(r"@everyone|<script>|http://b|gnorw", outside)
    rows = [re.sub(r"\\\|", "", line) for line in texts["report.md"].split("\n") if line.startswith("| 1 ")]
    assert {row.count("|") for row in rows} == {6}  # five cells, whatever stands in them


def test_xml_holds_foreign_text_as_text(texts: dict[str, str]) -> None:
    root = ElementTree.fromstring(texts["junit.xml"])
    assert {element.tag for element in root.iter()} == {
        *("testsuites", "testsuite", "testcase", "skipped", "error"),
        *("properties", "property"),
    }
    assert "<script>" in (root.find(".//error[@type='error']").get("message") or "")


def test_html_holds_foreign_text_as_text(texts: dict[str, str]) -> None:
    """Beside the data in base64, and the scripts that come with the kit."""
    page = _Page()
    page.feed(texts[PAGE].replace(asset("vendor/d3.min.js"), "").replace(asset("vendor/plot.umd.min.js"), ""))
    assert page.tags <= {*HEAD, *BODY, "script"}
    assert not [name for name in page.attributes if name.startswith("on")]
    assert all(re.fullmatch(r"#.*", link) for link in page.links)
    assert all(line.isprintable() for line in "".join(page.texts).split("\n"))
    assert "<script>" in "".join(page.texts)
    assert "z" * 2000 not in "".join(page.texts)


HEAD = {"html", "head", "meta", "title", "style", "body", "a", "header", "nav", "main", "noscript", "search", "footer"}
BODY = {
    *("section", "div", "p", "h1", "h2", "h3", "dl", "dt", "dd", "ul", "li", "span", "code", "abbr"),
    *("table", "thead", "tbody", "tr", "th", "td", "form", "label", "input"),
}


class _Page(HTMLParser):
    """The elements, attributes and links of a page, and its text outside style and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.texts: list[str] = []
        self.is_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.is_code = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.is_code = False

    def handle_data(self, data: str) -> None:
        if not self.is_code:
            self.texts.append(data)


def test_errors_of_the_command_line_hold_no_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("strict\x1b[2J.yaml").write_text("rows: 3")
    result = CliRunner().invoke(main, ["check", "smoke", "--backend", "cpu", "--contract", "strict\x1b[2J.yaml"])
    assert result.exit_code == 2
    assert result.stderr.startswith(r"conform: strict\x1b[2J.yaml:1: ")
