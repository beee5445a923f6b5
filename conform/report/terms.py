"""The forms of what a run was held to beside its contract: waivers, the truth, and what the backend claims."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conform.report.forms import Count, Digest, Form, Printable


class WaiverEntry(Form):
    """An entry of a file of waivers: its line, what it is for, and how many failures it expected."""

    line: Count
    for_: Annotated[list[Printable], Field(alias="for")]
    reason: Printable
    link: Printable | None
    until: Printable | None
    state: Literal["used", "passing", "unused", "expired", "elsewhere", "not asked"]
    cases: Count


class Waivers(Form):
    """The waivers of a run."""

    source: Printable
    digest: Digest
    entries: list[WaiverEntry]


class Green(Form):
    """Of how many ops I8 held on files that have not changed since, and how many there are: the oldest day in UTC that
    counts, the pairs of such an op and a dtype, and the elements that were equal."""

    on: Printable
    ops: Count
    of: Count
    pairs: Count
    elements: Count


class Truth(Form):
    """Whose results are the truth, the digest of interpreter and references, and when I8 held for it."""

    oracle: Literal["interp", "refs"]
    digest: Digest
    i8: Annotated[Green | None, Field(description="null: not known of any op")]


class ClaimEntry(Form):
    """A claim of a manifest: its line, what it is for, and the cases of it that were asked and judged."""

    line: Count
    for_: Annotated[list[Printable], Field(alias="for")]
    cases: Count
    judged: Count


class Manifest(Form):
    """What the backend claims to do."""

    source: Printable
    digest: Digest
    claims: list[ClaimEntry]
