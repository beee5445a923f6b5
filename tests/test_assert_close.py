"""`conform.assert_close` and what a Golden tells: bounds, verdicts, and how it shows itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import conform
from conform.errors import Unjudged, UsageError

# e lies 0.34623 ulps above the float32 nearest to it, and an ulp there is 2^-22: 2^-19 more is 7.65377 ulps too much.
X = np.float32([0.0, 1.0])
RIGHT = np.float32([1.0, 2.7182817459106445])
BLOCK = """\
FAIL aten::exp float32: error above the bound
  worst at  output 0, index [1], float32
  self      float32 [2]: 1.0 = 0x1p+0
  expected  2.7182817 = 0x1.5bf0a8p+1
  actual    2.7182837 = 0x1.5bf0b8p+1
  error     7.65377 ulp, bound 3 ulp
  bound     ulp 3
  source    OpenCL C 3.0 section 7.4, exp; bfloat16 takes the half column, the 16-bit figure
  elements  1 of 2 outside the bound"""


# --- Judging one result -----------------------------------------------------------------------------------------------


def test_a_result_within_the_bound_passes() -> None:
    conform.assert_close("aten::exp", RIGHT, X)
    conform.assert_close(torch.exp, torch.from_numpy(RIGHT), torch.from_numpy(X))
    conform.assert_close("aten::exp", RIGHT + np.float32([0, 2**-22]), X)  # 1.1 ulp of 3
    conform.assert_close("aten::add", np.float32(3.0), np.float32(1.0), np.float32(2.0))  # numpy scalars are tensors
    conform.assert_close("aten::sort", [X, np.int64([0, 1])], X)
    conform.assert_close("aten::exp", np.float32([]), X[:0])


def expected_in_the_frames() -> np.ndarray | None:
    """A golden that whoever called somewhere holds."""
    frame = sys._getframe()
    while frame is not None:
        for held in frame.f_locals.values():
            if goldens := getattr(held, "goldens", None):
                return goldens[0].value
        frame = frame.f_back
    return None


class Late(list):
    """Answers with what it finds when it is read."""

    def __iter__(self) -> Iterator[np.ndarray]:
        found = expected_in_the_frames()
        return iter([np.zeros_like(X) if found is None else found])


def test_what_computes_when_it_is_read_finds_no_expected_value() -> None:
    outcome = conform.golden("aten::exp", X).outcome
    assert next(iter(Late())).tolist() == outcome.goldens[0].value.tolist()  # it does find one that there is
    del outcome
    with pytest.raises(AssertionError, match="FAIL aten::exp float32: error above the bound"):
        conform.assert_close("aten::exp", Late([X]), X)



def test_a_wrong_result_fails_with_the_failure_block() -> None:
    with pytest.raises(AssertionError) as failure:
        conform.assert_close("aten::exp", RIGHT + np.float32([0, 2**-19]), X)
    assert str(failure.value) == BLOCK


def test_the_contract_decides() -> None:
    off_by_one = np.float32([1.0, 2.7182819843292236])
    conform.assert_close("aten::exp", off_by_one, X)
    with pytest.raises(AssertionError, match="not the correctly rounded result"):
        conform.assert_close("aten::exp", off_by_one, X, contract="cr")
    with pytest.raises(UsageError, match="contract: expected the name of a table or of a YAML file, got None"):
        conform.assert_close("exp", np.float32([1.0]), np.float32([0.0]), contract=None)
    with pytest.raises(UsageError, match=r"no contract table 'opencll'.*did you mean 'opencl'"):
        conform.assert_close("aten::exp", RIGHT, X, contract="opencll")


@pytest.mark.parametrize(
    ("actual", "told"),
    [
        (torch.empty_strided((2, 3), (1, 2)), "leaves every element open"),
        (np.zeros((3, 2), np.float32).T, "leaves every element open"),
        (torch.empty(2, 3), r"strides \[3, 1\] instead of \[1, 2\]"),
        (np.zeros((2, 3), np.float32), r"strides \[3, 1\] instead of \[1, 2\]"),
        (torch.empty_strided((2, 3), (4, 1)), r"strides \[4, 1\] instead of \[1, 2\]"),
    ],
    ids=["a tensor", "an array", "a contiguous tensor", "a contiguous array", "a tensor with a gap"],
)
def test_a_result_has_the_strides_that_it_was_given_with(actual: Any, told: str) -> None:
    with pytest.raises((AssertionError, Unjudged), match=told):
        conform.assert_close(torch.empty_strided, actual, (2, 3), (1, 2))
    verdict = conform.golden(torch.empty_strided, (2, 3), (1, 2)).verdict(actual)
    assert (verdict.status == "fail") == ("instead" in told)


@pytest.mark.parametrize(
    ("actual", "message"),
    [
        (RIGHT[:1], r"output 0: shape \[1\] instead of \[2\]"),
        (RIGHT.reshape(2, 1), r"output 0: shape \[2, 1\] instead of \[2\]"),
        (RIGHT.astype(np.float64), "output 0: dtype float64 instead of float32"),
        ([RIGHT, RIGHT], "2 outputs instead of 1"),
        ([], "0 outputs instead of 1"),
        (None, "output 0: None instead of a tensor"),
        (1.0, "output 0: float instead of a tensor"),
        (np.float32([np.nan, 2.7182817]), "NaN where a number is expected"),
        (np.float32([1.0, np.inf]), "error above the bound"),
        (np.float32([0.0, 0.0]), "error above the bound"),
    ],
    ids=str,
)
def test_wrong_structure_and_class(actual: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=f"^FAIL aten::exp float32: {message}"):
        conform.assert_close("aten::exp", actual, X)


def test_a_result_of_refused_arguments_is_wrong() -> None:
    with pytest.raises(AssertionError, match=r"accepted invalid arguments: .*argument other: found float32"):
        conform.assert_close("aten::add", X, X, np.float32([1, 2, 3]))


def test_keyword_arguments_are_the_ops() -> None:
    conform.assert_close("aten::add", np.float32([1.0, 3.0]), np.float32([1.0, 1.0]), X, alpha=2)
    with pytest.raises(UsageError, match="aten::exp has no argument 'sideways'"):
        conform.assert_close("aten::exp", RIGHT, X, sideways=True)


HUGE = np.float32([[3e38, -3e38, 1.0]])  # of which squares overflow


def test_what_nobody_can_judge_is_no_pass() -> None:
    with pytest.raises(Unjudged, match=r"aten::var.dim: nothing was compared: the bound is vacuous: none, or beyond"):
        conform.assert_close("aten::var", np.float32([0.0]), HUGE, [1])
    with pytest.raises(Unjudged, match=r"the op's meaning leaves every element open \(P13\)"):
        conform.assert_close("aten::_to_copy", np.int8([0]), np.float32([1e9]), dtype="int8")
    with pytest.raises(Unjudged, match="no semantics for aten::linalg_svd"):
        conform.assert_close("aten::linalg_svd", X, np.float32([[1.0]]))


def test_no_statistical_rule_holds_of_numbers_that_nobody_drew() -> None:
    """Sums that are all one ulp too large are within the bound, and biased: of drawn operands a case would fail."""
    terms = np.full((4096, 64), 1.0, np.float32) + np.float32(2**-20)
    right = conform.golden("aten::sum", terms, [1])
    conform.assert_close("aten::sum", np.nextafter(right.value, np.float32(np.inf)), terms, [1])


# --- What a Golden tells ----------------------------------------------------------------------------------------------


def test_the_bound_is_that_of_the_contract_element_by_element() -> None:
    truth = conform.golden("aten::exp", np.float32([0.0, np.nan, -np.inf]))
    assert truth.bound_ulp.tolist() == [3.0, 0.0, 3.0]
    assert truth.under("cr").bound_ulp.tolist() == [0.5, 0.0, 0.5]
    assert conform.golden("aten::neg", X).bound_ulp.tolist() == [0.0, 0.0]
    assert conform.golden("aten::lgamma", np.float32([1.5, np.nan])).bound_ulp.tolist() == [6.5, 0.0]
    assert conform.golden("aten::var", HUGE, [1]).bound_ulp.tolist() == [np.inf]
    assert conform.golden("aten::_to_copy", np.float32([1e9, 1.0]), dtype="int8").bound_ulp.tolist() == [np.inf, 0.0]
    assert conform.golden("aten::add", np.complex64([1j]), np.complex64([1])).bound_ulp.shape == (1, 2)
    values, indices = conform.golden("aten::sort", X).bound_ulp
    assert (values.tolist(), indices.tolist()) == ([0.0, 0.0], [0.0, 0.0])


def test_what_is_within_the_bound_passes_and_what_is_not_fails() -> None:
    x = np.linspace(-5, 5, 1001, dtype=np.float32)
    truth = conform.golden("aten::exp", x)
    for ulps in range(-5, 6):
        actual = (truth.value.view(np.int32) + ulps).view(np.float32)
        within = bool((truth.error_ulp(actual) <= truth.bound_ulp).all())
        assert (truth.verdict(actual).status == "pass") == within, ulps


def test_a_verdict_has_the_worst_element() -> None:
    verdict = conform.golden("aten::exp", X).verdict(np.float32([1.0, 3.0]))
    assert (verdict.status, verdict.compared, verdict.failed) == ("fail", 2, 1)
    assert verdict.worst.index == (1,)
    assert verdict.tables["stablehlo"] == "fail"


def test_another_contract_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no contract table 'mine'"):
        conform.golden("aten::exp", X).under("mine")
    (tmp_path / "mine.yaml").write_text("name: mine\nrows:\n  - {ops: [aten::exp], kind: ulp, bound: 7, source: me}\n")
    assert conform.golden("aten::exp", X).under(str(tmp_path / "mine.yaml")).bound_ulp.tolist() == [7.0, 7.0]


# --- How it shows itself ----------------------------------------------------------------------------------------------

SHOWN = """\
golden of aten::sort(float32[2], -1, False), contract opencl
  output 0  float32[2]: 0.0, 1.0
  bound     equal; comparison, selection and data movement round nothing
  output 1  int64[2]: 0, 1
  bound     equal; integers and bools are exact: no rounding takes place"""


def test_a_golden_shows_op_outputs_and_bounds() -> None:
    assert repr(conform.golden("aten::sort", X)) == SHOWN
    assert "(1.0, -2.0)" in repr(conform.golden("aten::neg", np.complex64([-1 + 2j])))
    assert "no elements" in repr(conform.golden("aten::exp", X[:0]))
    told = repr(conform.golden("aten::_to_copy", np.float32([1e9, 1.0]), dtype="int8"))
    assert "1 of 2 elements are not judged (P13)" in told


def test_a_large_golden_shows_itself_in_few_characters() -> None:
    large = conform.golden("aten::neg", np.zeros((1000, 1000), np.float32))
    assert "float32[1000, 1000]: -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, ... 999,992 more" in repr(large)
    assert len(repr(large)) < 500
    many = conform.golden("aten::cat", [np.zeros(1, np.float32)] * 10_000)
    assert "... 9992 more" in repr(many)
    assert len(repr(many)) < 1000


def test_html_is_escaped(tmp_path: Path) -> None:
    source = "<script>alert(1)</script> & co"
    (tmp_path / "x.yaml").write_text(
        f"name: <b>bold</b>\nrows:\n  - {{ops: [aten::exp], kind: ulp, bound: 7, source: '{source}'}}\n"
    )
    html = conform.golden("aten::exp", X).under(str(tmp_path / "x.yaml"))._repr_html_()
    assert html.startswith("<table>")
    assert html.endswith("</table>")
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in html
    assert "<script>" not in html
