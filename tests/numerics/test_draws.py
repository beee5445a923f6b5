"""Draws: the same bits everywhere, and the distributions they claim."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from conform.numerics import draws
from conform.numerics.draws import Stream, upper_quantile


def stream(label: str = "in.0") -> Stream:
    return Stream(0, "add_broadcast", 0, label)


# --- Pinned: a change of these literals changes every test input ever recorded ----------------------------------------


def test_bits_are_pinned() -> None:
    assert stream().bits(5).tolist() == [
        0x0B1CF7EE50C43B13, 0xF41237449D9DF260, 0x19E2778F47C19B70, 0x7616358CD3F3DB5F, 0x0874E66D1573FFA8,
    ]  # fmt: skip


def test_floats_are_pinned() -> None:
    uniforms = ["0x1.639efdca18870p-5", "0x1.e8246e893b3bep-1", "0x1.9e2778f47c198p-4"]
    normals = ["0x1.b6605b1092b73p+0", "-0x1.df830af95fd07p-4", "0x1.46763c87c2940p+0", "0x1.8e352055dbae4p-4"]
    assert [value.hex() for value in stream().uniform(3).tolist()] == uniforms
    assert [value.hex() for value in stream().normal((2, 2)).reshape(-1).tolist()] == normals


def test_other_draws_are_pinned() -> None:
    assert stream().integers(-10, 10, 8).tolist() == [-5, 10, 5, -10, -5, -10, -10, 9]
    assert stream().integers(-(2**63), 2**63 - 1, 2).tolist() == [-8422584600160355565, 8363808225822110304]
    assert stream().bernoulli(0.5, 8).tolist() == [True, False, True, True, True, True, False, True]
    assert stream().permutation(7).tolist() == [4, 0, 5, 2, 3, 6, 1]


# --- The stream -------------------------------------------------------------------------------------------------------


def test_bits_are_those_of_numpys_philox_under_the_key() -> None:
    assert stream().bits(1000).tolist() == np.random.Philox(key=stream()._key).random_raw(1000).tolist()


def test_draws_follow_one_another_without_overlap() -> None:
    whole = np.random.Philox(key=stream()._key).random_raw(12)
    one = stream()
    assert one.bits(5).tolist() == whole[:5].tolist()
    assert one.bits(0).tolist() == []
    assert one.bits(2).tolist() == whole[8:10].tolist()


@pytest.mark.parametrize("count", [0, 1, 4, 5])
def test_behind_what_is_skipped_comes_what_comes_behind_bits(count: int) -> None:
    drawn, skipped = stream(), stream()
    drawn.bits(count)
    skipped.skip(count)
    assert skipped.bits(8).tolist() == drawn.bits(8).tolist()


def test_two_streams_do_not_disturb_each_other() -> None:
    a, b = stream("in.0"), stream("in.1")
    interleaved = [a.bits(3).tolist(), b.bits(3).tolist(), a.bits(3).tolist()]
    alone = stream("in.0")
    assert [interleaved[0], interleaved[2]] == [alone.bits(3).tolist(), alone.bits(3).tolist()]


def test_every_part_of_the_key_counts() -> None:
    keys = [(0, "t", 0, "in.0"), (1, "t", 0, "in.0"), (0, "u", 0, "in.0"), (0, "t", 1, "in.0"), (0, "t", 0, "in.1"),
            (0, "ti", 0, "n.0"), (-1, "t", 0, "in.0"), (2**64, "t", 0, "in.0"), (0, "\u00e9", 0, "in.0")]  # fmt: skip
    assert len({int(Stream(*key).bits(1)[0]) for key in keys}) == len(keys)


@pytest.mark.parametrize(("shape", "expected"), [((), ()), (3, (3,)), ((2, 3), (2, 3)), ((0, 4), (0, 4))])
def test_shapes_and_dtypes(shape: int | tuple[int, ...], expected: tuple[int, ...]) -> None:
    s = stream()
    drawn = [s.uniform(shape), s.normal(shape), s.integers(-1, 1, shape), s.bernoulli(0.5, shape)]
    assert [array.shape for array in drawn] == [expected] * 4
    assert [array.dtype.name for array in drawn] == ["float64", "float64", "int64", "bool"]


# --- Distributions ----------------------------------------------------------------------------------------------------


def test_uniform_is_a_multiple_of_2_to_the_minus_53_below_1(monkeypatch: pytest.MonkeyPatch) -> None:
    extreme = np.array([0, 2**64 - 1, 1 << 11], dtype=np.uint64)
    monkeypatch.setattr(Stream, "bits", lambda self, count: extreme[:count])
    assert stream().uniform(3).tolist() == [0.0, 1 - 2.0**-53, 2.0**-53]


def test_normal_of_extreme_words_is_finite_and_symmetric(monkeypatch: pytest.MonkeyPatch) -> None:
    extreme = np.array([0, 2**63, 2**63 - 1, 2**64 - 1], dtype=np.uint64)
    monkeypatch.setattr(Stream, "bits", lambda self, count: extreme[:count])
    values = stream().normal(4).tolist()
    assert values[0] == -values[1] == pytest.approx(8.2924, abs=1e-4)  # tail probability 2^-54
    assert values[2] == -values[3] == pytest.approx(2.0**-54 * math.sqrt(2 * math.pi), rel=1e-9)


def test_upper_quantile_is_the_inverse_of_the_normal_distribution() -> None:
    drawn = stream().uniform(200) / 2 + 2.0**-60
    p = np.concatenate([2.0 ** -np.arange(2.0, 55.0), [0.075, 0.0749999, 0.49, 1 / 3], drawn])
    with mpmath.workprec(200):
        exact = [mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(value)) for value in p.tolist()]
        errors = [abs(float(z / e - 1)) for z, e in zip(upper_quantile(p).tolist(), exact, strict=True)]
    assert max(errors) < 1e-15  # as upper_quantile promises


def test_log_against_mpmath() -> None:
    x = np.concatenate([2.0 ** -np.arange(1.0, 55.0), stream().uniform(500) / 2 + 2.0**-60])
    with mpmath.workprec(200):
        errors = [abs(float(y / mpmath.log(v) - 1)) for y, v in zip(draws._log(x).tolist(), x.tolist(), strict=True)]
        assert draws._LOG_CENTRES.tolist() == [float(mpmath.log(c)) for c in draws._CENTRES.tolist()]
    assert max(errors) < 1e-15  # as _log promises


def test_moments_of_the_normal_draws() -> None:
    z = stream().normal(200_000)
    moments = [np.mean(z), np.mean(z**2), np.mean(z**3), np.mean(z**4)]
    deviations = [math.sqrt(variance / z.size) for variance in (1, 2, 15, 96)]  # of these means, for N(0, 1)
    assert all(abs(m - e) < 5 * d for m, e, d in zip(moments, [0, 1, 0, 3], deviations, strict=True))


def test_integers_reach_both_ends_and_all_between() -> None:
    assert set(stream().integers(-2, 3, 500).tolist()) == {-2, -1, 0, 1, 2, 3}
    assert stream().integers(7, 7, 3).tolist() == [7, 7, 7]
    wide = stream().integers(-(2**63), 2**63 - 1, 1000)
    assert wide.min() < -(2**62)
    assert wide.max() > 2**62
    top = stream().integers(2**63 - 2, 2**63 - 1, 50)
    assert set(top.tolist()) == {2**63 - 2, 2**63 - 1}


@pytest.mark.parametrize(("low", "high"), [(1, 0), (0, 2**63), (-(2**63) - 1, 0)])
def test_integers_refuses_empty_ranges_and_those_outside_int64(low: int, high: int) -> None:
    with pytest.raises(ValueError, match=f"found {low} and {high}"):
        stream().integers(low, high, 1)


def test_bernoulli_at_its_ends_and_between() -> None:
    assert not stream().bernoulli(0.0, 100).any()
    assert stream().bernoulli(1.0, 100).all()
    assert abs(stream().bernoulli(0.25, 10_000).mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 10_000)


@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_a_permutation_has_every_index_once(n: int) -> None:
    assert sorted(stream().permutation(n).tolist()) == list(range(n))
