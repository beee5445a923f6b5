"""What verifying is asked, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from conform.foreign import line

REJUDGED = 200  # kept answers of each draw, unless more are asked for
RERUN = 200
OnStep = Callable[[str], None]


@dataclass(frozen=True)
class Finding:
    """What does not add up, and where: a file, a case, a field of the statement."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{line(self.place)}: {line(self.what, 400)}"


@dataclass
class Report:
    """What was found, what was looked at, and what a reader has to know besides."""

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    result: str = ""
    levels: list[str] = field(default_factory=list)

    @property
    def is_verified(self) -> bool:
        return not self.findings

    def find(self, place: object, what: object) -> None:
        self.findings.append(Finding(str(place), str(what)))


@dataclass(frozen=True)
class Named:
    """Who must have signed: a name, and the URL of who vouches for it. trust: a file that says which authority and logs
    are believed; None: those of sigstore.dev, as the library has them on this machine."""

    identity: str
    issuer: str
    trust: Path | None = None


@dataclass(frozen=True)
class Asked:
    """How thoroughly to look. key: the public key of who must have signed; named: who must have, by name, besides;
    nonce: what was given to the certifier;
    rejudge: how many kept answers of each draw are judged again, None: all; rerun: whether a backend, `backend` or the
    one that the certificate names, is asked again; selftest: whether the kit's self-test is run again; sample_seed:
    which answers are chosen, others each time."""

    key: Path | None = None
    named: Named | None = None
    nonce: str | None = None
    rejudge: int | None = REJUDGED
    rerun: bool = False
    backend: str | None = None
    selftest: bool = False
    timeout_s: float = 30.0
    sample_seed: str = ""
