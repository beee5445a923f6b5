"""The examples run, and the C library's worst inputs are those that are known of it."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest

from conform.sweep.run import sweep
from conform.sweep.space import Codes

C_LIBRARY = f"{Path(__file__).parents[1] / 'examples' / 'c_library.py'}::"
WORST = {"tanh": "0x1.ddca18p-3", "atan": "0x1.626772p-1", "acosh": "0x1.01cb98p+0"}
"""The inputs with the largest errors in glibc 2.36 on x86-64, and in other libraries of the same origin."""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.skipif(platform.libc_ver() != ("glibc", "2.36"), reason="another C library")
@pytest.mark.long
@pytest.mark.parametrize("op", WORST)
def test_worst_inputs_of_glibc(op):
    """Of the input's binade."""
    import numpy as np

    code = int(np.float32(float.fromhex(WORST[op])).view(np.uint32))
    binade = Codes(code - code % 2**23, code - code % 2**23 + 2**23 - 1)
    found = sweep(op, f"{C_LIBRARY}Libm", codes=binade, workers=1).record
    assert found["worst"]["inputs"]["self"]["hex"] == WORST[op]


@pytest.mark.one_in(6)
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_two_ways_to_call_the_c_library():
    """Signalling NaNs, infinities and the largest numbers among the inputs."""
    codes = Codes(0x7F7FFF00, 0x7F8000FF)
    records = [sweep("exp", f"{C_LIBRARY}{name}", codes=codes, workers=1).record for name in ("Libm", "LibmByCtypes")]
    for found in records:
        assert (found["summary"]["compared"], found["summary"]["failed"], found["lost"]) == (512, 0, [])
    assert records[0]["histogram"] == records[1]["histogram"]
