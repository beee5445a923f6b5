"""Memory layouts of one argument."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conform.call.arguments import Arguments, tensors
from conform.errors import UsageError
from conform.inputs.layouts import Placed, layouts_of, logical, poison, with_layout
from conform.numerics.formats import FORMATS, format_named, format_of

X = np.array([[0, 1, 2], [3, 4, 5]], np.int32)
POISON = 2**31 - 1


def placed(layout: str, array: np.ndarray = X) -> Placed:
    return with_layout(Arguments([array]), f"{layout}.0").args[0]


@pytest.mark.parametrize(("layout", "storage", "strides", "offset"), [
    ("transposed", [0, 3, 1, 4, 2, 5], (1, 2), 0),
    ("strided", [0, POISON, 1, POISON, 2, POISON, 3, POISON, 4, POISON, 5, POISON], (6, 2), 0),
    ("offset", [POISON, POISON, POISON, 0, 1, 2, 3, 4, 5, POISON, POISON], (3, 1), 3),
    ("expanded", [0, 1, 2], (0, 1), 0),
])  # fmt: skip
def test_each_layout_literally(layout: str, storage: list[int], strides: tuple[int, ...], offset: int) -> None:
    x = placed(layout)
    assert (x.storage.tolist(), x.shape, x.strides, x.offset) == (storage, (2, 3), strides, offset)
    assert x.dtype == np.int32


def test_channels_last() -> None:
    x = np.arange(12.0).reshape(1, 3, 2, 2)
    assert placed("channels_last", x).storage.tolist() == [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]
    assert placed("channels_last", x).strides == (12, 1, 6, 3)


def test_channels_last_of_rank_5() -> None:
    x = placed("channels_last", np.arange(12.0).reshape(1, 2, 1, 2, 3))
    assert x.storage.tolist() == [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]
    assert x.strides == (12, 1, 12, 6, 2)


def test_odd_strides_where_they_address_nothing() -> None:
    x = placed("odd_strides", X.reshape(2, 1, 3))
    assert (x.storage.tolist(), x.shape, x.strides) == ([0, 1, 2, 3, 4, 5], (2, 1, 3), (3, 4097, 1))
    empty = placed("odd_strides", X[:0])
    assert (empty.storage.size, empty.shape, empty.strides) == (0, (0, 3), (4099, 4097))


def test_expanded_repeats_index_0_of_the_first_dim_longer_than_1() -> None:
    assert placed("expanded").view().tolist() == [[0, 1, 2], [0, 1, 2]]
    assert placed("expanded", X[:1]).view().tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(("shape", "expected"), [
    ((), ["offset"]),
    ((1,), ["offset", "odd_strides"]),
    ((0, 3), ["odd_strides"]),
    ((4,), ["strided", "offset", "expanded"]),
    ((3, 1), ["strided", "offset", "expanded", "odd_strides"]),
    ((2, 3), ["transposed", "strided", "offset", "expanded"]),
    ((1, 3, 2, 1), ["strided", "offset", "expanded", "channels_last", "odd_strides"]),
    ((1, 1, 2, 2), ["transposed", "strided", "offset", "expanded", "odd_strides"]),
    ((2, 3, 4, 5), ["transposed", "strided", "offset", "expanded", "channels_last"]),
    ((2, 3, 2, 2, 2), ["transposed", "strided", "offset", "expanded", "channels_last"]),
    ((2, 3, 0, 2, 2), ["odd_strides"]),
])  # fmt: skip
def test_layouts_that_a_shape_has(shape: tuple[int, ...], expected: list[str]) -> None:
    found = layouts_of(Arguments([np.zeros(shape)]))
    assert found == ["contiguous", *(f"{name}.0" for name in expected)]


@pytest.mark.parametrize("shape", [(), (4,), (0, 3), (2, 3), (3, 1, 2), (2, 3, 2, 2), (1, 2, 2, 1, 3)])
@pytest.mark.parametrize("name", FORMATS)
def test_every_layout_keeps_the_values_bit_for_bit(name: str, shape: tuple[int, ...]) -> None:
    fmt = format_named(name)
    codes = np.arange(math.prod(shape) * fmt.storage.itemsize, dtype=np.uint8) % 2
    x = codes.view(fmt.storage).reshape(shape)
    for layout in layouts_of(Arguments([x]))[1:]:
        expected = np.broadcast_to(_first(x), shape) if layout.startswith("expanded") else x
        call = with_layout(Arguments([x]), layout)
        view, plain = call.args[0].view(), logical(call).args[0]
        assert (view.shape, view.dtype) == (shape, fmt.storage)
        assert view.tobytes() == plain.tobytes() == expected.tobytes()
        assert plain.flags.c_contiguous
        assert type(plain) is np.ndarray


def _first(x: np.ndarray) -> np.ndarray:
    dim = next(dim for dim, size in enumerate(x.shape) if size > 1)
    return x[(slice(None),) * dim + (slice(0, 1),)]


def test_only_the_named_tensor_is_placed() -> None:
    call = Arguments([X, [X + 1, None]], {"weight": X + 2})
    new = with_layout(call, "strided.1")
    assert [isinstance(tensor, Placed) for tensor in tensors(new)] == [False, True, False]
    assert new.args[0] is X
    assert new.kwargs["weight"] is call.kwargs["weight"]
    assert logical(new).args[1][0].tolist() == (X + 1).tolist()
    assert with_layout(call, "contiguous") is call


@pytest.mark.parametrize("name", FORMATS)
def test_poison_is_nan_or_the_largest_value(name: str) -> None:
    value = poison(format_named(name).storage)
    fmt = format_of(value.dtype)
    if fmt.is_complex or fmt.has_nan:
        assert np.isnan(value)
    else:
        largest = {"bool": True, "float": fmt.max_finite}.get(fmt.kind, fmt.max_value)
        assert value == np.array(largest).astype(fmt.storage)


WRONG = ["transposed.1", "channels_last.0", "strided", "diagonal.0", "strided.-1", "strided.x"]


@pytest.mark.parametrize("layout", WRONG)
def test_a_layout_that_the_call_does_not_have_is_a_usage_error(layout: str) -> None:
    with pytest.raises(UsageError, match=r"expected one of contiguous, transposed\.0, strided\.0, offset\.0"):
        with_layout(Arguments([X]), layout)
