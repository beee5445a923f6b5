"""Frames, value trees and replies, without a process: what is read back, and what is refused."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from conform.backends.protocol import (
    ProtocolError,
    TorchConstant,
    can_hold,
    contiguous_strides,
    frame,
    from_tree,
    most_of_results,
    parse_header,
    parse_prefix,
    payload_of,
    placement,
    to_tree,
)
from conform.backends.reply import Output, decode_greeting, decode_reply
from conform.errors import UsageError
from conform.foreign import MAX_CHARACTERS


def test_frame_is_prefix_header_payload() -> None:
    message = frame({"a": 1}, b"xyz")
    assert message == b"cfm1" + struct.pack("<IQ", 7, 3) + b'{"a":1}' + b"xyz"
    assert parse_prefix(message) == (7, 3)
    assert parse_header(b'{"a":1}') == {"a": 1}


@pytest.mark.parametrize(
    "prefix",
    [
        b"GET / HTTP/1.1\r\n",
        struct.pack("<4sIQ", b"cfm1", (1 << 24) + 1, 0),
        struct.pack("<4sIQ", b"cfm1", 2, (1 << 32) + 1),
    ],
)
def test_prefix_that_is_none_is_refused(prefix: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse_prefix(prefix)


def test_a_reply_may_be_as_large_as_its_results_and_some_more() -> None:
    most = most_of_results(outputs=1, elements=1000)
    assert (most.header_bytes, most.payload_bytes) == ((1 << 20) + 2 * 64 * 20, (1 << 26) + 16_000 + 256)
    assert parse_prefix(struct.pack("<4sIQ", b"cfm1", *most), most) == most
    for larger in ((most.header_bytes + 1, 0), (0, most.payload_bytes + 1)):
        with pytest.raises(ProtocolError, match="are the most that is expected"):
            parse_prefix(struct.pack("<4sIQ", b"cfm1", *larger), most)
    assert most_of_results(outputs=1, elements=1 << 40).payload_bytes == 1 << 32


@pytest.mark.parametrize("shape", [(2**31, 0, 2**31), (2**59, 2), (0, 2**59), (0, 2**63)])
def test_shapes_that_numpy_lacks(shape: tuple[int, ...]) -> None:
    assert not can_hold(shape)
    with pytest.raises(ValueError, match=r"too big|too large|Maximum allowed"):
        np.empty(shape, np.complex128)


@pytest.mark.parametrize("shape", [(), (0,), (2**31, 0), (3, 4), (0, 2**59 - 1)])
def test_shapes_that_numpy_has(shape: tuple[int, ...]) -> None:
    assert can_hold(shape)
    assert np.broadcast_to(np.complex128(0), shape).shape == shape


@pytest.mark.parametrize("text", [b"", b"[1]", b'{"a":', b"\xff\xfe", b"[" * 100_000, b'{"n":' + b"9" * 5000 + b"}"])
def test_header_that_is_no_json_object_is_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse_header(text)


VALUES = [
    None,
    True,
    False,
    0,
    -(2**63) - 1,
    10**30,
    1.5,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    1 + 2j,
    complex(-0.0, math.inf),
    "none",
    [1, [2.0, None]],
    (1, (2,)),
    TorchConstant("dtype", "float64"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_survive_a_frame(value: object) -> None:
    text = frame({"v": to_tree(value, lambda _: None)})[16:]
    back = from_tree(parse_header(text)["v"], [])
    assert type(back) is type(value)
    assert repr(back) == repr(value)  # tells -0.0 from 0.0 and nan from nothing


def test_numpy_scalars_are_tensors_even_where_they_are_python_floats() -> None:
    seen: list[object] = []

    def tensor_number(value: object) -> int | None:
        seen.append(value)
        return len(seen) - 1 if isinstance(value, np.generic) else None

    assert to_tree([1.0, np.float64(1.0), np.complex128(1j)], tensor_number) == [1.0, {"tensor": 0}, {"tensor": 1}]


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"tensor": 1},
        {"tensor": -1},
        {"tensor": True},
        {"tensor": "0"},
        {"tuple": 3},
        {"complex": [1.0]},
        {"complex": [1.0, "2"]},
        {"dtype": 3},
        {"call": "x"},
        {"tensor": 0, "tuple": []},
    ],
    ids=str,
)
def test_trees_that_stand_for_nothing_are_refused(tree: object) -> None:
    with pytest.raises(ProtocolError):
        from_tree([tree], ["tensor 0"])


def test_storages_are_aligned_with_guards_around_them() -> None:
    assert placement([]) == ([], 0)
    assert placement([4]) == ([64], 192)
    assert placement([64, 0, 1]) == ([64, 192, 256], 384)
    payload = payload_of([b"\x01\x02"])
    assert payload == b"\xfe" * 64 + b"\x01\x02" + b"\xfe" * 126


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((), ()), ((5,), (1,)), ((2, 3, 4), (12, 4, 1)), ((2, 0, 4), (4, 4, 1)), ((0,), (1,)), ((1, 1), (1, 1))],
)
def test_contiguous_strides_are_torchs(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    assert contiguous_strides(shape) == strides == torch.empty(shape).stride()


# --- Replies ----------------------------------------------------------------------------------------------------------

TWO_FLOATS = np.float32([1.5, math.nan]).tobytes()


def reply_header(**changes: object) -> dict[str, object]:
    good = {
        "call": 3,
        "status": "ok",
        "result": {"tensor": 0},
        "outputs": [["float32", [2, 1], [1, 1]]],
        "aliases": [[0, 1]],
    }
    return {**good, **changes}


def test_reply_is_decoded() -> None:
    reply = decode_reply(reply_header(), bytes(payload_of([TWO_FLOATS])), number=3)
    (output,) = reply.outputs
    assert isinstance(output, Output)
    assert (output.array.shape, output.array.dtype, output.strides) == ((2, 1), np.float32, (1, 1))
    assert output.array.tobytes() == TWO_FLOATS
    assert (reply.status, reply.aliases) == ("ok", ((0, 1),))


def test_outputs_are_the_leaves_of_the_result() -> None:
    header = reply_header(result={"tuple": [{"tensor": 0}, [None, 2], True]})
    reply = decode_reply(header, bytes(payload_of([TWO_FLOATS])), number=3)
    assert isinstance(reply.result, tuple)
    assert reply.outputs[1:] == (None, 2, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"call": 4},
        {"call": None},
        {"status": "pass"},
        {"status": ["ok"]},
        {"aliases": [[-1, 0]]},
        {"aliases": [[9, None]]},
        {"aliases": [[0]]},
        {"aliases": [["0", 0]]},
        {"aliases": 1},
        {"outputs": None},
        {"outputs": [["float32", [40, 1], [1, 1]]]},
        {"outputs": [["float32", [2, -1], [1, 1]]]},
        {"outputs": [["float32", [1 << 40, 1 << 40], [1, 1]]]},
        {"outputs": [["float32", [1 << 31, 0, 1 << 31], [1, 1, 1]]]},
        {"outputs": [["float32", [2.0], [1]]]},
        {"outputs": [["float32", [2], [1, 1]]]},
        {"outputs": [["float32", [2], [-1]]]},
        {"outputs": [["float32", [2] + [1] * 64, [1] * 65]]},
        {"outputs": [["object", [1], [1]]]},
        {"outputs": [[["float32"], [2], [1]]]},
        {"outputs": [["float32", [2]]]},
        {"outputs": []},
        {"result": {"tensor": 1}},
        {"result": {"pickle": "x"}},
    ],
    ids=str,
)
def test_replies_that_lie_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        decode_reply(reply_header(**changes), bytes(payload_of([TWO_FLOATS])), number=3)


def test_result_nested_too_deeply_is_refused() -> None:
    nested: object = {"tensor": 0}
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ProtocolError, match="too deeply"):
        decode_reply(reply_header(result=nested), bytes(payload_of([TWO_FLOATS])), number=3)


def test_reason_is_made_printable_and_short() -> None:
    reason = "\x1b[2J" + "\ud800" + "first\nsecond" + "x" * 10_000
    reply = decode_reply(reply_header(status="error", reason=reason), b"", number=3)
    assert reply.reason is not None
    assert reply.reason.startswith(r"\x1b[2J\ud800first secondx")
    assert len(reply.reason) == MAX_CHARACTERS


GREETING = {
    "name": "mine", "version": "1.2", "device": "cpu", "exports": False, "compute": "ieee",
    "flushes_subnormals": False, "rounds_intermediates": ["aten::prod"], "accumulates_in_element_type": [],
    "keeps_intermediates": False, "views_share_memory": True, "numerics": {"instructions": "AVX2", "threads": 1},
}  # fmt: skip


def test_a_greeting_is_one_line_a_text() -> None:
    assert decode_greeting(GREETING) == GREETING
    told = decode_greeting({**GREETING, "name": "a\n\nconformant: 100 %", "version": "\x1b[2J" + "v" * 500})
    assert told["name"] == "a conformant: 100 %"
    assert told["version"].startswith(r"\x1b[2Jvvv")
    assert len(told["version"]) == MAX_CHARACTERS


@pytest.mark.parametrize(
    "greeting",
    [
        None,
        [],
        {},
        {**GREETING, "extra": 1},
        {key: GREETING[key] for key in GREETING if key != "exports"},
    ],
    ids=str,
)
def test_greetings_that_lie_are_refused(greeting: object) -> None:
    with pytest.raises(ProtocolError, match="a backend"):
        decode_greeting(greeting)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": 3}, "name is 3, not str"),
        ({"version": ["\x1b"]}, r"version is ['\x1b'], not str or None"),
        ({"exports": 1}, "exports is 1, not bool"),
        ({"flushes_subnormals": "no"}, "flushes_subnormals is 'no', not bool"),
        ({"compute": None}, "compute is None, not str"),
        ({"rounds_intermediates": "aten::prod"}, "rounds_intermediates is 'aten::prod', not list"),
        ({"rounds_intermediates": [3]}, "rounds_intermediates is [3], not a list of names of operators"),
        ({"numerics": []}, "numerics is [], not dict"),
        ({"numerics": {"a\nb": 1.5}}, "numerics['a b'] is 1.5, not str, int or bool"),
        ({"numerics": {"a": 2**63}}, "numerics['a'] is 9223372036854775808, beyond 64 bits"),
        ({"numerics": {str(n): n for n in range(101)}}, "numerics has 101 entries, at most 100 are taken"),
    ],
)
def test_what_a_backend_declares_of_another_type_is_its_author_s_mistake(wrong: dict, message: str) -> None:
    with pytest.raises(UsageError) as told:
        decode_greeting({**GREETING, **wrong})
    assert str(told.value) == message
