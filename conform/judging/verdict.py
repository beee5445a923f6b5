"""What a judge says about one case: the only thing the report is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Number = bool | int | float | complex

JUDGED = ("pass", "fail", "error", "crash", "timeout")
NOT_JUDGED = ("unsupported", "fallback", "unspecified", "unjudged", "waived")
STATUSES = JUDGED + NOT_JUDGED
FAILURES = ("fail", "error", "crash", "timeout")  # judged, and not passed

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
    """

    output: int
    index: tuple[int, ...]
    dtype: str
    inputs: tuple[Operand, ...]
    expected: Number
    actual: Number
    error_ulp: float | None = None
    bound_ulp: float | None = None


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
    max_error_ulp, bound_ulp   the error furthest into its bound and that bound, in ulps of the exact result;
                 None where no ulp is defined, the bound also where all must be equal (kind exact)
    contract     the deciding row; None if the case never came to a judge
    worst        the worst element of a failed or passed comparison, if there is one
    largest      the shape of the largest tensor that went in or came out, where elements were compared
    rule         the policy rule (`P13`) behind an `unspecified` or `unjudged` status
    is_invalid   the call is one that the backend must refuse: a pass says that it did, and no more
    log          the last that the worker printed before it crashed or was killed
    location     `file.yaml:12` of the test
    tables       of each shipped contract table: would the result `pass` or `fail`? None where it bounds nothing of it
    tightest     of the tables that it would pass, the one with the smallest bound at its worst element
    errors       of the compared elements in ulps, counted by bins of powers of two (`judging/histogram.py`)
    seconds      how long it took, from the verdict before to it
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
    max_error_ulp: float | None = None
    bound_ulp: float | None = None
    contract: Contract | None = None
    worst: Worst | None = None
    largest: tuple[int, ...] | None = None
    rule: str | None = None
    is_invalid: bool = False
    log: str = ""
    location: str | None = None
    tables: Mapping[str, str | None] = field(default_factory=dict)
    tightest: str | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError for what no honest judge says."""
        if self.status not in STATUSES:
            raise ValueError(f"{self.id}: status {self.status!r} is none of {', '.join(STATUSES)}")
        if self.status == "pass" and (self.compared + self.checks == 0 or self.failed):
            counts = f"{self.compared} elements compared, {self.checks} checks, {self.failed} failed"
            raise ValueError(f"{self.id}: pass with {counts}")
        if self.status != "pass" and not self.reason:
            raise ValueError(f"{self.id}: status {self.status!r} without a reason")
