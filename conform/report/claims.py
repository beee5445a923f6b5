"""The claims of a backend's manifest in words: how many were tested, and which were not."""

from __future__ import annotations

from collections.abc import Mapping

SHOWN = 10


def lines(record: Mapping) -> list[str]:
    """One line; none of a backend that claims nothing."""
    manifest = record["manifest"]
    if manifest is None:
        return []
    claims = manifest["claims"]
    untested = [str(one["line"]) for one in claims if not one["judged"]]
    told = f"claimed: {len(claims) - len(untested)} of {len(claims)} entries of {manifest['source']} were tested"
    told += f", {record['required']['judged']} of {record['required']['asked']} of their cases judged"
    if untested:
        more = f" and {len(untested) - SHOWN} more" if len(untested) > SHOWN else ""
        told += f"; no case was judged of those at line {', '.join(untested[:SHOWN])}{more}"
    return [told]
