"""A progress bar on stderr, for a person who waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conform.judging.verdict import FAILURES, Verdict

if TYPE_CHECKING:
    from types import TracebackType

    from tqdm import tqdm


class Progress:
    """Counts verdicts; shows nothing unless `enabled`. The bar is gone when the run ends."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
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
        if not self.enabled:
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=asked, unit="case", leave=False, dynamic_ncols=True)
        is_new, has_failed = verdict.id not in self._failed, verdict.is_counted and verdict.status in FAILURES
        self._not_passed += has_failed - self._failed.get(verdict.id, False)
        self._failed[verdict.id] = has_failed
        if self._not_passed:
            self._bar.set_postfix_str(f"{self._not_passed} not passed", refresh=False)
        self._bar.update(is_new)
