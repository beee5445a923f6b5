"""certificate.html, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conform.certify import page
from tests.certify.support import statement_in

pytestmark = pytest.mark.one_in(6, together=True)

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def worse(made: tuple[Path, Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a whole certificate that has everything: a waiver, a failing pair, foreign names, the self-test."""
    conform = statement_in(made[0])["predicate"]["conform"]
    conform["must_pass"]["is_whole"] = True
    conform["backend"]["name"] = "<b>bold</b>\u202e"
    conform["ops"]["aten::exp"]["float32"] |= {"fail": 3, "unspecified": 1}
    conform["waivers"] = {"source": "w.yaml", "digest": "sha256:00", "entries": [
        {"line": 2, "for": ["aten::exp"], "reason": "known", "link": "https://example.org/1", "until": "2030-01-31",
         "state": "used", "cases": 2}
    ]}  # fmt: skip
    conform["selftest"] = {"seed": 1, "planted": 22_000, "tried": 400, "caught": 380, "explained": 20, "pairs": 24,
                           "elements": 400_000, "disagreeing": 0, "problems": []}  # fmt: skip
    path = tmp_path_factory.mktemp("page") / "certificate.html"
    path.write_text(page.render("FAILED", conform), encoding="utf-8")
    return path


def test_it_says_what_is_held_and_leads_to_the_reports(opened: Open, made: tuple[Path, Path, Path]) -> None:
    shown = opened(made[0] / "certificate.html")
    assert "PASSED" in shown.locator(".verdict").inner_text()
    assert "What was run is a part of the must-pass list." in shown.locator("#result").inner_text()
    assert [one.inner_text() for one in shown.locator("#levels + div tbody th").all()] == [
        "exact", "ieee", "accurate", "correctly rounded", "deterministic", "training",
    ]  # fmt: skip
    assert "A PART OF IT" in shown.locator(".facts").inner_text()
    assert shown.get_by_text("All pairs").is_visible()
    assert shown.get_by_text("Pairs with other ends").count() == 0
    shown.get_by_role("link", name="Report of the nonce draw").click()
    shown.wait_for_selector("body[data-ready]")
    assert shown.url.endswith("/nonce/report.html")


def test_what_failed_is_open_and_texts_of_others_stay_texts(opened: Open, worse: Path) -> None:
    shown = opened(worse)
    assert "✗ FAILED" in shown.locator(".verdict").inner_text()
    assert shown.locator("h1 b").count() == 0
    assert "\u202e" not in shown.content()
    row = shown.locator("details[open] tbody tr")
    assert [one.inner_text().split("\t") for one in row.all()] == [
        ["aten::exp", "float32", "15", "19", "fail 3, unspecified 1"]
    ]
    assert "380 of 400 planted defects caught" in shown.locator(".facts").inner_text()


@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing(opened: Open, worse: Path, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    shown = opened(worse, bypass_csp=True, viewport={"width": width, "height": 800})
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    shown.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        shown.emulate_media(color_scheme=scheme)
        found = Axe().run(shown, options=options).response
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
