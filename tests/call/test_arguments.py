"""How the tensors of a call are numbered."""

from __future__ import annotations

import numpy as np

from conform.call.arguments import Arguments, map_tensors, tensors
from conform.inputs.layouts import Placed

A, B, C = (np.array([value]) for value in (1.0, 2.0, 3.0))
PLACED = Placed(np.zeros(4), (2,), (2,))
CALL = Arguments([A, 5, [B, None, (PLACED,)], "float32"], {"alpha": 2.0, "other": C}, frozenset({1}))


def test_tensors_are_numbered_through_args_then_kwargs_with_lists_flattened() -> None:
    found = tensors(CALL)
    assert all(tensor is expected for tensor, expected in zip(found, [A, B, PLACED, C], strict=True))


def test_map_tensors_replaces_tensors_and_keeps_everything_else() -> None:
    numbers = map_tensors(CALL, lambda number, _: np.array(number))
    assert numbers.args == [0, 5, [1, None, (2,)], "float32"]
    assert numbers.kwargs == {"alpha": 2.0, "other": 3}
    assert numbers.literal == {1}
    assert CALL.args[0] is A
