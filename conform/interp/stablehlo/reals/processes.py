"""What hangs on other processes: an engine gets one program, and no grid that runs it."""

from __future__ import annotations

from typing import NoReturn

from conform.errors import NoGolden
from conform.interp.stablehlo.reals.rules import rule
from conform.interp.stablehlo.registry import Call

OF_PROCESSES = ("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute", "infeed",
                "outfeed", "recv", "reduce_scatter", "send")  # fmt: skip


@rule("interpreter.run_parallel", *(f"stablehlo.{name}" for name in OF_PROCESSES))
def of_processes(call: Call) -> NoReturn:
    """Nothing."""
    raise NoGolden(f"{call.op.name}: what it gives hangs on the processes of a grid, of which an engine has none here")
