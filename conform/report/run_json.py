"""run.json, the short form of a record: what stands in it once, and what its cases leave out.

Of a case that passed, unless the whole is asked for, what explains failures is left out, and its long texts are
referred to: `#/texts/7`, a JSON pointer (RFC 6901, section 6) into the list of that name. `standing` is, in every case,
its place in `standings`.
docs/run.md describes the fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

# What a case leaves out if it is this.
ABSENT: Mapping[str, object] = {"rule": None, "open": 0, "vacuous": 0, "admitted": None, "worst": None}
OF_FAILURES = ("worst", "checks", "location")  # what cases that passed leave out
STANDING = ("tables", "tightest")  # what is the same for many cases, and stands once
TEXTS = ("test", "reason", "rule", "admitted", "location")  # what may be referred to; of a contract all
POINTER = "#/"
LONG = 24  # characters from which a text of a case that passed is referred to
DIGITS = 9  # significant digits of its figures in ulps: so it takes less than 500 bytes
_OF_EVERY_CASE: Mapping[str, object] = {**ABSENT, "checks": 0, "location": None}  # what `expanded` adds
CASES = ("not_counted", "cases")  # the lists of cases, which come last
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_A_LINE_AN_ENTRY = ("findings", "ops", "histograms")


class _Table:
    """Values that stand once, as JSON, each with its place: in the order in which they came."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, value: object) -> int:
        """Where the value stands from now on."""
        return self.places.setdefault(_compact(value), len(self.places))


def to_json(record: Mapping[str, Any], full: bool = False) -> str:
    """The text of run.json: a key a line, and in the long ones an entry a line, so that line tools can compare two.

    full: every case stands there with all that is known of it
    """
    texts, standings = _Table(), _Table()
    cases = [_listed(key, [_compact(_short(case, texts, standings, full)) for case in record[key]]) for key in CASES]
    head = [_entry(key, value) for key, value in record.items() if key not in CASES]
    tables = [_listed("texts", texts.places), _listed("standings", standings.places)]
    return "{\n" + ",\n".join(head + tables + cases) + "\n}\n"


def _short(case: Mapping[str, Any], texts: _Table, standings: _Table, full: bool) -> dict[str, Any]:
    """One entry of `cases` or `not_counted`."""
    brief = case["status"] == "pass" and not full
    left_out = {*STANDING, *(OF_FAILURES if brief else ())}
    left_out |= {key for key, usual in ABSENT.items() if case[key] == usual}
    kept = {key: value for key, value in case.items() if key not in left_out}

    def referred(value: object) -> object:
        """A pointer for what is long, and for what would be taken for one."""
        is_text = isinstance(value, str) and (value.startswith(POINTER) or (brief and len(value) >= LONG))
        return f"{POINTER}texts/{texts.place(value)}" if is_text else value

    kept |= {key: referred(kept[key]) for key in TEXTS if key in kept}
    if kept["contract"] is not None:
        kept["contract"] = {key: referred(value) for key, value in kept["contract"].items()}
    if brief:
        kept |= {key: float(f"{value:.{DIGITS}g}") for key, value in kept.items() if isinstance(value, float)}
    return kept | {"standing": standings.place({key: case[key] for key in STANDING})}


def expanded(found: Mapping[str, Any]) -> dict[str, Any]:
    """The record of which `found`, the content of a valid run.json, is the short form.

    Of cases that passed it says no more than run.json does: their `worst` is None unless the whole was written.
    """
    texts, standings = found["texts"], found["standings"]

    def said(value: object) -> object:
        """A text itself, where it is a pointer."""
        is_pointer = isinstance(value, str) and value.startswith(POINTER)
        return texts[int(value.rpartition("/")[2])] if is_pointer else value

    def whole(case: Mapping[str, Any]) -> dict[str, Any]:
        row = case["contract"]
        kept = {key: value for key, value in case.items() if key != "standing"}
        return {
            **_OF_EVERY_CASE, **kept, **{key: said(kept[key]) for key in TEXTS if key in kept},
            "contract": None if row is None else {key: said(value) for key, value in row.items()},
            **{key: standings[case["standing"]][key] for key in STANDING},
        }  # fmt: skip

    head = {key: value for key, value in found.items() if key not in (*CASES, "texts", "standings")}
    return {**head, **{key: [whole(case) for case in found[key]] for key in CASES}}


def _compact(value: object) -> str:
    return _ENCODER.encode(value)


def _entry(key: str, value: Any) -> str:
    if key not in _A_LINE_AN_ENTRY:
        return f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}"
    if isinstance(value, list):
        return _listed(key, map(_compact, value))
    return f"{json.dumps(key)}: {{{_lines(f'{json.dumps(name)}: {_compact(one)}' for name, one in value.items())}}}"


def _listed(key: str, entries: Iterable[str]) -> str:
    return f"{json.dumps(key)}: [{_lines(entries)}]"


def _lines(entries: Iterable[str]) -> str:
    text = ",\n ".join(entries)
    return f"\n {text}\n" if text else ""
