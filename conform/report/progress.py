"""How far a run has come, on stderr: a bar for a person who waits, a line now and then where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from conform.judging.verdict import FAILURES, Verdict

if TYPE_CHECKING:
    from types import TracebackType

    from tqdm import tqdm

EVERY_S = 10.0  # no two lines come in less
AT_LEAST_EVERY_S = 60.0  # a line comes after so long, however little was done
SHARE = 0.05  # of the cases, after which a line comes sooner


class Progress:
    """Counts cases as they end; shows nothing unless `enabled`. The bar is gone when the run ends."""

    def __init__(
        self, enabled: bool, on_terminal: bool = True, clock: Callable[[], float] = time.monotonic,
        failure: str = "not passed",
    ) -> None:  # fmt: skip
        self.enabled = enabled
        self._failure = failure  # how one that has failed is called
        self._on_terminal = on_terminal
        self._clock = clock
        self._started = self._told_at = clock()
        self._told = 0
        self._bar: tqdm | None = None
        self._failed: dict[str, bool] = {}  # by case id
        self._not_passed = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()

    def count(self, verdict: Verdict, asked: int) -> None:
        """One more of `asked` cases has ended, or one that had is judged anew."""
        self.step(verdict.id, verdict.is_counted and verdict.status in FAILURES, asked)

    def step(self, case_id: str, has_failed: bool, asked: int) -> None:
        """One more of `asked` cases has ended, or one that had has another end."""
        if not self.enabled:
            return
        is_new = case_id not in self._failed
        self._not_passed += has_failed - self._failed.get(case_id, False)
        self._failed[case_id] = has_failed
        if self._on_terminal:
            self._show_bar(is_new, asked)
        else:
            self._show_line(asked)

    def _show_bar(self, is_new: bool, asked: int) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=asked, unit="case", leave=False, dynamic_ncols=True)
        if self._not_passed:
            self._bar.set_postfix_str(f"{self._not_passed} {self._failure}", refresh=False)
        self._bar.update(is_new)

    def _show_line(self, asked: int) -> None:
        """`conform: 1,200 of 20,969 cases, 3 not passed, 20 s`, where one is due."""
        now, done = self._clock(), len(self._failed)
        silent_s = now - self._told_at
        if silent_s < EVERY_S or (silent_s < AT_LEAST_EVERY_S and done - self._told < SHARE * asked):
            return
        self._told_at, self._told = now, done
        seconds = now - self._started
        failed = f"{self._not_passed:,} {self._failure}"
        print(f"conform: {done:,} of {asked:,} cases, {failed}, {seconds:.0f} s", file=sys.stderr)
