"""report.html: a page of one run, or of several side by side, in one file that asks nothing of a network.

The head is HTML, made here; the map of ops and the pages of single ops are drawn in the browser, when they are looked
at, of data that the file holds in base64. A policy (CSP level 3) in the page lets no script run but those of the
kit, told by their digests, and nothing load from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from jinja2 import Environment, FunctionLoader

from conform.foreign import packed, shown
from conform.report.html import counts, ops, overview

TEMPLATE = "assets/page.html"
STYLE = "assets/page.css"
SCRIPTS = (
    "vendor/d3.min.js", "vendor/plot.umd.min.js", "assets/dom.js", "assets/state.js", "assets/map.js",
    "assets/figures.js", "assets/op.js", "assets/main.js",
)  # fmt: skip


def render(records: Sequence[Mapping]) -> str:
    """The text of the page. records: of one run or several, as `records.read` gives them."""
    names = overview.names(records)
    places = counts.Places(records)
    of_ops = [ops.by_op(record["cases"]) for record in records]
    chunks = [
        packed(ops.data(op, records, [of_run.get(op, []) for of_run in of_ops], places)) for op, _ in places.tables.ops
    ]
    return filled(
        TEMPLATE, SCRIPTS,
        heads=[overview.head(record, name) for record, name in zip(records, names, strict=True)],
        sections=overview.sections(records),
        causes=[overview.causes(record) for record in records],
        wide=[overview.wide(record) for record in records],
        apart=[overview.apart(record) for record in records],
        tables=places.tables, most=overview.SHOWN,
        data=packed(counts.data(records, places, names)), chunks=chunks,
    )  # fmt: skip


def load() -> None:
    """Reads all that the page of a run is made of."""
    for name in (STYLE, *SCRIPTS):
        asset(name)
    _environment().get_template(TEMPLATE)


def filled(template: str, scripts: Sequence[str], **told: object) -> str:
    """A template of the kit with these texts, its style and its scripts."""
    sources = [asset(name) for name in scripts]
    digests = " ".join(f"'sha256-{_digest(source)}'" for source in sources)
    return _environment().get_template(template).render(
        style=asset(STYLE), scripts=sources, digests=digests, **told
    ) + "\n"  # fmt: skip


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def asset(name: str) -> str:
    """The text of a file that comes with the kit."""
    return (resources.files("conform.report.html") / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    """Everything that a template shows passes `foreign.shown`, and is escaped; what it calls `safe` is the kit's own
    style and scripts, and base64."""
    return Environment(
        loader=FunctionLoader(asset), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda told: told if hasattr(told, "__html__") else shown(told),
    )  # fmt: skip
