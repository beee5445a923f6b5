"""What stands at the head of every report: what was run, on what, against what, and what the backend declares."""

from __future__ import annotations

from collections.abc import Mapping

from conform.foreign import escaped
from conform.report import checks


def lines(record: Mapping) -> list[str]:
    """One line, and a second one where there is more to know of the backend than its name."""
    backend = record["backend"]
    version = f" {backend['version']}" if backend.get("version") else ""
    first = (
        f"conform {record['kit']['version']}, suite {' '.join(record['suite']['names'])}, "
        f"backend {backend_name(record)}{version}, contract {record['contract']}, seed {record['seed']}"
    ) + "".join(f", {one}" for one in checks.selected(record))
    about = ", ".join([*_origin(backend), *declared(backend)])
    return [first, f"backend: {about}"] if about else [first]


def backend_name(record: Mapping) -> str:
    """A device by its name; a class by where it was found, since it may call itself anything."""
    backend = record["backend"]
    given = record["environment"]["invocation"].get("backend") if "digest" in backend else None
    return escaped(given or backend.get("source") or backend["name"])


def _origin(backend: Mapping) -> list[str]:
    calls_itself = [f"calls itself {backend['name']!r}"] if "source" in backend else []
    return calls_itself + ([f"file {backend['digest']}"] if "digest" in backend else [])


_OF_OPS = {
    "rounds_intermediates": "intermediates rounded to half types",
    "accumulates_in_element_type": "sums and products accumulated in half types",
}


def declared(backend: Mapping) -> list[str]:
    """The arithmetic that the backend declares, where it is not IEEE 754's."""
    compute = backend.get("compute") or "ieee"
    modes = [f"declares compute {compute}"] if compute != "ieee" else []
    modes += ["declares that it flushes subnormals"] if backend.get("flushes_subnormals") else []
    for field, told in _OF_OPS.items():
        modes += [f"declares {told}: {', '.join(map(escaped, names))}"] if (names := backend.get(field)) else []
    return modes
