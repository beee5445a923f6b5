"""A Chromium without a window, for the tests of pages: the system's, driven by playwright.

Where there is none these tests are skipped; where CONFORM_TESTS_NEED_BROWSER is set, as in continuous integration, they
fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SWITCHES = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One of the session; playwright gives it an empty profile of its own."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        told = f"no browser: none of {', '.join(NAMES)} is on the PATH (Debian: apt-get install chromium)"
        if os.environ.get("CONFORM_TESTS_NEED_BROWSER"):
            pytest.fail(told)
        pytest.skip(told)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield chromium
        chromium.close()


class Opened:
    """A page of a browser, and what went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a file in a page of its own; at the end nothing may have complained, and nothing else been asked for."""
    contexts = []
    seen: list[Opened] = []

    def open_(path: Path, address: str = "", **options: object) -> Page:
        context = browser.new_context(**options)  # type: ignore[arg-type]
        contexts.append(context)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        one = Opened(context.new_page())
        seen.append(one)
        one.page.goto(f"{path.as_uri()}{address}")
        if path.name == "report.html":
            one.page.wait_for_selector("body[data-ready]")
        return one.page

    yield open_
    complaints = [complaint for one in seen for complaint in one.complaints]
    requests = {url.partition("#")[0] for one in seen for url in one.requests}
    for context in contexts:
        context.close()
    assert complaints == []
    assert all(url.startswith("file:") and url.endswith(".html") for url in requests), requests
