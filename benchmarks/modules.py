"""What the golden of a GPT costs (examples/models/gpt.py): CPU seconds, and the peak of the process's memory over that
before it. Each model has a process of its own, one thread, torch.export done before. Linux, for the peak.
`python benchmarks/modules.py`
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tabulate import tabulate

MODELS = Path(__file__).parents[1] / "examples" / "models"
SIZES = ((256, 128, "float32"), (256, 128, "bfloat16"), (512, 256, "float32"))
HEADERS = ["width", "tokens", "dtype", "parameters (MB)", "golden (s)", "peak (MB)"]


def measured(width: int, count: int, dtype: str) -> list[float]:
    """[megabytes of parameters, CPU seconds, megabytes of the peak] of a decoder of two layers."""
    sys.path.insert(0, str(MODELS))
    import gpt
    import torch

    import conform

    torch.manual_seed(0)
    decoder, args = gpt.model(width, heads=4, seen=0, count=count)
    kind = getattr(torch, dtype)
    args = args[0], [tuple(one.to(kind) for one in pair) for pair in args[1]]
    conform.golden(decoder.to(kind), *args)  # torch.export is done, and everything is imported
    before = _reset_peak()
    started = time.process_time()
    truth = conform.golden(decoder, *args)
    seconds, peak = time.process_time() - started, _of_this_process("VmHWM") - before
    assert truth.outcome.goldens[0].budget is not None
    return [sum(one.nbytes for one in decoder.parameters()) / 1e6, seconds, peak]


def _reset_peak() -> float:
    Path("/proc/self/clear_refs").write_text("5")
    return _of_this_process("VmRSS")


def _of_this_process(name: str) -> float:
    """Megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(name))


def main() -> None:
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    rows = []
    for size in SIZES:
        command = [sys.executable, __file__, *map(str, size)]
        out = subprocess.run(command, env=alone, check=True, capture_output=True, text=True).stdout
        rows.append([*size, *map(float, out.split())])
    print(tabulate(rows, headers=HEADERS, tablefmt="github", floatfmt=".3g"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(*measured(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
    else:
        main()
