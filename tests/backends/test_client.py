"""A backend in its own process: values arrive bit for bit, and what a call did beside its answer is told."""

from __future__ import annotations

import math
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.protocol import DTYPES, contiguous_strides
from conform.backends.reply import Reply

Starter = Callable[..., BackendProcess]


@dataclass
class Placed:
    """A tensor in a layout of its own, as conform.inputs.layouts makes them."""

    storage: np.ndarray
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def ask(process: BackendProcess, op: str, *args: object, **kwargs: object) -> Reply:
    process.submit(Call(f"do::{op}", list(args), kwargs))
    return process.receive()


def storage_of(name: str, size: int) -> np.ndarray:
    """`size` elements of random bits, so NaNs with payloads, subnormals and all; the bools are 0 and 1."""
    raw = np.random.default_rng(0).integers(0, 256, size * DTYPES[name].itemsize, np.uint8)
    return (raw % 2 if name == "bool" else raw).view(DTYPES[name])


# --- Values -----------------------------------------------------------------------------------------------------------

LAYOUTS = {
    "contiguous": Placed(None, (3, 4), (4, 1), 0),
    "transposed": Placed(None, (3, 4), (1, 3), 0),
    "strided": Placed(None, (3, 4), (8, 2), 0),
    "offset": Placed(None, (3, 4), (4, 1), 5),
    "offset 0-d": Placed(None, (), (), 7),
    "expanded": Placed(None, (3, 4), (0, 1), 2),
    "empty": Placed(None, (3, 0, 2), (2, 2, 1), 0),
    "empty with offset": Placed(None, (0,), (1,), 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_dtype_and_layout_arrives_and_returns_bit_for_bit(misbehaving: BackendProcess, layout: str) -> None:
    for name in DTYPES:
        storage = storage_of(name, 24)
        placed = replace(LAYOUTS[layout], storage=storage)
        reply = ask(misbehaving, "inspect", placed)
        tensor, whole, offset, misalignment = reply.outputs
        steps = zip(np.indices(placed.shape), placed.strides, strict=True)
        logical = storage[placed.offset + sum(index * step for index, step in steps)]
        assert tensor.array.dtype == storage.dtype
        assert (tensor.array.shape, tensor.strides) == (placed.shape, placed.strides)
        assert tensor.array.tobytes() == logical.tobytes()
        assert whole.array.tobytes() == storage.tobytes()
        assert (offset, misalignment) == (placed.offset, 0)
        assert (reply.mutated, reply.overrun) == ((), False)


@pytest.mark.parametrize("array", [np.float32(2.5), np.arange(6).reshape(2, 3).T, np.zeros((0, 2)), np.array(True)])
def test_arrays_arrive_contiguous_whatever_their_numpy_strides(misbehaving: BackendProcess, array: np.ndarray) -> None:
    (output,) = ask(misbehaving, "echo", array).outputs
    assert output.array.dtype == array.dtype
    assert output.strides == contiguous_strides(array.shape)
    np.testing.assert_array_equal(output.array, array, strict=not isinstance(array, np.generic))


def test_scalars_lists_and_none_arrive_and_return(misbehaving: BackendProcess) -> None:
    values = [None, True, 3, -(10**20), -0.0, math.inf, math.nan, complex(0.0, -0.0), "floor", [1, (2.5, None)]]
    assert repr(ask(misbehaving, "echo", *values, key=[]).result) == repr([*values, []])


def test_strings_become_torch_objects_where_the_schema_says_so(start: Starter) -> None:
    x = np.float32([1, 2])
    with start(name="cpu") as process:
        process.submit(Call("aten::_to_copy", [x], {"dtype": "bfloat16", "layout": "strided", "device": "cpu"}))
        process.submit(Call("aten::sum.dim_IntList", [x, None], {"dtype": "float64"}))
        process.submit(Call("aten::div.Tensor_mode", [x, np.float32([2, 2])], {"rounding_mode": "floor"}))
        assert [process.receive().result.array.tolist() for _ in range(3)] == [[1, 2], 3, [0, 1]]


def test_dtype_that_torch_lacks_is_unsupported(misbehaving: BackendProcess) -> None:
    import ml_dtypes

    reply = ask(misbehaving, "echo", np.zeros(2, ml_dtypes.float6_e2m3fn))
    assert (reply.status, reply.reason) == ("unsupported", "torch has no tensors of dtype float6_e2m3fn")


def test_outputs_are_what_they_show_not_what_they_store(misbehaving: BackendProcess) -> None:
    x = np.complex64([[1 + 2j, 3 - 4j]])
    conjugate, imaginary, transposed = ask(misbehaving, "lazy_views", x).outputs
    assert conjugate.array.tolist() == [[1 - 2j, 3 + 4j]]
    assert imaginary.array.tolist() == [[-2, 4]]
    assert transposed.array.tolist() == [[1 + 2j], [3 - 4j]]
    assert transposed.strides == (1, 2)


def test_large_frames_both_ways_do_not_block(misbehaving: BackendProcess) -> None:
    arrays = [np.full(1 << 21, number, np.float64) for number in range(4)]
    for array in arrays:
        misbehaving.submit(Call("do::echo", [array]))
    for array in arrays:
        np.testing.assert_array_equal(misbehaving.receive().outputs[0].array, array)


# --- Order and description --------------------------------------------------------------------------------------------


def test_replies_come_in_the_order_of_the_calls(misbehaving: BackendProcess) -> None:
    for number in range(50):
        misbehaving.submit(Call("do::echo", [number]))
    assert misbehaving.in_flight == 50
    assert [misbehaving.receive().result for _ in range(50)] == [[number] for number in range(50)]
    with pytest.raises(LookupError):
        misbehaving.receive()


def test_description(misbehaving: BackendProcess) -> None:
    description = misbehaving.describe()
    assert list(description) == [
        "name", "version", "device", "exports", "compute", "flushes_subnormals", "rounds_intermediates",
        "accumulates_in_element_type", "keeps_intermediates", "views_share_memory", "numerics",
    ]  # fmt: skip
    assert (description["name"], description["version"], description["device"]) == ("misbehaving", "1.2", "cpu")


def test_a_cpu_s_numerics_are_what_its_kernels_are_chosen_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    monkeypatch.delenv("MKL_CBWR", raising=False)
    with BackendProcess("cpu") as process:  # with a template of its own, that starts with these
        told = process.describe()["numerics"]
    assert (told["instructions"], told["ONEDNN_MAX_CPU_ISA"], "MKL_CBWR" in told) == ("DEFAULT", "SSE41", False)
    assert {*str(told["features"]).split()} <= {"avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16"}
    assert (told["flushes_denormals"], told["deterministic_algorithms"], told["threads"]) == (False, False, 1)
    assert "Math Kernel Library" in told["libraries"]


def test_numerics_tell_what_a_backend_has_set_and_the_interpreter_has_none(start: Starter) -> None:
    with start("Flushing") as process:
        told = process.describe()["numerics"]
    assert (told["flushes_denormals"], told["float32_matmul_precision"]) == (True, "medium")
    assert told["engine"] == "3.1, fp16"
    with BackendProcess("self") as process:
        assert process.describe()["numerics"] == {}


def test_worker_runs_where_the_parent_does_with_one_thread(misbehaving: BackendProcess, tmp_path: Path) -> None:
    pid, parent_pid, directory, threads = ask(misbehaving, "where").result
    assert len({pid, parent_pid, os.getpid()}) == 3
    assert (directory, threads) == (os.getcwd(), 1)


def test_threads_are_the_workers(start: Starter) -> None:
    with start(threads=2) as process:
        assert ask(process, "where").result[3] == process.describe()["numerics"]["threads"] == 2


def test_torch_device_may_be_subclassed(start: Starter) -> None:
    with start("Sevens") as process:
        assert process.describe()["name"] == "sevens"
        for op in ("aten::abs", "aten::neg"):
            process.submit(Call(op, [np.float32([-1, 2])]))
        assert [process.receive().result.array.tolist() for _ in range(2)] == [[1, 2], [7, 7]]


def test_interpreter_is_a_backend(start: Starter) -> None:
    with start(name="self") as process:
        process.submit(Call("aten::exp", [np.float16([0, math.inf])]))
        result = process.receive().result.array
        assert (result.tolist(), result.dtype) == ([1, math.inf], np.float16)


# --- What a call did to its inputs ------------------------------------------------------------------------------------


def test_mutated_inputs_are_named(misbehaving: BackendProcess) -> None:
    ones = np.ones(3, np.float32)
    reply = ask(misbehaving, "write_to", ones, 5.0)
    assert (reply.status, reply.mutated, reply.overrun) == ("ok", (0,), False)
    assert ask(misbehaving, "write_to", ones, 1.0).mutated == ()  # the same bits: nothing has changed
    assert ask(misbehaving, "write_to", -np.zeros(3, np.float32), 0.0).mutated == (0,)


def test_only_the_gaps_of_a_layout_mutated_is_mutated(misbehaving: BackendProcess) -> None:
    every_second = Placed(np.arange(8, dtype=np.int32), (4,), (2,), 0)
    misbehaving.submit(Call("do::write_past_end", [every_second]))  # 4 elements on: inside the storage
    assert misbehaving.receive().mutated == (0,)


def test_write_outside_every_storage_is_an_overrun(misbehaving: BackendProcess) -> None:
    reply = ask(misbehaving, "write_past_end", np.zeros(3, np.float32))
    assert (reply.status, reply.mutated, reply.overrun) == ("ok", (), True)


def test_what_the_worker_thinks_of_its_inputs_does_not_matter(misbehaving: BackendProcess) -> None:
    ones = np.ones(3, np.float32)
    assert ask(misbehaving, "lie_about_memory", ones).mutated == (0,)
    assert ones.tolist() == [1, 1, 1]


def test_inputs_written_to_after_the_answer_change_nothing_of_the_parents(misbehaving: BackendProcess) -> None:
    """It is seen if it happens before the parent looks; what the parent has is never what the worker has."""
    ones = np.ones(3, np.float32)
    misbehaving.submit(Call("do::write_from_a_thread", [ones]))
    time.sleep(0.5)
    assert misbehaving.receive().mutated == (0,)
    assert ones.tolist() == [1, 1, 1]
    assert ask(misbehaving, "echo", ones).mutated == ()


@pytest.mark.skipif(sys.platform != "linux", reason="lists its files in /proc")
def test_a_worker_that_cuts_off_its_memory_has_changed_it(misbehaving: BackendProcess) -> None:
    ask(misbehaving, "echo")
    assert ask(misbehaving, "cut_memory", np.ones(3, np.float32)).status in ("ok", "crash")
    assert ask(misbehaving, "echo", 1).result == [1]


def test_results_in_the_memory_of_an_input_are_told(misbehaving: BackendProcess) -> None:
    assert ask(misbehaving, "itself", np.ones(3, np.float32)).aliases == ((0, 0), (1, 0))


@pytest.mark.skipif(
    sys.platform != "darwin" and platform.libc_ver()[0] != "glibc", reason="glibc and macOS have a malloc that poisons"
)
@pytest.mark.parametrize("count", [1, 24, 500, 10_000, 1_000_000])
def test_memory_never_written_is_poisoned(misbehaving: BackendProcess, count: int) -> None:
    ask(misbehaving, "echo", np.ones(count, np.float32))
    (output,) = ask(misbehaving, "unwritten", count).outputs
    assert set(output.array.tobytes()) == {0xAA if sys.platform == "darwin" else 0xFE}


# --- Refusals and errors ----------------------------------------------------------------------------------------------


def test_unsupported_carries_its_reason(misbehaving: BackendProcess) -> None:
    reply = ask(misbehaving, "refuse", "no integers here")
    assert (reply.status, reply.reason) == ("unsupported", "no integers here")


def test_exception_is_an_error_with_its_place(misbehaving: BackendProcess) -> None:
    reply = ask(misbehaving, "fail", "object at 0x7f1234567890 is bad\nsecond line")
    assert reply.status == "error"
    assert reply.reason is not None
    assert reply.reason.startswith("ValueError: object at ... is bad second line (in fail, misbehaving.py:")


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("array", "TypeError: run returned numpy.ndarray; expected tensors"),
        ("sparse", "TypeError: output 0 is a torch.sparse_coo tensor of torch.float32; expected a dense one"),
        ("nested", "TypeError: output 0 is a nested tensor; expected a dense one"),
        ("half_complex", "TypeError: output 0 is a torch.strided tensor of torch.complex32"),
        ("bad_bool", "output 0 is a bool tensor with a byte of value 2"),
    ],
)
def test_result_that_cannot_be_read_is_an_error(misbehaving: BackendProcess, op: str, reason: str) -> None:
    reply = ask(misbehaving, op)
    assert reply.status == "error"
    assert str(reply.reason).startswith(reason)


def test_prints_do_not_reach_the_parents_output(misbehaving: BackendProcess, capfd: pytest.CaptureFixture[str]) -> None:
    assert ask(misbehaving, "say", "noise\n").status == "ok"
    assert capfd.readouterr() == ("", "")
