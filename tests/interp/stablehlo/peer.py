"""The specification's C++ interpreter, as jaxlib has it: run as a child, for it ends its process at what it lacks.
Ops of chlo and of quantized types are lowered by jaxlib's passes before.

`python peer.py PROGRAMS.json FIRST` prints the results of each program from FIRST on, a line of JSON each.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

LOWERING = "stablehlo-legalize-quantized-op-to-qdq,stablehlo-legalize-quant-to-math,chlo-legalize-to-stablehlo"


def results(programs: list[str]) -> list[list[str] | None]:
    """The results of each program's `main`, which has no arguments, as MLIR spells them; None where it has none."""
    found: list[list[str] | None] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "programs.json"
        file.write_text(json.dumps(programs))
        while len(found) < len(programs):
            command = [sys.executable, __file__, str(file), str(len(found))]
            child = subprocess.run(command, capture_output=True, text=True, check=False)
            found += [json.loads(line) for line in child.stdout.splitlines()]
            if len(found) < len(programs):
                found.append(None)
    return found


def _main(file: str, first: int) -> None:
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir.dialects import stablehlo

    from conform.frontends.stablehlo import _context

    stablehlo.register_stablehlo_passes()
    with _context():
        lowering = passmanager.PassManager.parse(f"builtin.module(func.func({LOWERING}))")
    for program in json.loads(Path(file).read_text())[first:]:
        try:
            module = ir.Module.parse(program, _context())
            lowering.run(module.operation)
            told = [str(one) for one in stablehlo.eval_module(module, [])]
        except Exception:
            told = None
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
