"""How long `conform --help` takes, beside Python with click alone: the best of several runs of each.

    python benchmarks/startup.py
"""

from __future__ import annotations

import subprocess
import sys
import time

RUNS = 9


def best_s(*words: str) -> float:
    """Seconds of the fastest of RUNS runs of Python with these words."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *words], capture_output=True, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    click_s, help_s = best_s("-c", "import click"), best_s("-m", "conform", "--help")
    print(f"python with click {click_s:.3f} s, conform --help {help_s:.3f} s, {help_s / click_s:.2f} times")
