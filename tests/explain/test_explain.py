"""`conform explain`: of an op its schema, meaning, bounds, rules and tests; of a case inputs and expectation."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.errors import UsageError
from conform.explain.case import explain_case
from conform.explain.op import explain_op
from conform.explain.op_facts import _borrowed
from conform.interp import semantics

SUITE = """
tests:
  - id: thirds
    op: aten::div
    in:
      - {type: const_tensor, shape: [2, 2], dtype: float32, value: [[1.0, 2.0], [-1.0, 0.0]]}
      - {type: const_tensor, shape: [2], dtype: float32, value: [3.0, 0.0]}
  - id: halves
    op: aten::div
    in:
      - {type: const_tensor, shape: [3], dtype: int32, value: [5, -5, 1]}
      - {type: const_tensor, shape: [3], dtype: int32, value: [2, 2, 0]}
    kwargs: {rounding_mode: {type: const, value: floor}}
  - id: mean
    op: aten::mean
    in: [{type: const_tensor, shape: [4], dtype: float32, value: [1.1, 2.2, 3.3, 3.4]}]
  - id: cubes
    op: aten::linalg_vector_norm
    in:
      - {type: const_tensor, shape: [2, 2], dtype: float32, value: [[3.0, 4.0], [3.0e20, 4.0e20]]}
      - {type: const, value: 3}
      - {type: int_list, elems: [1]}
  - id: vector
    op: aten::neg
    in: [{type: tensor, shape: [3], kind: float, init: normal}]
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "mine.yaml"
    path.write_text(SUITE)
    return str(path)


def test_an_op(suite: str) -> None:
    text = explain_op("aten::sqrt", [suite])
    assert text.startswith("aten::sqrt(Tensor self) -> Tensor\n    ")
    assert "OpenCL C 3.0 section 7.4, sqrt" in text
    assert "opencl     1.5 ulp           1.5 ulp           3 ulp               0.5 ulp" in text
    assert "cuda       0 ulp             0 ulp             0 ulp               0 ulp" in text
    assert "torch      1e-05 + 0.001|y|  1e-05 + 0.016|y|  1e-05 + 1.3e-06|y|  1e-07 + 1e-07|y|" in text
    assert "tosa       no row" in text
    assert "P7" in text or "P2" in text
    assert text.endswith(f"tests in {suite}: 0")


def test_the_dtypes_of_results_and_the_bounds_of_no_others(suite: str) -> None:
    text = explain_op("aten::lgamma", [suite])
    assert "\nof results: float16 bfloat16 float32 float64\n" in text
    assert "exact: no rounding" not in text
    text = explain_op("aten::argmax", [suite])
    assert "\nof results: int64\n\nintegers and bools are exact: no rounding takes place\n\npolicy" in text


def test_another_ops_rows_where_the_judge_takes_them(suite: str) -> None:
    real, complex_ = explain_op("aten::abs", [suite]).split("bounds of aten::abs of complex64 complex128: those of ")
    assert "\ntosa       exact " in real
    assert complex_.startswith("aten::hypot\nbound      float32             float64\n")
    assert "\ntosa       no row              no row\n" in complex_
    assert "those of aten::atan2" in explain_op("aten::angle", [suite])


def test_which_ops_borrow_rows_of_all_that_there_are() -> None:
    lenders = {name: [one.lender for one in _borrowed(name)] for name in semantics.names()}
    assert {name: found for name, found in lenders.items() if found} == {
        "aten::abs": ["aten::hypot"], "aten::absolute": ["aten::hypot"], "aten::angle": ["aten::atan2"],
    }  # fmt: skip


def test_an_op_that_takes_matrices_alone(suite: str) -> None:
    assert explain_op("aten::trace", [suite]).startswith("aten::trace(Tensor self) -> Tensor\n")


def test_an_op_of_a_list_of_tensors(suite: str) -> None:
    text = explain_op("aten::meshgrid", [suite])
    assert text.startswith("aten::meshgrid(Tensor[] tensors) -> Tensor[]\n")
    assert "those of" not in text


def test_the_slack_of_a_derived_bound_with_its_reason(suite: str) -> None:
    text = explain_op("aten::logsumexp", [suite])
    rows = [line.split() for line in text.splitlines()]
    assert ["logsumexp", "normal,", "1024", "465", "133", "5.17", "order"] in rows
    assert "\norder: n terms in any order, gamma_(n-1)" in text
    assert "median slack" not in explain_op("aten::sqrt", [suite])


def test_the_tests_of_an_op_with_their_places(suite: str) -> None:
    assert explain_op("aten::div", [suite]).splitlines()[-3:] == [
        f"tests in {suite}: 2", f"  thirds   ({suite}:3)", f"  halves   ({suite}:8)",
    ]  # fmt: skip


def test_an_op_without_semantics_says_so(suite: str) -> None:
    assert "no semantics: cases of this overload end as unjudged\n" in explain_op("aten::geqrf", [suite])
    assert "end as unjudged\n" in explain_op("aten::histogramdd", [suite])
    assert "end as unjudged (see aten::_to_copy)\n" in explain_op("aten::to.device", [suite])


def test_an_unknown_op_is_the_users_mistake(suite: str) -> None:
    with pytest.raises(UsageError, match=r"unknown operator 'aten::sqr'; did you mean 'aten::sqrt'\?"):
        explain_op("aten::sqr", [suite])


def test_a_case(suite: str) -> None:
    assert explain_case("thirds/float32/typical/contiguous", [suite]).splitlines() == [
        "thirds/float32/typical/contiguous",
        f"aten::div.Tensor, float32, seed 0   ({suite}:3)",
        "",
        "self: float32 [2, 2]",
        "[[1.0 2.0]",
        " [-1.0 0.0]]",
        "other: float32 [2]",
        "[3.0 0.0]",
        "",
        "expected output 0: float32 [2, 2]",
        "[[0.33333334 inf]",
        " [-0.33333334 nan]]",
        "contract: ulp 2.5 (OpenCL C 3.0 section 7.4, x / y; bfloat16 takes the half column, the 16-bit figure)",
        "error allowed, in ulps: cr 0.50, cuda 0.50, opencl 2.50, tosa -, torch 351, stablehlo 3.36e+03",
    ]


def test_a_case_of_a_sum_tells_the_root_of_the_sum_of_squares_beside_the_bound(suite: str) -> None:
    lines = explain_case("mean/float32/typical/contiguous", [suite]).splitlines()
    # 5 roundings of 2.5 in ulps of 2.5, twice the unit roundoff; independent ones come to their root
    assert "opencl 3.13, " in lines[-3]
    assert lines[-2] == "root sum of squares, in ulps: 1.40 (no bound: what independent rounding errors come to)"


def test_a_case_that_breaks_a_constraint() -> None:
    strict, lenient = (
        explain_case(f"negative/aten::gather/{case}/typical/contiguous", ["negative"]).splitlines()
        for case in ("0001/float16", "0000/complex64")
    )
    assert strict[-1] == "must be refused: breaks -max(rank(self), 1) <= dim"
    assert lenient[-1].startswith("may be accepted, whatever the result: breaks dtype(self) not in {complex64, ")


def test_a_case_with_a_vacuous_bound_says_so(suite: str) -> None:
    lines = explain_case("cubes/float32/typical/contiguous", [suite]).splitlines()
    assert lines[-1] == "vacuous: 1 of 2 elements have no bound, or one beyond 1e-2 of their scale"


def test_a_case_with_freedoms(suite: str) -> None:
    assert explain_case("halves/int32/typical/contiguous", [suite]).splitlines()[-5:] == [
        "expected output 0: int32 [3]",
        "[2 -3 ?]",
        "contract: exact (integers and bools are exact: no rounding takes place)",
        "?: left open by policy P11, not judged",
        "or the backend raises (policy P11, P12)",
    ]


def test_a_case_of_another_layout_and_sample_is_found(suite: str) -> None:
    assert "strides [2], offset" in explain_case("vector/float32/typical/strided.0/3", [suite])


def test_a_test_is_no_case_and_its_cases_are_named(suite: str) -> None:
    with pytest.raises(UsageError) as error:
        explain_case("vector", [suite])
    assert str(error.value) == "'vector' is a test; explain one of its cases:\n  vector/float32/typical/contiguous"
    with pytest.raises(UsageError, match=r"exp_wide/float16/special/contiguous\n(  .*\n){3}  \.\.\. \d+ more$"):
        explain_case("exp_wide", ["core"])


def test_an_unknown_case_is_the_users_mistake(suite: str) -> None:
    with pytest.raises(UsageError, match=r"no test of .* has a case 'third/float32'; did you mean 'thirds/float32'\?"):
        explain_case("third/float32", [suite])
    with pytest.raises(UsageError, match=r"has a case 'nn_ReLU/float32/typical/contiguous'; is it one of another"):
        explain_case("nn_ReLU/float32/typical/contiguous", [suite])
    with pytest.raises(UsageError, match=r"--id 'thirds/float64/typical/contiguous' matches no case"):
        explain_case("thirds/float64/typical/contiguous", [suite])


def test_a_module_s_case() -> None:
    text = explain_case("nn_ReLU/float32/typical/contiguous", ["modules"])
    assert text.startswith("nn_ReLU/float32/typical/contiguous\ntorch.nn.ReLU, float32, seed 0   (modules/")
    assert "\n\ninput: float32 [" in text
    assert "expected output 0: float32 [" in text
