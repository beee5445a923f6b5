"""What stands at the head of every report: what was run, on what, against what, and what the backend declares."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from conform.foreign import escaped
from conform.report import checks


def lines(record: Mapping) -> list[str]:
    """One line, one more where there is more to know of the backend than its name, and one each of its
    manifest and of the truth that it was judged by."""
    backend = record["backend"]
    version = f" {backend['version']}" if backend.get("version") else ""
    first = (
        f"conform {record['kit']['version']}, suite {' '.join(record['suite']['names'])}, "
        f"backend {backend_name(record)}{version}, contract {record['contract']}, seed {record['seed']}"
    ) + "".join(f", {one}" for one in checks.selected(record))
    about = ", ".join([*_origin(backend), *variant(record["environment"]["numerics"]), *declared(backend)])
    return [first, *([f"backend: {about}"] if about else []), *_manifest(record), *_truth(record)]


# What a process without switches, on a CPU, has: it is not told. A name that is not here always is.
_USUAL: Mapping[str, Collection[object]] = {
    "float32_matmul_precision": ("highest",), "deterministic_algorithms": (False,), "flushes_denormals": (False,),
    "threads": (1,),
}  # fmt: skip
_OF_THE_RECORD = ("torch", "libraries")  # versions, which the record has
_LIMITS_FEATURES = "ONEDNN_MAX_CPU_ISA"  # features of the processor beyond it are not used


def variant(numerics: Mapping[str, object]) -> list[str]:
    """`["AVX2", "ONEDNN_MAX_CPU_ISA=AVX2"]`: what tells this backend from others of its name and version; nothing of
    one that computes the same everywhere."""
    told = {name: value for name, value in numerics.items() if name not in _OF_THE_RECORD and value != ""}
    plain = [str(told.pop("instructions"))] if "instructions" in told else []
    features = str(told.pop("features", ""))
    plain += [] if _LIMITS_FEATURES in told else features.split()
    others = [f"{name}={value}" for name, value in told.items() if value not in _USUAL.get(name, ())]
    return [escaped(text) for text in (*plain, *others)]


def backend_name(record: Mapping) -> str:
    """A device by its name; a class by where it was found, since it may call itself anything."""
    backend = record["backend"]
    given = record["environment"]["invocation"].get("backend") if "digest" in backend else None
    return escaped(given or backend.get("source") or backend["name"])


def _origin(backend: Mapping) -> list[str]:
    calls_itself = [f"calls itself {backend['name']!r}"] if "source" in backend else []
    return calls_itself + ([f"file {backend['digest']}"] if "digest" in backend else [])


ORACLES = {
    "interp": "the interpreter",
    "refs": "the references, by which every golden is confirmed",
}


def _truth(record: Mapping) -> list[str]:
    """`truth: the interpreter, sha256:...; I8 holds for all 539 ops (...)`."""
    truth = record["truth"]
    if truth is None:
        return []
    return [escaped(f"truth: {ORACLES[truth['oracle']]}, {truth['digest']}; I8 {i8_held(truth['i8'])}")]


def i8_is_whole(green: Mapping | None) -> bool:
    """Whether I8 is known to hold for every op of the kit."""
    return green is not None and green.get("ops", 0) == green.get("of")


def i8_held(green: Mapping | None) -> str:
    """Of which ops of the kit I8 is known to hold, and where not of all, how to find out."""
    if green is None:
        return "is not known to hold: conform selftest --full runs it"
    evidence = f"{green['pairs']:,} pairs of op and dtype, {green['elements']:,} elements, since {green['on']}"
    if i8_is_whole(green):
        return f"holds for all {green['of']:,} ops ({evidence})"
    return f"holds for {green['ops']:,} of {green['of']:,} ops ({evidence}); conform selftest --full runs the others"


def _manifest(record: Mapping) -> list[str]:
    """What the backend is held to, and asked."""
    manifest = record["manifest"]
    return [] if manifest is None else [escaped(f"claims: {manifest['source']}, {manifest['digest']}")]


_OF_OPS = {
    "rounds_intermediates": "intermediates rounded to half types",
    "accumulates_in_element_type": "sums and products accumulated in half types",
}


def declared(backend: Mapping) -> list[str]:
    """The arithmetic that the backend declares, where it is not IEEE 754's."""
    compute = backend.get("compute") or "ieee"
    modes = [f"declares compute {compute}"] if compute != "ieee" else []
    modes += ["declares that it flushes subnormals"] if backend.get("flushes_subnormals") else []
    modes += ["declares that it keeps intermediates"] if backend.get("keeps_intermediates") else []
    for field, told in _OF_OPS.items():
        modes += [f"declares {told}: {', '.join(map(escaped, names))}"] if (names := backend.get(field)) else []
    return modes
