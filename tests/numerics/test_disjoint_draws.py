"""No word of a stream is used twice, whatever is drawn in which order, and no two streams share one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from conform.numerics.draws import Stream

COUNTS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 100]


@pytest.mark.parametrize(("first", "second"), list(itertools.product(COUNTS, COUNTS[:6])))
def test_two_draws_of_one_stream(first: int, second: int) -> None:
    """The second begins at the first block of four words that the first has not touched."""
    one = Stream(0, "t", 0, "in.0")
    whole = np.random.Philox(key=one._key).random_raw(256).tolist()
    assert one.bits(first).tolist() == whole[:first]
    begin = 4 * -(-first // 4)
    assert one.bits(second).tolist() == whole[begin : begin + second]


def test_many_draws_of_one_stream() -> None:
    one, words = Stream(3, "t", 1, "in.0"), []
    for count in [*COUNTS, 0, *reversed(COUNTS)]:
        words += one.bits(count).tolist()
    assert len(set(words)) == len(words) == 2 * sum(COUNTS)


@pytest.mark.parametrize("count", COUNTS)
def test_every_kind_of_draw_takes_the_words_of_its_elements(count: int) -> None:
    """So the draw behind it is the same whatever kind it was."""
    behind = set()
    for kind in ("bits", "uniform", "normal", "permutation"):
        one = Stream(0, "t", 0, "in.0")
        getattr(one, kind)(count)
        behind.add(tuple(one.bits(3).tolist()))
    for kind, parameters in (("integers", (-5, 5)), ("bernoulli", (0.5,))):
        one = Stream(0, "t", 0, "in.0")
        getattr(one, kind)(*parameters, (count,))
        behind.add(tuple(one.bits(3).tolist()))
    assert len(behind) == 1


def test_streams_of_different_parts_share_no_word() -> None:
    parts = itertools.product((0, 1), ("t", "u", "t1"), (0, 1), ("in.0", "in.1", "values.special", "1in.0"))
    words = [word for key in parts for word in Stream(*key).bits(40).tolist()]
    assert len(set(words)) == len(words) == 48 * 40
