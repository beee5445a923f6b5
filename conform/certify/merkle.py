"""Merkle trees as certificate transparency has them: RFC 6962, section 2.1, with SHA-256."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def leaf_hash(content: bytes) -> bytes:
    """The hash of one entry; the byte in front keeps it from being taken for a node's."""
    return sha256(b"\x00" + content).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over the hashes of the entries, in their order.

    RFC 6962 splits n entries at the largest power of two below n. Joining neighbours level by level, with a last one
    that has none carried up, gives the same tree.
    """
    if not leaves:
        return sha256().digest()
    level = list(leaves)
    while len(level) > 1:
        pairs = [sha256(b"\x01" + level[at] + level[at + 1]).digest() for at in range(0, len(level) - 1, 2)]
        level = pairs + (level[-1:] if len(level) % 2 else [])
    return level[0]
