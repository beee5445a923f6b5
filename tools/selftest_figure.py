"""Runs the full self-test and writes `conform/selftest/figure.json`: `python tools/selftest_figure.py`.

On the kernels of torch that the tests meet (tests/instruction_sets.py). Exits with 1, and writes nothing, if the
self-test fails.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.instruction_sets import PINS, usual

os.environ.update(PINS[usual()])  # before torch is imported

from conform.selftest import figure
from conform.selftest.plants.catalogue import plants, torch_ops
from conform.selftest.run import catches_of, problems_of


def main() -> int:
    every = [plant for op in torch_ops() for plant in plants(op).values()]
    catches = list(tqdm(catches_of(every), total=len(every), unit="plant"))
    if problems := problems_of(catches, is_full=True):
        print("\n".join(problems))
        return 1
    figure.FILE.write_text(figure.text(figure.figure_of(catches)), encoding="utf-8")
    print(figure.total(figure.shipped()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
