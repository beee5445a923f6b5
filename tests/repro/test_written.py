"""What the lines of a script and of a suite file say, piece by piece: numbers, devices, outputs, limits."""

from __future__ import annotations

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from conform.call.arguments import Arguments
from conform.call.variants import variant_of
from conform.numerics.real import Real
from conform.repro import script, shrink, suite_file

SUBNORMAL = 2.0**-1074


def test_small_floats_are_made_of_float32_and_small_integers_are_not() -> None:
    small = np.array([1.5]).astype(ml_dtypes.float8_e5m2)
    assert script.tensor_literal(small) == "torch.tensor([1.5], dtype=torch.float32).to(torch.float8_e5m2)"
    assert script.tensor_literal(np.int8([3])) == "torch.tensor([3], dtype=torch.int8)"


@pytest.mark.parametrize(("backend", "suffix"), [("cpu", ""), ("cuda", ".to('cuda')"), ("aaa:1", ".to('aaa:1')")])
def test_tensors_are_made_on_the_device(backend: str, suffix: str) -> None:
    lines, call = script._call("aten::exp", Arguments([np.float32([1.0])], {}), backend, is_device=True)
    assert lines == [f"self = torch.tensor([1.0], dtype=torch.float32){suffix}"]
    assert call == "torch.ops.aten.exp.default(self)"


def test_a_list_of_many_tensors_is_written_whole() -> None:
    tensors = [np.float32([number]) for number in range(20)]
    assert len(script._call("aten::stack", Arguments([tensors], {}), "cpu", is_device=True)[0]) == 20


def test_what_holds_a_result_has_its_name_in_the_script() -> None:
    lists = [[np.zeros(1), np.ones(1)], [np.zeros(1), np.ones(1)], []]
    in_lists = script._holders(variant_of("aten::_fused_sgd_"), Arguments(lists, {}))
    assert in_lists == ["self_0", "self_1", "grads_0", "grads_1"]
    out = Arguments([np.zeros(1)], {"out": np.zeros(1)})
    assert script._holders(variant_of("aten::exp.out"), out) == ["out"]


@pytest.mark.parametrize(
    ("reason", "output"), [("output 1: dtype int64 instead of int32", 1), ("error above the bound", 0), (None, 0)]
)
def test_the_output_that_a_reason_names(reason: str | None, output: int) -> None:
    assert script._differing_output(SimpleNamespace(verdict=SimpleNamespace(reason=reason))) == output


def test_what_float64_lacks_of_a_subnormal_is_told_in_ulps() -> None:
    """`rest` counts smallest subnormals, of which a float32 ulp near 0 has 2^925."""
    real = Real(np.float64(0), np.float64(0), np.float64(0), np.float64(0.25))
    assert script._rest(real, SUBNORMAL) == " - 0.25"
    assert script._rest(real, 2 * SUBNORMAL) == " - 0.125"
    assert script._rest(Real.exact(1.0), SUBNORMAL) == ""


def test_whole_numbers_are_plainer_than_parts() -> None:
    assert shrink._plainness(3.0) < shrink._plainness(4.0) < shrink._plainness(0.5) < shrink._plainness(float("inf"))
    assert shrink._plainness(1e7) > shrink._plainness(0.5)


def test_what_may_be_an_index_stays_in_range_and_a_negative_number_stays_as_it_is() -> None:
    def cut(index: list[int]) -> list[list[int]]:
        tensors = [np.ones(9, np.float32), np.int64(index)]
        call = shrink.Candidate("aten::take", Arguments(tensors, {}), "contiguous", ())
        return [one.arguments.args[1].tolist() for one in shrink._cut(call, 9, slice(0, 4))]

    assert cut([0, 8]) == [[0, 8], [0, 3]]
    assert cut([-1, 8]) == [[-1, 8], [-1, 8]]


def test_the_first_dims_of_all_tensors_go_together_where_they_are_1() -> None:
    call = shrink.Candidate("aten::add.Tensor", Arguments([np.ones((1, 3)), np.ones((1, 3))], {}), "contiguous", ())
    first = next(shrink._fewer_dimensions(call))
    assert [tensor.shape for tensor in first.arguments.args] == [(3,), (3,)]


@pytest.mark.parametrize(
    ("checks", "is_counted", "expected"),
    [(["accuracy"], True, "--checks accuracy"), (None, True, ""), (["accuracy"], False, "--checks refusal")],
)
def test_the_checks_of_a_run_are_those_of_its_file(checks: list[str] | None, is_counted: bool, expected: str) -> None:
    verdict = SimpleNamespace(is_counted=is_counted, check="refusal")
    finding = SimpleNamespace(verdict=verdict, candidate=SimpleNamespace(layout="contiguous"))
    invocation = SimpleNamespace(contract="opencl", checks=checks, threads=1)
    record = SimpleNamespace(environment=SimpleNamespace(invocation=invocation))
    command = suite_file._command(finding, record, "cpu")
    assert command == f"conform check {suite_file.FILE} --backend cpu {expected}".strip()
