"""How many valid tuples a second the specs give, with their data: per family and in all.

    python benchmarks/generate.py [TUPLES]       tuples per spec, default 200
"""

from __future__ import annotations

import itertools
import sys
import time
from collections import defaultdict

from conform.domains.engine.argument_generator import arguments
from conform.domains.engine.meta_tuple import valid_tuples
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import specs
from conform.interp import semantics
from conform.numerics.draws import Stream


def seconds(spec: OpSpec, count: int) -> float:
    """For `count` tuples of one spec."""
    start = time.perf_counter()
    for one in itertools.islice(valid_tuples(spec, 0), count):
        arguments(spec, one, Stream(0, spec.name, one.number, "data"))
    return time.perf_counter() - start


def main(count: int) -> None:
    by_family: dict[str, list[float]] = defaultdict(list)
    for spec in specs():
        by_family[semantics.find(spec.name).family].append(seconds(spec, count))
    for family, times in by_family.items():
        print(f"{family:16} {len(times):4} specs {count * len(times) / sum(times):8.0f} tuples/s")
    every = [one for times in by_family.values() for one in times]
    print(f"{'all':16} {len(every):4} specs {count * len(every) / sum(every):8.0f} tuples/s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
