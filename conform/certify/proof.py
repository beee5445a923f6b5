"""The kit's own proof, at the time of a certificate: a share of its self-test, which the nonce chooses.

It runs in a process of its own, whose torch is held to the kernels that the self-test is about.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from conform.errors import ConformError
from conform.foreign import line


def run(seed: int) -> dict[str, Any]:
    """The figures of the share that `conform selftest --seed` tries, whether or not it holds. ConformError where it
    ends without."""
    words = [sys.executable, "-m", "conform", "selftest", "--json", "--no-progress", "--seed", str(seed)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        raise ConformError(f"the self-test ended with {ended.returncode}: {line(ended.stderr[-400:])}")
    return {"seed": seed, **json.loads(ended.stdout)}
