"""Which exceptions say that a backend does not do something, and which that it failed: torch's own messages."""

from __future__ import annotations

import pytest
import torch

from conform.backends.failures import classify, device_is_lost, lacks_operator
from conform.errors import Unsupported

aten = torch.ops.aten


def raised(op: torch._ops.OpOverload, *args: object) -> Exception:
    with pytest.raises((RuntimeError, NotImplementedError)) as caught:
        op(*args)
    return caught.value


def test_dtype_without_a_kernel_is_unsupported() -> None:
    error = raised(aten.bitwise_and.Tensor, torch.ones(2), torch.ones(2))
    assert classify(error) == ("unsupported", "\"bitwise_and_cpu\" not implemented for 'Float'")


def test_operator_without_a_kernel_is_unsupported() -> None:
    error = raised(aten._fused_dropout.default, torch.ones(2), 0.5)
    reason = "Could not run 'aten::_fused_dropout' with arguments from the 'CPU' backend"
    assert classify(error) == ("unsupported", reason)


def test_operator_that_a_library_must_bring_is_unsupported() -> None:
    query = torch.ones(1, 1, 1, 8)
    error = raised(aten._scaled_dot_product_fused_attention_overrideable.default, query, query, query)
    assert classify(error) == ("unsupported", "_scaled_dot_product_fused_attention_overrideable not implemented")
    assert lacks_operator(error)
    assert not lacks_operator(raised(aten.bitwise_and.Tensor, torch.ones(2), torch.ones(2)))


def test_messages_of_mps_that_decline_are_unsupported() -> None:
    operator = "The operator 'aten::x' is not currently implemented for the MPS device"
    assert classify(NotImplementedError(f"{operator}. If you want")) == ("unsupported", operator)
    dtype = "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64"
    assert classify(TypeError(f"{dtype}. Please")) == ("unsupported", dtype)


@pytest.mark.parametrize(
    "message",
    [
        "getCudnnDataTypeFromScalarType() not supported for Long",
        "HalfTensor is not supported",
        "GET was unable to find an engine to execute this computation",
        "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasLtMatmul with transpose_mat1 1",
    ],
)
def test_messages_of_cuda_that_decline_are_unsupported(message: str) -> None:
    """As torch 2.11 on an H100 says them: int64 convolution, float16 histc, uint8 convolution, int8 products."""
    error = RuntimeError(message)
    assert classify(error) == ("unsupported", message)
    assert not device_is_lost(error)


def test_refusal_of_arguments_is_an_error() -> None:
    error = raised(aten.neg.default, torch.ones(2, dtype=torch.bool))
    status, reason = classify(error)
    assert status == "error"
    assert reason.startswith("RuntimeError: Negation, the `-` operator, on a bool tensor is not supported.")


@pytest.mark.parametrize(
    "error",
    [
        NotImplementedError("todo"),
        NotImplementedError(""),
        ValueError("\"add\" not implemented for 'Half'"),
        RuntimeError("while falling back: \"add\" not implemented for 'Half'"),
        NotImplementedError("Cannot copy out of meta tensor; no data!"),
        MemoryError(),
        KeyError("x"),
    ],
    ids=repr,
)
def test_everything_else_is_an_error(error: Exception) -> None:
    status, reason = classify(error)
    assert status == "error"
    assert reason.startswith(f"{type(error).__name__}: ")


def test_unsupported_needs_no_reason() -> None:
    assert classify(Unsupported()) == ("unsupported", "no reason given")


def test_reason_is_cut_to_its_first_lines_and_holds_no_address() -> None:
    status, reason = classify(RuntimeError("\n".join(["<x at 0x7f00deadbeef>", *"bcdefg"])))
    assert (status, reason) == ("error", "RuntimeError: <x at ...>\nb\nc\nd")
    assert len(classify(RuntimeError("x" * 10_000))[1]) < 700


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (RuntimeError("CUDA error: device-side assert triggered"), True),
        (RuntimeError("HIP error: an illegal memory access"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasSgemm"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), False),
        (ValueError("x"), False),
    ],
    ids=repr,
)
def test_device_is_lost_after_its_own_errors_only(error: Exception, lost: bool) -> None:
    assert device_is_lost(error) is lost
