"""A sweep on a Ray cluster: `conform sweep --ray ADDRESS`. Its shards are tasks (`running/on_ray.py`), their journals
are merged as those of shards always are."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from conform.options import SHARDS
from conform.report import write
from conform.running.on_ray import journals_on
from conform.sweep import journal, record
from conform.sweep.run import Sweep, sweep

OnShard = Callable[[int, int, str], None]


def swept_on(address: str, words: Sequence[str], out: Path | None, on_shard: OnShard, **asked: Any) -> Sweep:
    """The sweep of `conform sweep WORDS` on the cluster at `address`; asked: the same as `sweep` takes it.

    Journal and record are written to `out`, if there is one; until all shards have ended, `out` holds the journals of
    those that have. Raises what `journals_on` raises.
    """
    directory = write.check_place(out, names=(record.FILE, journal.FILE)) if out else None
    with tempfile.TemporaryDirectory(prefix="conform-ray-") as scratch:
        shards = directory / SHARDS if directory else Path(scratch) / SHARDS
        folders = journals_on(address, ["sweep", *words], journal.FILE, shards, on_shard)
        whole = sweep(**asked, resume=folders, out=directory or Path(scratch) / "whole", is_merge=True)
        if whole.record["stopped"] is None:
            shutil.rmtree(shards)
        return whole
