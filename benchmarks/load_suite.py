"""How long 10,000 tests take to load: written one by one, and expanded from a template."""

from __future__ import annotations

import functools
import tempfile
import time
from pathlib import Path

from conform.numerics.draws import Stream
from conform.suites import load, sample, variants

N = 10_000
WRITTEN = """
- id: t{n}
  op: aten::add
  in:
  - {{type: tensor, shape: [B, 3], dtype: float32, init: normal}}
  - {{type: tensor, shape: [3], dtype: float32, init: uniform, low: -1, high: 1}}
  kwargs: {{alpha: {{type: const, value: 2}}}}
"""
TEMPLATE = """
- id: linear
  op:
    type: template_module
    path: torch.nn.Linear
    vars: {{in_features: [B], out_features: [{numbers}], bias: [true, false]}}
    args: [{{var: in_features}}, {{var: out_features}}]
    kwargs: {{bias: {{var: bias}}}}
  in:
  - {{type: tensor, shape: [4, B], dtype: float32, init: normal}}
"""


def main() -> None:
    templates = TEMPLATE.format(numbers=", ".join(map(str, range(N // 2))))
    for name, tests in (("written", "".join(WRITTEN.format(n=n) for n in range(N))), ("expanded", templates)):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "suite.yaml"
            path.write_text(f"dims: {{B: 2}}\ntests:\n{tests}")
            start = time.perf_counter()
            suite = load([path])
            seconds = time.perf_counter() - start
        assert len(suite.tests) == N
        print(f"{name}: {N} tests in {seconds:.2f} s")
        if name == "written":
            start = time.perf_counter()
            for test in suite.tests[:1000]:
                sample(test, variants(test, None)[0], functools.partial(Stream, 0), 0)
            print(f"sampling: {(time.perf_counter() - start) * 1000:.0f} us a test of two tensors")


if __name__ == "__main__":
    main()
