"""What is kept of answers: by case, the last that there was, over several processes and sittings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from conform.backends.reply import Output, Reply
from conform.running.answers import Keeper, read


def reply(*numbers: float) -> Reply:
    return Reply("ok", result=Output(np.array(numbers, np.float32), (1,)))


def kept(folder: Path, case_id: str) -> list[tuple[int, list[float]]]:
    """Of each answer to the case how many equal ones there were, and its elements."""
    return [(one.calls, one.outputs[0].array().tolist()) for one in read(folder)[case_id]]


def test_equal_answers_stand_once(tmp_path: Path) -> None:
    keeper, same = Keeper(tmp_path), reply(1.0, 2.0)
    keeper.keep("a", [reply(1.0, 2.0), same, same, reply(3.0), same])
    keeper.close()
    assert kept(tmp_path, "a") == [(3, [1.0, 2.0]), (1, [3.0]), (1, [1.0, 2.0])]
    assert next(tmp_path.glob("*.bin")).stat().st_size == 3 * 4


def test_what_was_kept_later_counts_and_a_line_that_was_cut_off_does_not(tmp_path: Path) -> None:
    for sitting, number in enumerate((1.0, 2.0)):
        keeper = Keeper.behind(tmp_path)
        keeper.keep("a", [reply(number)])
        keeper.keep("b", [reply(-number)])
        keeper.close()
        index = sorted(tmp_path.glob("*.jsonl"))[sitting]
        index.write_bytes(index.read_bytes()[:-9])  # its process was killed
    assert kept(tmp_path, "a") == [(1, [2.0])]
    assert "b" not in read(tmp_path)
