"""Calls that torch's kernels take on one device and refuse on another: of those nothing is documented, they are not
judged, and their neighbours are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate_call

F32, F16, I64 = np.float32, np.float16, np.int64
BOOLS, NUMBERS = np.array([True, False]), F32([1, 2])
NO_IMAGES, NO_CLASSES_OF = np.zeros((0, 1, 2, 2), F16), np.zeros((0, 2, 2), I64)
ONE_IMAGE, ITS_CLASSES = np.zeros((1, 1, 2, 2), F16), np.zeros((1, 2, 2), I64)
OF_ONE_CLASS, OF_TWO = np.zeros((3, 1), F32), np.zeros((3, 2), F32)
FIRST = np.zeros(3, I64)


def evaluate(op: str, args: Sequence[object], keywords: Mapping[str, object]) -> object:
    return evaluate_call(bound_call(f"aten::{op}", args, keywords))


@pytest.mark.parametrize(
    ("op", "args", "keywords"),
    [
        ("abs", [BOOLS], {}),
        ("median", [BOOLS], {}),
        ("nanmedian", [BOOLS], {}),
        ("histc", [I64([1, 2]), 2, 0, 3], {}),
        ("nanmean", [NUMBERS[:0]], {"dtype": "int16"}),
        ("nll_loss2d", [NO_IMAGES, NO_CLASSES_OF, I64([1])], {}),
        ("nll_loss_nd", [NO_IMAGES, NO_CLASSES_OF, I64([1])], {}),
        ("multi_margin_loss", [OF_ONE_CLASS, FIRST, 1, 1, F32(2)], {}),
    ],
)
def test_what_is_not_judged(op: str, args: list[object], keywords: dict[str, object]) -> None:
    with pytest.raises(Unjudged):
        evaluate(op, args, keywords)


@pytest.mark.parametrize(
    ("op", "args", "keywords"),
    [
        ("neg", [BOOLS], {}),
        ("median.dim", [BOOLS, 0], {}),
        ("histc", [BOOLS, 2, 0, 3], {}),
        ("histc", [np.complex64([1]), 2, 0, 3], {}),
        ("nanmean", [NUMBERS], {"dtype": "int16"}),
        ("nll_loss2d", [ONE_IMAGE, ITS_CLASSES, I64([1])], {}),
        ("nll_loss_nd", [ONE_IMAGE, ITS_CLASSES, I64([1])], {}),
        ("multi_margin_loss", [OF_TWO, FIRST, 1, 1, F32(2)], {}),
        ("multi_margin_loss", [OF_ONE_CLASS, FIRST, 1, 1, F32([[2]])], {}),
    ],
)
def test_what_is_refused_beside_it(op: str, args: list[object], keywords: dict[str, object]) -> None:
    with pytest.raises(InvalidArguments):
        evaluate(op, args, keywords)
