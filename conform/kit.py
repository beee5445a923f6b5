"""The kit's own files: read before a backend runs, so that writing to them changes nothing; and whether it was done."""

from __future__ import annotations

import hashlib
import importlib
import os
import pkgutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import conform

_ROOT = Path(__file__).parent

Parts = tuple[str, ...]  # a path below the root
# Rooms of which a run imports nothing or what it needs at once: torch, flint and pytest load with them.
_APART = (
    "conform.__main__", "conform.backends", "conform.from_torch", "conform.frontends", "conform.pytest_plugin",
    "conform.bisect", "conform.certify", "conform.given_module", "conform.refs", "conform.repro.module_script",
    "conform.running.op_by_op",
    "conform.selftest",
)  # fmt: skip


@cache
def load() -> None:
    """Imports every module, and reads every table and part of a page, that a run and its reports may need later."""
    for module in pkgutil.walk_packages(conform.__path__, "conform."):
        if not module.name.startswith(_APART):
            importlib.import_module(module.name)
    from conform.contracts.tables import SHIPPED, contract_table
    from conform.report.html import page
    from conform.report.record import environment, kit_version
    from conform.selftest import green
    from conform.selftest.figure import shipped

    for name in SHIPPED:
        contract_table(name)
    for read in (environment, kit_version, shipped, green.shipped, page.load):
        read()


# What the truth is made of: the interpreter, the references, and what I8 compares them by.
_OF_TRUTH = (
    ("call",), ("domains",), ("inputs",), ("interp",), ("numerics",), ("refs",), ("selftest", "agreement"),
)  # fmt: skip
_OF_PROGRAMS = (("interp", "stablehlo"), ("refs", "stablehlo"))  # another operator set, of which I8 compares nothing


def digest() -> str:
    """`sha256:...` of the names and contents of the kit's files, without what Python compiled of them."""
    return _digest_of(_files(_ROOT))


def truth_digest() -> str:
    """The same of interpreter and references alone, and of what decides whether they agree (I8)."""
    files = _files(*(_ROOT.joinpath(*room) for room in _OF_TRUTH))
    return _digest_of(parts for parts in files if parts[:2] not in _OF_PROGRAMS)


def _files(*folders: Path) -> list[Parts]:
    """Those of the folders, in order, without what Python compiled of them, or is about to: in its folders files come
    and go while another process imports the kit for the first time."""
    start = len(os.fspath(_ROOT)) + 1
    every = (
        os.path.join(where, name)[start:] for folder in folders for where, _, names in os.walk(folder) for name in names
    )
    paths = (tuple(path.split(os.sep)) for path in every if not path.endswith(".pyc"))
    return sorted(parts for parts in paths if "__pycache__" not in parts)


def _digest_of(paths: Iterable[Parts]) -> str:
    whole = hashlib.sha256()
    for parts in paths:
        with open(os.path.join(_ROOT, *parts), "rb") as file:
            content = file.read()
        whole.update(f"{'/'.join(parts)}\0{len(content)}\0".encode())
        whole.update(content)
    return f"sha256:{whole.hexdigest()}"
