"""Pages as people meet them, in a real browser: clicking, filtering, copying, keys, a screen reader's view, print."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conform.judging.verdict import Verdict
from conform.report import write
from conform.report.html import page, records, site
from conform.report.run_json import to_json
from tests.report.verdicts import ACCEPTED, CRASHED, FAILED, PASSED, UNSPECIFIED, run_of

pytestmark = pytest.mark.one_in(6, together=True)

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]

STRIDED = replace(PASSED, id="exp_1d/float32/typical/strided.0", layout="strided.0", check="layout", worst=FAILED.worst)
HALF = replace(PASSED, id="exp_1d/float16/typical/contiguous", dtype="float16")
SINE = replace(PASSED, id="sin_1d/float32/typical/contiguous", test="sin_1d", op="aten::sin")
RUN = (PASSED, STRIDED, HALF, SINE, FAILED, CRASHED, UNSPECIFIED, replace(ACCEPTED, is_counted=False))
OTHER = (PASSED, STRIDED, HALF, SINE, replace(PASSED, id=FAILED.id, values="special", check="special"), CRASHED)
CLEAN = (*(replace(PASSED, id=one.id, test=one.test, op=one.op) for one in RUN[:-1]), RUN[-1])  # the cases of RUN
MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(1)>'\"&amp;"
BIDI = "\u202egnorw\u2066 עברית العربية"
HOSTILE = (
    replace(CRASHED, op=f"aten::{MARKUP}", reason=MARKUP + BIDI + "x" * 10**6, dtype=MARKUP, layout=MARKUP),
    replace(CRASHED, id=MARKUP, test=MARKUP, values=MARKUP),
    replace(FAILED, op="aten::__proto__", id="constructor/float32/typical/x", dtype="toString", reason=BIDI * 10),
    replace(FAILED, op="y" * 10**6, id="z" * 10**6, test="t", dtype="w" * 10**5, layout="v" * 10**5),
)  # fmt: skip


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files by what they show."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "one": page.render([record(*RUN)]),
        "full": page.render([record(*RUN, full=True)]),
        "two": page.render([record(*RUN), record(*OTHER)]),
        "hostile": page.render([record(*HOSTILE), record(*RUN)]),
        "core": page.render([as_large_as_core()]),
    }
    for name, text in texts.items():
        (folder / name).mkdir()
        write.put(folder / name / "report.html", text)
    for name, text in site.render([record(*RUN), record(*CLEAN), record(PASSED)]).items():
        write.put(folder / name, text)
    return {**{name: folder / name / "report.html" for name in texts}, "site": folder / "index.html"}


def record(*verdicts: Verdict, full: bool = False) -> dict:
    return records.of_text(to_json(run_of(*verdicts).record, full))


def as_large_as_core() -> dict:
    """30,000 cases of 400 ops and 12 dtypes, every fortieth of them failing."""
    found = record(PASSED, FAILED)
    failed, passed = found["cases"]
    assert (failed["status"], passed["status"]) == ("fail", "pass")
    found["ops"] = {f"aten::op{number}": {"family": f"family{number % 13}", "largest": [3, 8]} for number in range(400)}
    found["cases"] = [
        {**(passed if n % 40 else failed), "id": f"{n}", "op": f"aten::op{n % 400}", "dtype": f"d{n % 12}"}
        for n in range(30_000)
    ]
    return found


def cells(page: Page) -> dict[str, str]:
    """The rows of the map by their ops; also of those that are not drawn, because they cannot be seen yet."""
    rows = page.locator("table.map tbody tr").all()
    return {row.locator("th").first.text_content(): " | ".join(row.locator("td").all_text_contents()) for row in rows}


# --- One run ----------------------------------------------------------------------------------------------------------


def test_a_page_says_how_the_run_ended(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"])
    assert page.title() == "conform: fake 1.2"
    assert page.locator(".verdict").inner_text() == "✗ not conformant"
    assert page.locator(".big").all_inner_texts() == ["66.66 %", "85.71 %"]
    assert cells(page) == {
        "exp": "✗ 1/4 | 1 | ✗ 1/3", "sin": "1 | | 1".replace("| |", "|  |"), "div.Tensor_mode": "✗ 1/1 | ✗ 1/1",
    }  # fmt: skip
    assert "kill rate\t99.44 %" in page.locator("#self-test-of-the-kit").inner_text()
    assert "the backend accepted invalid arguments" in page.locator("#not-counted").inner_text()
    assert page.locator("#unjudged tbody tr").all_inner_texts() == [
        "unspecified\tinteger division by zero\tdiv.Tensor_mode\t1"
    ]


def test_filters_leave_what_they_name(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"])
    for name, value, shown in (
        ("status", "fail", {"exp": "✗ 1/1 | ✗ 1/1"}),
        ("status", "not judged", {"div.Tensor_mode": "– 1 | – 1"}),
        ("dtype", "float16", {"exp": "1 | 1"}),
        ("check", "layout", {"exp": "1 | 1"}),
        ("layout", "strided", {"exp": "1 | 1"}),
        ("values", "special", {"exp": "✗ 1/1 | ✗ 1/1", "div.Tensor_mode": "– 1 | – 1"}),
        ("family", "elementwise", {"div.Tensor_mode": "✗ 1/1 | ✗ 1/1"}),
    ):
        page.select_option(f"select[name={name}]", value)
        page.wait_for_function(f"() => location.hash.includes('{name}=')")
        assert {op: row.replace("|  ", "") for op, row in cells(page).items()} == shown
        page.get_by_role("button", name="Reset").click()
        page.wait_for_function("() => document.querySelectorAll('table.map tbody tr').length === 3")


def test_an_address_has_the_filters(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"], "#?status=fail&layout=contiguous&find=EXP")
    assert cells(page) == {"exp": "✗ 1/1 | ✗ 1/1"}
    assert page.locator("select[name=layout]").input_value() == "contiguous"


def test_a_name_is_searched_while_it_is_typed(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"])
    page.get_by_role("searchbox", name="Op").press_sequentially("SIN")
    page.wait_for_function("() => document.querySelectorAll('table.map tbody tr').length === 1")
    assert page.get_by_role("status").inner_text() == "1 case of 1 op shown"


def test_sections_keep_the_filters(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"], "#?status=fail&op=aten%3A%3Aexp")
    page.locator(".skip").press("Enter")
    assert page.locator("#op h1").is_visible()
    page.get_by_role("link", name="Failures").click()
    page.wait_for_selector("#after:visible")
    assert cells(page) == {"exp": "✗ 1/1 | ✗ 1/1"}
    assert page.locator("#failures h2").is_visible()


def test_who_goes_on_quickly_sees_the_last_op(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"])
    page.evaluate(
        """() => {
            const real = unpacked;
            window.unpacked = (id) => new Promise((done) => setTimeout(() => done(real(id)), id === "op-0" ? 400 : 0));
            location.hash = "#?op=aten::exp"; // op-0, which takes long
            setTimeout(() => (location.hash = "#?op=aten::sin"), 50);
        }"""
    )
    page.wait_for_function("() => document.title.startsWith('aten::sin')")
    page.wait_for_timeout(600)
    assert page.locator("#op h1").inner_text() == "aten::sin"


def test_an_op_has_a_page_with_its_failing_cases(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"])
    page.locator("table.map").get_by_role("link", name="exp", exact=True).click()
    page.wait_for_selector("#op h1")
    assert page.locator("#op h1").inner_text() == "aten::exp"
    assert page.evaluate("document.activeElement.textContent") == "aten::exp"  # a screen reader goes on from there
    assert page.title() == "aten::exp – conform: fake 1.2"
    table = page.get_by_role("region", name="By dtype")
    assert "7.25 / 3" in table.inner_text()
    assert "OpenCL C 3.0, 7.4 table 66: exp, single precision" in table.inner_text()
    assert page.locator("#op figure svg[aria-label='Errors of float32 by size'] rect").count() >= 3
    page.wait_for_selector("details.case dl")
    case = page.locator("details.case").inner_text()
    for told in ("float32 [2, 3, 4]: 0.1 = 0x1.99999ap-4", "1.105171 = 0x1.1aec7cp+0", "1.1051722 = 0x1.1aec9p+0"):
        assert told in case
    page.go_back()
    page.wait_for_selector("#after:visible")
    assert page.locator("#op").is_hidden()
    assert page.evaluate("document.activeElement.textContent") == "exp"  # where it was left


def test_filters_choose_among_the_failing_cases_of_an_op(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"], "#?op=aten%3A%3Aexp&layout=strided")
    assert page.locator("#failing").inner_text().endswith("None of 1 failing case passes the filters.")
    page.select_option("select[name=layout]", "")
    page.wait_for_selector("details.case")
    assert page.get_by_role("status").inner_text() == "1 failing case shown"


def test_a_command_is_copied_to_the_clipboard(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"], "#?op=aten%3A%3Aexp")
    page.get_by_role("button", name="Copy the command: repeat").click()
    command = "conform check core --backend fake --id exp_1d/float32/special/contiguous --seed 0"
    page.wait_for_function("() => document.querySelector('#shown').textContent.startsWith('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == command


def test_a_page_says_what_a_record_does_not_hold(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"], "#?op=aten%3A%3Asin")
    text = page.locator("#op").inner_text()
    assert "Not recorded: no case has a worst element with an error in ulps" in text
    assert "--full-record" in text
    assert "No case failed." in text


@pytest.mark.parametrize(("name", "points"), [("one", 1), ("full", 2)])
def test_errors_are_drawn_against_inputs(opened: Open, pages: dict[str, Path], name: str, points: int) -> None:
    page = opened(pages[name], "#?op=aten%3A%3Aexp")
    figure = page.locator("figure.wide")
    assert figure.locator("figcaption").first.inner_text().startswith(f"Error against self: {points} worst element")
    assert figure.locator("svg g.error path").count() == points
    page.locator("#op select").select_option("expected result")
    page.wait_for_selector("svg[aria-label='Error against expected result']")
    figure.locator("summary").click()
    assert "7.25\t3\tfail\texp_1d/float32/special/contiguous" in figure.locator("table").inner_text()


def test_everything_is_reached_by_keys(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('name') || document.activeElement.textContent"))
    assert {"Map", "find", "status", "dtype", "check", "layout", "values", "family", "Reset", "exp", "✗ 1/3"} <= reached
    page.locator("table.map").get_by_role("link", name="exp", exact=True).press("Enter")
    page.wait_for_selector("#op h1")
    page.locator("details.case summary").press("Enter")
    assert page.locator("details.case").get_attribute("open") is None  # the only one was open


# --- Several ----------------------------------------------------------------------------------------------------------


def test_two_runs_stand_side_by_side(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["two"])
    assert page.locator(".which").all_inner_texts() == ["A: fake 1.2", "B: fake 1.2"]
    rows = page.locator("#family-0 ~ .scroll tbody tr")
    assert rows.nth(0).locator("th, td").all_text_contents() == ["exp", "A", "✗ 1/4", "1", "✗ 1/3"]
    assert rows.nth(1).locator("th, td").all_text_contents() == ["B", "4", "1", "3"]
    assert "pass ≠\t4\t5" in page.locator("#result").inner_text()
    page.get_by_label("only where runs differ").check()
    page.wait_for_function("() => document.querySelectorAll('table.map tbody tr').length === 4")
    page.locator("table.map").get_by_role("link", name="exp", exact=True).click()
    page.wait_for_selector("details.case dl")
    assert "other runs\nB: pass" in page.locator("details.case").inner_text()
    assert "No case failed." in page.locator("#failing").inner_text()


def test_a_site_sorts_and_leads_to_pages(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["site"])
    assert page.locator("h2").all_inner_texts() == [
        "Suite core, 8 cases, contract opencl, seed 0", "Suite core, 1 case, contract opencl, seed 0",
    ]  # fmt: skip
    league = page.locator("table.league").first
    rows = league.locator("tbody tr")
    assert "✓ conformant" in rows.first.inner_text()
    league.get_by_role("button", name="not passed").click()
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("not passed")
    assert "✗ not conformant" in rows.first.inner_text()
    rows.last.get_by_role("link").click()
    page.wait_for_selector("body[data-ready]")
    assert page.locator(".verdict").inner_text() == "✓ conformant"


# --- For everyone -----------------------------------------------------------------------------------------------------

VIEWS = [("one", ""), ("full", "#?op=aten%3A%3Aexp"), ("two", ""), ("two", "#?op=aten%3A%3Aexp"), ("site", "")]


@pytest.mark.parametrize(("name", "address"), VIEWS)
def test_axe_finds_nothing(opened: Open, pages: dict[str, Path], name: str, address: str) -> None:
    """All of axe-core's rules, with every details open; in the dark those of contrast once more."""
    from axe_playwright_python.sync_playwright import Axe

    page = opened(pages[name], address, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options=options).response
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
        assert "color-contrast" in {one["id"] for one in found["passes"]}


@pytest.mark.parametrize("address", ["", "#?op=aten%3A%3Aexp"])
def test_a_narrow_window_scrolls_in_one_direction(opened: Open, pages: dict[str, Path], address: str) -> None:
    page = opened(pages["one"], address, viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_print_leaves_out_what_paper_cannot_do(opened: Open, pages: dict[str, Path]) -> None:
    page = opened(pages["one"], color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator("#filters").is_hidden()
    assert page.locator("header").is_hidden()
    assert page.locator("table.map").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_without_scripts_the_figures_are_there(opened: Open, browser: object, pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(pages["one"].as_uri())
    assert "✗ not conformant" in page.locator(".verdict").inner_text()
    assert "need JavaScript" in page.locator("noscript").inner_text()
    context.close()


def test_texts_of_others_stay_texts(opened: Open, pages: dict[str, Path]) -> None:
    """A dialog, an image that is asked for, or an error would be a complaint of `opened`."""
    page = opened(pages["hostile"])
    assert page.locator("img").count() == 0
    assert page.locator("table.map tbody tr").count() == 12  # six ops, two runs
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    for number in range(6):
        page.locator("table.map tbody tr:nth-child(odd) th a").nth(number).click()
        page.wait_for_selector("#op h1")
        for summary in page.locator("#op summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
        page.go_back()
        page.wait_for_selector("#after:visible")


def test_thirty_thousand_cases_open_in_less_than_two_seconds(opened: Open, pages: dict[str, Path]) -> None:
    """The best of three, since other tests run beside this one."""
    took_s = []
    for _ in range(3):
        start = time.perf_counter()
        page = opened(pages["core"])
        took_s.append(time.perf_counter() - start)
        assert page.get_by_role("status").inner_text() == "30,000 cases of 400 ops shown"
    assert min(took_s) < 2.0
