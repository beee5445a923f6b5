"""What a call writes into its arguments, and where: planted kernels that do it wrong are caught."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

import conform
from conform.backends.call import Call
from conform.backends.lent import UNCHANGED, Changes
from conform.backends.reply import Output, Reply
from conform.backends.torch_device import TorchDevice, overload
from conform.backends.written import as_written
from conform.call.variants import plain_name, variant_of
from conform.inputs.layouts import Placed

pytestmark = pytest.mark.one_in(6)

CHECKS = "accuracy,layout,result,refusal,mutation,aliasing"  # refusals do not count for kernels otherwise
OPS = ("aten::mul_.Tensor", "aten::mul.out", "aten::cumsum.out", "aten::sort.values")


class Kernel(TorchDevice):
    """Computes what the variant is to write, and writes it in a way of its own."""

    name = "kernel"

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        names = [one.name for one in variant_of(op).schema.arguments]
        given = dict(zip(names, args, strict=False)) | kwargs
        outs = [given.pop(name) if name in kwargs else given[name] for name in variant_of(op).into]
        computed = overload(plain_name(op))(*args, **{name: kwargs[name] for name in kwargs if name in given})
        results = list(computed) if isinstance(computed, tuple) else [computed]
        for out, result in zip(outs, results, strict=True):
            if out.numel() == 0 and kwargs:
                out.resize_(result.shape)
            self.refuse(out, result)
        returned = tuple(self.write(out, result, args) for out, result in zip(outs, results, strict=True))
        return returned if len(returned) > 1 else returned[0]

    def refuse(self, out: torch.Tensor, result: torch.Tensor) -> None:
        if out.shape != result.shape or out.dtype != result.dtype:
            raise RuntimeError("out cannot hold the result")

    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        return out.copy_(result)


class ReturnsOnly(Kernel):
    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        return result


class ReturnsACopy(Kernel):
    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        return out.copy_(result).clone()


class IgnoresStrides(Kernel):
    """Writes row after row, whatever the strides say; returns the result as if it had."""

    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        torch.as_strided(out, (result.numel(),), (1,))[:] = result.reshape(-1)
        return out


class FillsGaps(Kernel):
    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        whole = out.untyped_storage().nbytes() // out.itemsize
        torch.as_strided(out, (whole,), (1,), 0).zero_()
        return out.copy_(result)


class Accumulates(Kernel):
    """Right where nothing stands in out yet."""

    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        is_operand = any(out is one for one in args)
        return out.copy_(result if is_operand else out + result if out.dtype != torch.bool else out | result)


class WritesAnOperandToo(Kernel):
    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        (args[1] if out is args[0] else args[0]).zero_()
        return out.copy_(result)


class LeavesTheLast(Kernel):
    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        if result.numel() < 2:
            return out.copy_(result)
        last = out.flatten()[-1].clone()
        out.copy_(result)[(-1,) * out.dim()] = last
        return out


class Swaps(Kernel):
    """Of two outs, each is returned in the other's place."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        found = super().run(op, args, kwargs)
        return found[::-1] if isinstance(found, tuple) else found


class TakesAnything(Kernel):
    def refuse(self, out: torch.Tensor, result: torch.Tensor) -> None:
        pass

    def write(self, out: torch.Tensor, result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
        return out.copy_(result.flatten()[: out.numel()].reshape(out.shape) if out.numel() <= result.numel() else 0)


def reasons(backend: type[Kernel], ops: Sequence[str] = OPS) -> dict[str, set[str]]:
    """Why cases failed, by op."""
    run = conform.check("writes", backend=backend, ops=ops, checks=CHECKS)
    return {op: {case["reason"] for case in run.cases if case["op"] == op and case["status"] == "fail"} for op in ops}


@pytest.mark.parametrize("backend", [Kernel, "self"])
def test_honest_kernels_pass(backend: type[Kernel] | str) -> None:
    run = conform.check("writes", backend=backend, ops=OPS, checks=CHECKS)
    assert [(case["id"], case["reason"]) for case in run.cases if case["status"] != "pass"] == []
    assert {case["op"] for case in run.cases} == set(OPS)


@pytest.mark.parametrize(("backend", "said", "ops"), [
    (ReturnsOnly, "is not the tensor argument", OPS),
    (ReturnsACopy, "is not the tensor argument", OPS),
    (IgnoresStrides, "wrote outside the tensors", OPS),
    (FillsGaps, "wrote outside the tensors", OPS),
    (Accumulates, "", OPS[1:]),
    (WritesAnOperandToo, "changed its input tensor", OPS[:3]),
    (LeavesTheLast, "", OPS),
    (Swaps, "is not the tensor argument values", OPS[3:]),
    (TakesAnything, "accepted invalid arguments", OPS[:2]),
])  # fmt: skip
def test_planted_kernels_are_caught(backend: type[Kernel], said: str, ops: Sequence[str]) -> None:
    for op, found in reasons(backend, ops).items():
        assert any(said in reason for reason in found), (op, found)


# --- What is made of a reply ------------------------------------------------------------------------------------------

VARIANT = variant_of("aten::add.out")
ONES, OUT = np.ones(2, np.float32), Placed(np.zeros(6, np.float32), (2,), (2,), 1)  # elements 1 and 3 of six
CALL = Call("aten::add.out", [ONES, ONES], {"out": OUT})


def answered(array: np.ndarray, **fields: Any) -> Reply:
    return Reply("ok", result=Output(array, (2,)), **fields)


def changed(storage: list[float]) -> Changes:
    return Changes({2: np.float32(storage).tobytes()}, False)


def test_the_output_is_what_the_argument_holds() -> None:
    reply = as_written(answered(np.float32([2, 5]), mutated=(2,)), CALL, VARIANT, changed([0, 2, 0, 5, 0, 0]))
    assert [one.array.tolist() for one in reply.outputs] == [[2, 5]]
    assert (reply.outputs[0].strides, reply.mutated, reply.overrun, reply.apart) == ((2,), (), False, ())


@pytest.mark.parametrize("storage", [[1, 2, 0, 5, 0, 0], [0, 2, 0, 5, 0, 1], [-0.0, 2, 0, 5, 0, 0]])
def test_memory_beside_the_elements_is_outside(storage: list[float]) -> None:
    reply = as_written(answered(np.float32([2, 5]), mutated=(2,)), CALL, VARIANT, changed(storage))
    assert reply.overrun


@pytest.mark.parametrize("reply", [
    answered(np.float32([2, 6])),  # other elements than were written
    answered(np.float64([2, 5])),
    answered(np.float32([2, 5]), apart=(0,)),  # the same, elsewhere
    answered(np.float32([2, 5]), aliases=((0, 1),)),  # in another argument
    Reply("ok", result=None),
])  # fmt: skip
def test_what_is_returned_is_the_argument(reply: Reply) -> None:
    assert as_written(reply, CALL, VARIANT, changed([0, 2, 0, 5, 0, 0])).apart == (0,)


def test_nothing_is_written() -> None:
    reply = as_written(answered(np.float32([0, 0])), CALL, VARIANT, UNCHANGED)
    assert (reply.outputs[0].array.tolist(), reply.apart) == ([0, 0], ())


def test_a_bool_of_another_byte_is_no_answer() -> None:
    call = Call("aten::logical_not.out", [ONES], {"out": np.zeros(2, bool)})
    answer = Reply("ok", result=Output(np.array([True, False]), (1,)))
    reply = as_written(answer, call, variant_of(call.op), Changes({1: b"\x02\x00"}, False))
    assert reply.status == "error"
    assert reply.reason == "output 0 is a bool tensor with a byte of value 2: memory that was never written?"


def test_of_a_call_that_returns_nothing_the_lists_tell() -> None:
    """Of tensors 0 and 1 of `self` the second was written to, of `grads` none."""
    lists = [[np.float32([1]), np.float32([2])], [np.float32([3]), np.float32([4])], []]
    call = Call("aten::_fused_sgd_", lists)
    answer = Reply("ok", result=None, mutated=(1,))
    reply = as_written(answer, call, variant_of(call.op), Changes({1: np.float32([7]).tobytes()}, False))
    assert [one.array.tolist() for one in reply.outputs] == [[1], [7], [3], [4]]
    assert (reply.mutated, reply.apart) == ((), ())


def test_an_operand_that_changes_is_a_changed_input() -> None:
    reply = as_written(Reply("error", "no", mutated=(0, 2)), CALL, VARIANT, UNCHANGED)
    assert (reply.status, reply.mutated) == ("error", (0,))


def test_an_argument_of_no_elements_may_have_been_resized() -> None:
    call = Call("aten::add.out", [ONES, ONES], {"out": np.zeros(0, np.float32)})
    reply = as_written(answered(np.float32([2, 5]), apart=(0,)), call, VARIANT, UNCHANGED)
    assert (reply.outputs[0].array.tolist(), reply.apart) == ([2, 5], ())
