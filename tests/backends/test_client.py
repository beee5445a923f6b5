"""A backend in its own process: values arrive bit for bit, and the parent outlives whatever the backend does."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from conform.backends.base import BackendUnavailable
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.protocol import DTYPES, contiguous_strides
from conform.backends.reply import Reply
from conform.backends.template import LINGER_S
from conform.errors import UsageError
from tests.backends.conftest import MISBEHAVING
from tests.backends.processes import exists, is_gone

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


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_layout_arrives_and_returns_bit_for_bit(misbehaving: BackendProcess, name: str) -> None:
    storage = storage_of(name, 24)
    for layout in LAYOUTS.values():
        placed = Placed(storage, layout.shape, layout.strides, layout.offset)
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
        "accumulates_in_element_type", "numerics",
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


# --- Death ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "args", "reason"),
    [
        ("segfault", [], "SIGSEGV (Segmentation fault)"),
        ("read_null", [], "SIGSEGV (Segmentation fault)"),
        ("exit", [3], "exited with code 3"),
        ("exit", [None], "exited with code 0"),
        ("exit", ["bye"], "exited with code 1"),
        ("exit_at_once", [0], "exited with code 0"),
        ("say_and_die", ["last words"], "SIGABRT (Aborted)"),
        ("garbage", [], "the worker broke the protocol: a frame starts with b'hell', not with b'cfm1'"),
    ],
)
def test_crash_is_an_answer_and_the_run_goes_on(
    misbehaving: BackendProcess, op: str, args: list[object], reason: str
) -> None:
    first = ask(misbehaving, "where").result
    reply = ask(misbehaving, op, *args)
    assert (reply.status, reply.reason) == ("crash", reason)
    assert ask(misbehaving, "where").result != first
    assert is_gone(first[0])


def test_worker_whose_device_is_lost_answers_and_is_replaced(misbehaving: BackendProcess) -> None:
    first = ask(misbehaving, "where").result
    for op in ("lose_device", "where"):
        misbehaving.submit(Call(f"do::{op}", []))
    lost, answered = misbehaving.receive(), misbehaving.receive()
    assert (lost.status, str(lost.reason)[:51]) == ("error", "RuntimeError: CUDA error: device-side assert trigge")
    assert answered.result[0] != first[0]


def test_log_of_a_crash_tells_last_words_and_place(misbehaving: BackendProcess) -> None:
    log = ask(misbehaving, "say_and_die", "last words").log
    assert log.startswith("last words\nFatal Python error: Aborted\n")
    assert "in say_and_die" in log
    assert "Extension modules" not in log


def test_silence_is_a_timeout_and_the_run_goes_on(start: Starter) -> None:
    with start(timeout_s=0.3) as process:
        worker = ask(process, "where").result[0]
        reply = ask(process, "hang")
        assert (reply.status, reply.reason) == ("timeout", "no answer for 0.3 s")
        assert ask(process, "echo", 1).result == [1]
        assert is_gone(worker)


def test_timeout_ends_what_the_worker_started(start: Starter) -> None:
    with start(timeout_s=0.3) as process:
        child = ask(process, "hang_with_child").result
        assert exists(child)
        assert ask(process, "hang_with_child").status == "timeout"
        assert is_gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to an ancestor that asked for them")
def test_a_process_that_left_its_worker_is_seen_and_killed() -> None:
    with BackendProcess(f"{MISBEHAVING}::Misbehaving") as process:
        daemon = ask(process, "leave_daemon").result
        assert exists(daemon)
        process.retire()
        assert is_gone(daemon)
        assert process.left_running == ["sleep"]
        child = ask(process, "hang_with_child").result  # of the next worker
        process.retire()
        assert is_gone(child)
        assert process.left_running == ["sleep"]
        assert ask(process, "where").status == "ok"


def test_calls_behind_a_fatal_one_are_answered_by_the_next_worker(start: Starter) -> None:
    with start(timeout_s=0.3) as process:
        for op in ("echo", "segfault", "echo", "hang", "exit_at_once", "echo"):
            process.submit(Call(f"do::{op}", [7]))
        replies = [process.receive() for _ in range(6)]
    assert [reply.status for reply in replies] == ["ok", "crash", "ok", "timeout", "crash", "ok"]
    assert [replies[at].result for at in (0, 2, 5)] == [[7], [7], [7]]


def test_leaving_with_calls_in_flight_leaves_no_process(start: Starter) -> None:
    with start() as process:
        worker = ask(process, "where").result[0]
        process.submit(Call("do::hang", []))
    assert is_gone(worker)


# --- Not starting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("class_name", "reason"),
    [
        ("DiesLoading", "did not start: SIGKILL (Killed)"),
        ("FailsLoading", "is not available: OSError: no such accelerator (in __init__, misbehaving.py:"),
    ],
)
def test_backend_that_cannot_load_is_unavailable(start: Starter, class_name: str, reason: str) -> None:
    with start(class_name) as process, pytest.raises(BackendUnavailable) as caught:
        process.describe()
    assert reason in str(caught.value)
    assert caught.value.exit_code == 3


def interrupt(*_: object) -> None:
    """In the place of a wait: Ctrl-C."""
    raise KeyboardInterrupt


def left_after_s(process: BackendProcess, wait: Callable[[], object]) -> float:
    """How long after an interruption in `wait` the process is left."""
    with contextlib.suppress(KeyboardInterrupt), process:
        try:
            wait()
        finally:
            interrupted_s = time.monotonic()
    return time.monotonic() - interrupted_s


def test_loading_is_announced_and_interrupted_at_once(
    start: Starter, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conform.backends.client.NOTICE_AFTER_S", 0.1)
    process = start("HangsLoading")
    monkeypatch.setattr(process, "_next_frame", interrupt)
    assert left_after_s(process, process.describe) < LINGER_S / 2
    assert capsys.readouterr().err == f"conform: still loading backend {process.name!r}, at most 300 s\n"


def test_the_only_call_is_interrupted_at_once(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    process = start()

    def hang() -> None:
        process.submit(Call("do::hang", []))
        monkeypatch.setattr(process, "_next_frame", interrupt)
        process.receive()

    assert left_after_s(process, hang) < LINGER_S / 2


def test_absent_device_is_unavailable(start: Starter) -> None:
    with start(name="cuda:99") as process, pytest.raises(BackendUnavailable, match="'cuda:99' is not available: "):
        process.submit(Call("aten::neg", [np.float32(1)]))


def test_file_that_cannot_be_imported_is_unavailable(start: Starter, tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text("import a_package_that_is_not_there\n")
    with start(name=f"{file}::Mine") as process, pytest.raises(BackendUnavailable) as caught:
        process.describe()
    expected = "ModuleNotFoundError: No module named 'a_package_that_is_not_there' (in <module>, kernels.py:1)"
    assert expected in str(caught.value)


def test_file_that_is_not_python_is_a_usage_error(start: Starter, tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text("import torch\nclass Mine(\n")
    with start(name=f"{file}::Mine") as process, pytest.raises(UsageError, match=r"kernels\.py:2: '\(' was never clo"):
        process.describe()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cpuu", "unknown backend 'cpuu'; did you mean 'cpu'?"),
        ("nowhere.py::Mine", "there is no Python file 'nowhere.py'"),
        ("{file}::Misbehavin", "has no class 'Misbehavin'; did you mean 'Misbehaving'?"),
        ("{file}::NOT_A_CLASS", "a subclass of conform.Backend was expected"),
        ("{file}::Nameless", "Nameless.name is not set"),
    ],
)
def test_name_that_leads_nowhere_is_a_usage_error(start: Starter, name: str, message: str) -> None:
    file = Path(__file__).parent / "misbehaving.py"
    with start(name=name.format(file=file)) as process, pytest.raises(UsageError) as caught:
        process.describe()
    assert message in str(caught.value)
