"""Runs I8 on every op and dtype and writes `conform/selftest/i8.json`: `python tools/i8_figure.py`, an hour of
CPU, on all cores.

Exits with 1, and writes nothing, where a pair disagrees or witnesses too little, or the files change meanwhile.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1]))

from conform import kit
from conform.selftest import green
from conform.selftest.agreement.agreement import agree, ops_and_dtypes


def main() -> int:
    digest, pairs = kit.truth_digest(), ops_and_dtypes()
    with ProcessPoolExecutor() as pool:
        found = list(tqdm(pool.map(agree, *zip(*pairs, strict=True)), total=len(pairs), unit="pair"))
    if failed := [str(one) for one in found if not one.holds]:
        print("\n".join(failed))
        return 1
    if kit.truth_digest() != digest:
        print("the interpreter or the references changed meanwhile")
        return 1
    told = {
        "digest": digest, "on": datetime.now(timezone.utc).date().isoformat(), "pairs": len(pairs),
        "elements": sum(one.compared for one in found),
    }  # fmt: skip
    green.FILE.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
