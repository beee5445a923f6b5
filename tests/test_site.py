"""The documentation site: every page is in its navigation, every link leads somewhere, every operator has its page, and
nothing of what others wrote becomes markup."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from conform.explain.op_facts import op_facts
from conform.suites import load
from tools import torch_deviations
from tools.markup import code, paragraphs, table, text
from tools.op_pages import OTHER_KIND, SECTIONS, Page, kind_of, known_ops, op_page, pages, path_of

pytestmark = pytest.mark.one_in(6, together=True)

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FEW = ("aten::sqrt", "aten::gelu", "aten::index", "aten::greater", "aten::gt", "aten::convolution_backward")
EXTENSIONS = ["tables", "sane_lists", "toc", "pymdownx.superfences"]
HOSTILE = "<script>alert(1)</script> a | b *c* __d__ `e` [f](g) {: .h } &amp; \\* ~~i~~\n# j\n- k\n1. l\n\n    m"


def _nav(entries: list) -> list[str]:
    found = []
    for entry in entries:
        target = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += [target] if isinstance(target, str) else _nav(target)
    return found


def _config() -> dict:
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


# --- What stands in docs/ ---------------------------------------------------------------------------------------------


def test_every_page_is_in_the_navigation_once() -> None:
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    named = _nav(_config()["nav"])
    assert sorted(named) == sorted(written | {"ops/index.md"})


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_every_link_to_a_file_resolves(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"(?<!\\)\]\(([^)\s#]+)(?:#[^)\s]*)?\)", re.sub(r"`[^`]*`(?!\])", "", prose))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


# --- The pages of operators -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few() -> dict[str, str]:
    return {page.path: page.markdown for page in pages(FEW)}


def test_a_page_has_every_section(few: dict[str, str]) -> None:
    assert {path_of(op) for op in FEW} <= few.keys()
    for op in FEW:
        assert tuple(re.findall(r"^## (.*)$", few[path_of(op)], re.MULTILINE)) == SECTIONS


def test_a_page_tells_what_the_kit_and_its_documents_know(few: dict[str, str]) -> None:
    page = html.unescape(re.sub(r"</?(code|span)>", "", few["ops/aten/sqrt.md"]))
    assert "The square root; NaN below zero, -0 of -0" in page
    assert "| opencl | 1.5 ulp | 1.5 ulp | 3 ulp | 0.5 ulp | derived | derived |" in page
    assert "| opencl | ulps of the exact result, from it | OpenCL C 3.0 section 7.4, sqrt; bfloat16 takes" in page
    assert "[P2](../../policy.md#P2)" in page
    assert "\n| sqrt_cuts | core/elementwise.yaml:" in page
    assert "| sqrt | float64 | the neighbour of the correctly rounded root for about one operand in 60" in page
    assert "| float64 | AVX2 AVX512 | fail: not the correctly rounded result |" in page
    assert "(result is None) = not output_mask[0]" in html.unescape(few["ops/aten/convolution_backward.md"])
    assert "Another name of [<code>aten::gt</code>](../../ops/aten/gt.md)" in few["ops/aten/greater.md"]
    assert "Nothing is known" in few["ops/aten/gt.md"]


def test_every_failure_that_is_waived_is_told_on_a_page() -> None:
    waived = set(torch_deviations._entries())
    assert waived
    assert waived <= known_ops().keys()
    assert all(torch_deviations.told(op) and torch_deviations.waived(op) for op in waived)


def test_no_two_names_have_one_path() -> None:
    names = ["aten::a", "aten::A", "aten::_a", "aten::a-", "aten::a/b", "aten::a::b", "aten::..", "aten::a b", "my::a",
             "aten::a-2d-", "aten::<a>", "aten::ä", "aten::a\n"]  # fmt: skip
    paths = [path_of(name) for name in names]
    assert len({path.lower() for path in paths}) == len(names)
    assert all(re.fullmatch(r"ops/[0-9a-z_-]+/[0-9a-z_-]+\.md", path) for path in paths)


# --- Foreign text -----------------------------------------------------------------------------------------------------


class _Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.words = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


def _rendered(markdown_text: str) -> _Read:
    """As mkdocs makes HTML of it."""
    markdown = pytest.importorskip("markdown", reason="the extra `docs` is not installed")
    read = _Read()
    read.feed(markdown.markdown(markdown_text, extensions=["attr_list", *EXTENSIONS]))
    return read


def test_what_others_wrote_is_shown_and_never_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = op_facts("aten::sqrt")
    meanings = tuple(replace(one, schema=HOSTILE, text=HOSTILE) for one in facts.meanings)
    rules = tuple(replace(rule, question=HOSTILE, default=HOSTILE, source=HOSTILE) for rule in facts.rules)
    rows = tuple((table_, dtype, replace(row, source=HOSTILE)) for table_, dtype, row in facts.bounds[0].rows)
    bounds = (replace(facts.bounds[0], rows=rows, overloads=(HOSTILE,)),)
    told = [torch_deviations.Told("torch-cpu", "What torch returns", (HOSTILE,) * 5)]
    monkeypatch.setattr("tools.op_pages.told", lambda op: told)
    page = op_page(replace(facts, meanings=meanings, rules=rules, bounds=bounds), "elementwise", [])
    plain, hostile = _rendered(op_page(facts, "elementwise", [])), _rendered(page)
    assert hostile.tags == plain.tags
    assert hostile.words.count("<script>alert(1)</script> a | b *c* __d__ `e` [f](g) {: .h } &amp; \\* ~~i~~") >= 10


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=40))
def test_any_text_is_shown_as_it_is(foreign: str) -> None:
    shown = " ".join(foreign.split())
    assert _rendered(f"<span>{text(foreign)}</span>").words == shown
    in_table = _rendered(table(["a", "b"], [[code(foreign), text(f"x{foreign}x")]]))
    assert " ".join(in_table.words.split()) == " ".join(f"a b {shown} x{foreign}x".split())
    assert " ".join(_rendered(paragraphs(foreign)).words.split()) == shown


# --- The site ---------------------------------------------------------------------------------------------------------


LOADED = re.compile(r"<(?:script|link|img|iframe)[^>]*\b(?:src|href)=\"?((?:https?:)?//[^\"\s>]*)")


def _build(folder: Path, docs: Path = DOCS, ops: str = ",".join(FEW)) -> subprocess.CompletedProcess[str]:
    """The site of these pages and operators in `folder`/site, strictly."""
    pytest.importorskip("material", reason="the extra `docs` is not installed")
    config = folder / "mkdocs.yml"
    places = {"INHERIT": str(ROOT / "mkdocs.yml"), "docs_dir": str(docs), "site_dir": str(folder / "site"),
              "hooks": [str(ROOT / "tools" / "site_hooks.py")]}  # fmt: skip
    config.write_text(yaml.safe_dump(places))
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "CONFORM_SITE_OPS": ops, "NO_MKDOCS_2_WARNING": "1"}
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600)


def _articles(site: Path) -> dict[str, str]:
    """What each page says, as HTML without code."""
    found = {}
    for path in site.rglob("*.html"):
        _, _, rest = path.read_text(encoding="utf-8").partition("<article")
        article = re.sub(r"<pre.*?</pre>", "", rest.partition("</article>")[0], flags=re.DOTALL)
        found[path.relative_to(site).as_posix()] = article
    return found


def test_the_site_is_built_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = _build(tmp_path)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    for page in site.rglob("*.html"):
        assert not LOADED.findall(page.read_text(encoding="utf-8")), page
    assert (site / "examples" / "github-action.yml").is_file()
    articles = _articles(site)
    assert 'id="P11"' in articles["policy.html"]
    assert all(f">{heading}<" in articles["ops/aten/index.html"] for heading in SECTIONS if "'" not in heading)
    # A list or a table that Markdown did not see, for want of an empty line before it:
    for name, article in articles.items():
        shown = re.findall(r"<(?:p|li|td)[^>]*>(.*?)</(?:p|li|td)>", article, re.DOTALL)
        assert not [one for one in shown if re.search(r"(^|\n)\s*([*-] |\d+\. |\||#+ )", one)], name


def test_a_broken_link_or_anchor_fails_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    with (docs / "ci.md").open("a", encoding="utf-8") as page:
        page.write("\n[a](run.md#no-such-heading), [b](nowhere.md), [c](policy.md#P9999)\n")
    (docs / "lost.md").write_text("# Not in the navigation\n", encoding="utf-8")
    done = _build(tmp_path, docs, ops="aten::gt")
    assert done.returncode != 0
    assert all(name in done.stderr for name in ("no-such-heading", "nowhere.md", "P9999", "lost.md"))


@pytest.mark.long
def test_the_whole_site(tmp_path: Path) -> None:
    done = _build(tmp_path, ops="*")
    assert done.returncode == 0, done.stderr
    articles = _articles(tmp_path / "site")
    for op in known_ops():
        page = articles[path_of(op).replace(".md", ".html")]
        assert [html.unescape(each) for each in re.findall(r"<h2 id=\"[^\"]*\">(.*?)<a", page)] == list(SECTIONS), op


@pytest.mark.long
def test_every_test_of_core_is_of_a_kind_that_pages_name() -> None:
    assert not [test.id for test in load(["core"]).tests if kind_of(test) == OTHER_KIND]


def test_pages_are_made_of_families_and_lead_to_each_other(few: dict[str, str]) -> None:
    assert {"ops/index.md", "ops/elementwise.md", "ops/indexing.md", "ops/windows.md"} & few.keys() >= {"ops/index.md"}
    index = Page("ops/index.md", few["ops/index.md"])
    for path in few.keys() - {index.path}:
        if path.count("/") == 1:
            assert f"]({path.removeprefix('ops/')})" in index.markdown
    for op, family in known_ops(FEW).items():
        assert f"]({path_of(op).removeprefix('ops/')})" in few[f"ops/{family}.md"]
