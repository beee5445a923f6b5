"""The waivers of a run in words: how many cases they cover, and which of them expect too much."""

from __future__ import annotations

from collections.abc import Mapping

TOO_MUCH = {
    "passing": "every case that it is for passes: take it out",
    "unused": "it is for no case of the run: take it out, or mend its globs",
    "expired": "it has expired: see whether it still holds",
}


def are_right(record: Mapping) -> bool:
    """Whether no entry expects too much."""
    waivers = record["waivers"]
    return waivers is None or not any(one["state"] in TOO_MUCH for one in waivers["entries"])


def lines(record: Mapping) -> list[str]:
    """A line for all of them, one more for each that fails the run."""
    waivers = record["waivers"]
    if waivers is None:
        return []
    entries = waivers["entries"]
    used = [one for one in entries if one["state"] == "used"]
    cases = record["summary"]["waived"]
    others = [one for one in entries if one["state"] in ("elsewhere", "not asked")]
    told = f"waived: {cases:,} failures that {len(used)} of {len(entries)} entries of {waivers['source']} expect"
    told += f"; {len(others)} are for other arithmetic, or for cases that were not asked" if others else ""
    return [told, *too_much(record)]


def too_much(record: Mapping) -> list[str]:
    """A line for each entry that expects too much."""
    waivers = record["waivers"] or {"entries": ()}
    return [_told(waivers["source"], one) for one in waivers["entries"] if one["state"] in TOO_MUCH]


def _told(source: str, one: Mapping) -> str:
    return f"waiver at {source}:{one['line']} ({' '.join(one['for'])}): {TOO_MUCH[one['state']]} ({one['reason']})"
