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
        self._seen: dict[str, bool] = {}  # case id -> whether it was judged and did not pass

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
        is_new = verdict.id not in self._seen
        self._seen[verdict.id] = verdict.status in FAILURES
        if self._seen[verdict.id]:
            self._bar.set_postfix_str(f"{sum(self._seen.values())} not passed", refresh=False)
        self._bar.update(is_new)
