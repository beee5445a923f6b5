"""Windows of the last dims of an array, as rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def each(numbers: Sequence[int], rank: int) -> list[int]:
    """One number a dim, of which one may stand for all."""
    return list(numbers) * rank if len(numbers) == 1 else list(numbers)


class Windows:
    """Windows of the last `len(kernel)` dims of an array; with `ceil` also those that begin inside and reach beyond."""

    def __init__(
        self,
        kernel: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil: bool = False,
    ) -> None:
        self.kernel, self.stride, self.padding, self.dilation, self.ceil = kernel, stride, padding, dilation, ceil

    def of(self, part: np.ndarray) -> np.ndarray:
        """The windows of an array that has zeros around it, [..., places ..., kernel ...]."""
        return self._windows(part, [0] * len(self.kernel))

    def of_padded(self, shape: Sequence[int]) -> np.ndarray:
        """Windows of ones on an array of this shape and the zeros around it, 0 beyond."""
        rank = len(self.kernel)
        inner = [size + 2 * one for size, one in zip(shape[-rank:], self.padding, strict=True)]
        return self._windows(np.ones((*shape[:-rank], *inner)), self.padding)

    def _windows(self, part: np.ndarray, given: Sequence[int]) -> np.ndarray:
        """`given`: how much of the padding the array has already, in each dim at both ends."""
        rank = len(self.kernel)
        reach = [(size - 1) * step + 1 for size, step in zip(self.kernel, self.dilation, strict=True)]
        lengths = [size - 2 * one for size, one in zip(part.shape[-rank:], given, strict=True)]
        around = [(one - had, one - had + self._beyond(length, at, reach[at]))
                  for at, (one, had, length) in enumerate(zip(self.padding, given, lengths, strict=True))]  # fmt: skip
        padded = np.pad(part, [(0, 0)] * (part.ndim - rank) + around)
        views = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=tuple(range(-rank, 0)))
        steps = [slice(None, None, step) for step in (*self.stride, *self.dilation)]
        return views[(..., *steps)]

    def _beyond(self, length: int, at: int, reach: int) -> int:
        """How far the last window lies beyond the padding: one more is taken where it begins before that."""
        if not self.ceil:
            return 0
        room, step = length + 2 * self.padding[at] - reach, self.stride[at]
        more = -(-room // step) * step
        return max(more - room, 0) if more < length + self.padding[at] else 0
