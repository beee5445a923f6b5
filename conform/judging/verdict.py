"""What a judge says about one case: the only thing the report is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conform.judging.evidence import Asked, Marks

Number = bool | int | float | complex

JUDGED = ("pass", "fail", "error", "crash", "timeout")
NOT_JUDGED = ("unsupported", "fallback", "unspecified", "unjudged", "waived")
STATUSES = JUDGED + NOT_JUDGED
FAILURES = ("fail", "error", "crash", "timeout")  # judged, and not passed

ACCURACY, SPECIAL, LAYOUT, RESULT = "accuracy", "special", "layout", "result"
REFUSAL, MUTATION, ALIASING, DETERMINISM = "refusal", "mutation", "aliasing", "determinism"
# In the order in which they are told.
CHECKS = (ACCURACY, SPECIAL, LAYOUT, RESULT, REFUSAL, MUTATION, ALIASING, DETERMINISM)
GRADIENTS = "gradients"  # the end of the id of a case that asks for gradients
EQUIVALENCE = "equivalence"  # of several backends, and no case's: whether their answers are as right as each other's

FLUSHED = "as if subnormals were flushed to zero"  # of `Verdict.causes`
NOT_CLAIMED = "not claimed"  # the rule of a case that a manifest does not claim, so that it is not asked
BY_ITSELF = " by itself"  # the end of the reason of a module of which one operator is wrong, on exact operands
KIT_DEFECT = "defect of the kit"  # the rule of a case that is unjudged because the kit itself failed


@dataclass(frozen=True, slots=True)
class Operand:
    """What one argument contributes to the worst element.

    name    the argument in the op's schema: `self`, `tensors[1]`
    dtype   torch's name; None for an argument that is no number (a string, a list of ints, None)
    shape   of a tensor; None for anything else
    values  the elements that reach the worst one, in row-major order: one for an elementwise op, a row for a sum;
            cut to a handful by the judge. For an argument that is no tensor: its one value.
    count   how many elements reach it, if `values` was cut
    """

    name: str
    dtype: str | None
    shape: tuple[int, ...] | None
    values: tuple[object, ...]
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Worst:
    """The element with the largest error relative to its bound (the first such in row-major order).

    output       number of the output it is in; index: its place there; dtype: of that output
    inputs       what reaches it
    expected     the correctly rounded golden; actual: what the backend returned; both exactly elements of dtype
    error_ulp, bound_ulp   in ulps of the exact result; None where no ulp is defined, the bound also where all must be
                           equal (kind exact)
    holder       the argument, or buffer, that holds the output after the call; None of one that is returned
    """

    output: int
    index: tuple[int, ...]
    dtype: str
    inputs: tuple[Operand, ...]
    expected: Number
    actual: Number
    error_ulp: float | None = None
    bound_ulp: float | None = None
    holder: str | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """The row of a contract table that decided: kind, bound (a number of ulps, or a formula as text) and its source."""

    kind: str
    bound: float | str | None
    source: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of one case.

    id, test     case id, and the id of its test
    op           resolved overload, `aten::add.Tensor`
    dtype        of the first tensor argument, else the dtype argument, else the output
    values       value class, `typical`, `special`, `special.1`
    layout       `contiguous`, `strided.0`
    status       one of STATUSES
    reason       one line, without the case's own numbers where possible (failures are grouped by it); None for a pass
    compared     elements that were compared with an expectation
    checks       structure checks that were made: number of outputs, shapes, dtypes
    failed       elements outside their bound
    open         elements that the op's meaning leaves unspecified
    vacuous      elements that no bound holds, or one too wide to say anything (beyond 1e-2 of their scale)
    admitted     what a pass needed of the arithmetic that the backend declares, in words; None if nothing
    max_error_ulp, bound_ulp   the error furthest into its bound and that bound, in ulps of the exact result;
                 None where no ulp is defined, the bound also where all must be equal (kind exact)
    contract     the deciding row; None if the case never came to a judge
    worst        the worst element of a failed or passed comparison, if there is one
    largest      the shape of the largest tensor that went in or came out, where elements were compared
    rule         the policy rule (`P13`) behind an `unspecified` or `unjudged` status
    check        one of CHECKS (`checks.py`): the one that it failed, else the last that it was to be held to: what the
                 case asks. Of a call that must be refused always `refusal`: a pass says that it was, and no more
    is_counted   whether its check is one of those that the run counts; else it is shown, beside the others
    log          the last that the worker printed before it crashed or was killed
    location     `file.yaml:12` of the test
    tables       of each shipped contract table: would the result `pass` or `fail`? None where it bounds nothing of it
    tightest     of the tables that it would pass, the one with the smallest bound at its worst element
    errors       of the compared elements in ulps, counted by bins of powers of two (`judging/histogram.py`)
    seconds      how long it took, from the verdict before to it
    was_known    the answer is byte for byte one that was judged before, in another run
    asked, marks what the case asked, and what wrong and right elements have in common: by these failing cases are told
                 from passing ones; in the journal, not in the record. None of what was not judged, or not compared
    causes       by the words of a cause ("as if ...") how many of the `wrong` elements it explains
    gradient     of a case that asks for gradients whose they are: that of the worst element, or all; else None
    pair         of one side of a compare pair: `group`, which both sides have, `side` (a or b) and its `impl`
    """

    id: str
    test: str
    op: str
    dtype: str
    values: str
    layout: str
    status: str
    reason: str | None = None
    compared: int = 0
    checks: int = 0
    failed: int = 0
    open: int = 0
    vacuous: int = 0
    admitted: str | None = None
    max_error_ulp: float | None = None
    bound_ulp: float | None = None
    contract: Contract | None = None
    worst: Worst | None = None
    largest: tuple[int, ...] | None = None
    rule: str | None = None
    check: str = ACCURACY
    is_counted: bool = True
    log: str = ""
    location: str | None = None
    tables: Mapping[str, str | None] = field(default_factory=dict)
    tightest: str | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)
    was_known: bool = field(default=False, compare=False)
    asked: Asked | None = None
    marks: Marks | None = None
    causes: Mapping[str, int] = field(default_factory=dict)
    gradient: str | None = None
    pair: Mapping[str, str | None] | None = None

    @property
    def wrong(self) -> int:
        """The elements that make it a failure: those outside their bound, or, where the errors are wrong only together,
        all that were compared."""
        return self.failed or (self.compared if self.status == "fail" else 0)

    def __post_init__(self) -> None:
        """Raise ValueError for what no honest judge says."""
        if self.status not in STATUSES:
            raise ValueError(f"{self.id}: status {self.status!r} is none of {', '.join(STATUSES)}")
        if self.check not in CHECKS:
            raise ValueError(f"{self.id}: check {self.check!r} is none of {', '.join(CHECKS)}")
        if self.status == "pass" and (self.compared + self.checks == 0 or self.failed):
            counts = f"{self.compared} elements compared, {self.checks} checks, {self.failed} failed"
            raise ValueError(f"{self.id}: pass with {counts}")
        if self.status != "pass" and not self.reason:
            raise ValueError(f"{self.id}: status {self.status!r} without a reason")
