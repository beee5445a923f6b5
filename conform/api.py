"""The Python front door: `conform.golden`, the true result of one call; `conform.assert_close` judges another's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from conform.call.bound import Bound, bound_call
from conform.contracts.components import components
from conform.errors import InvalidArguments, Unjudged, UsageError
from conform.interp.blocks.blocks import fits, flat, spans
from conform.interp.evaluate import evaluate_call, is_array
from conform.interp.golden import Golden as OutputGolden
from conform.interp.golden import Outcome
from conform.numerics.formats import format_of
from conform.numerics.real import Real
from conform.numerics.ulp import error_ulp
from conform.operators import called, in_terms_of_the_kit, program_call

if TYPE_CHECKING:  # and where they are used: a golden alone needs no contract, no judge and no report
    from conform.contracts.tables import Row, Table
    from conform.judging.verdict import Verdict

DEFAULT_CONTRACT = "opencl"


def golden(op: str | Callable, *args: Any, **kwargs: Any) -> Golden:
    """The true result of `op` on arrays or torch tensors and Python values.

    `op` is "aten::exp" (an overload is chosen by the arguments), "aten::add.Tensor", "aten::exp.default", "exp",
    "torch.exp", or torch's own: torch.exp, torch.Tensor.exp, torch.ops.aten.exp, torch.ops.aten.exp.default. ml_dtypes
    arrays stand for bfloat16 and the small floats, numpy scalars for 0-d tensors; dtype arguments are names or torch's
    objects; device, layout and pin_memory are ignored. Torch is not imported unless something of torch's is given.

    `op` may be a torch module: its result is that of the operators which torch.export makes of it, evaluated on real
    numbers and rounded once; it is taken as it is, so call its eval() first. So is a function of torch that no operator
    stands for (torch.nn.functional.normalize). Tensors may stand in lists, tuples and
    dicts, and the outputs are in the order of these, of dicts by key.

    Raises Unjudged where the kit has no semantics, InvalidArguments where the op rejects the arguments, UsageError for
    an unknown op or argument, and for a tensor without elements (on the meta device, sparse, quantized).
    """
    call = _bound(op, args, kwargs)
    outcome = evaluate_call(call)
    return Golden(call, outcome.of_results(), left=outcome.left)


def _bound(op: str | Callable, args: Any, kwargs: Any) -> Bound:
    program = program_call(op, args, kwargs)
    return bound_call(*called(op, args, kwargs), is_array) if program is None else program


def assert_close(
    op: str | Callable, actual: Any, *args: Any, contract: str = DEFAULT_CONTRACT, **kwargs: Any
) -> None:
    """Judge `actual`, the result of `op` on the arguments, as `conform check` would; for an existing pytest.

    `actual` is an array or a torch tensor on any device, a tuple or list of them where the op has several outputs;
    `contract` names a table of bounds, or a YAML file. What `golden` says of `op` and the arguments holds here.

    Raises AssertionError with the failure block where the result is wrong, or the op refuses the arguments; Unjudged
    where nothing could be compared: the kit has no semantics or bound, or the op leaves every element open.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    from conform.one_call import judged, reply_of

    call = _bound(op, args, kwargs)
    reply = reply_of(call, actual)  # before there is an expected value that an object which computes when read may find
    try:
        outcome: Outcome | InvalidArguments = evaluate_call(call).of_results()
    except InvalidArguments as refusal:
        outcome = refusal
    verdict = judged(call, outcome, reply, _table(contract))
    if verdict.status == "fail":
        from conform.showing import failure_text

        raise AssertionError(failure_text(verdict))
    if verdict.status != "pass":
        raise Unjudged(f"{verdict.op}: nothing was compared: {verdict.reason}"
                       + (f" ({verdict.rule})" if verdict.rule else ""))  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class Golden:
    """The true result of one call, and what a result of it is held to by the table of bounds `contract`.

    It shows itself: op, outputs, bound and source, a few numbers of each. `outcome` has what a judge uses; `left` what
    arguments that the call updates hold after it, or a module's buffers, by name.
    """

    call: Bound
    outcome: Outcome
    contract: str = DEFAULT_CONTRACT
    left: Mapping[str, OutputGolden] = field(default_factory=dict)

    @property
    def updated(self) -> dict[str, np.ndarray]:
        """What batch norm leaves in its running statistics, say, by the argument's name, or the buffer's of a module in
        training; empty of calls that change nothing."""
        return {name: golden.value for name, golden in self.left.items()}

    def under(self, contract: str) -> Golden:
        """The same result, judged by another table: cr, cuda, opencl, tosa, torch, stablehlo, or a YAML file."""
        _table(contract)
        return replace(self, contract=contract)

    @property
    def value(self) -> np.ndarray | tuple[np.ndarray | None, ...]:
        """The correctly rounded result, in the storage dtype of its format; a tuple where the op has several
        outputs, of which those that nobody wants are None."""
        return _one_or_all(tuple(None if output.is_none else output.value for output in self.outcome.goldens))

    @cached_property
    def bound_ulp(self) -> np.ndarray | tuple[np.ndarray, ...]:
        """How far off each element may be, in ulps of the exact result, by the contract; complex numbers have a last
        axis of two parts.

        0 where a result must be equal (integers, moved data, NaN and infinities), inf where nothing is judged, nan
        beside a float64 zero, where a bound is no number of ulps.
        """
        from conform.contracts.judge import bounds_ulp

        pairs = zip(self.outcome.goldens, self.rows, strict=True)
        return _one_or_all(tuple(bounds_ulp(output, row, self.call.arguments) for output, row in pairs))

    @property
    def rows(self) -> tuple[Row, ...]:
        """The row of the contract that holds for each output: kind, bound and source."""
        table = _table(self.contract)
        return tuple(table.row_of(self.call.op, each) for each in self.outcome.goldens)

    def error_ulp(self, actual: Any) -> np.ndarray | tuple[np.ndarray, ...]:
        """|actual - real| / ulp(real) element by element, against the unrounded result; inf where the class is wrong.

        `actual` has the shape and dtype of `value` (a tuple of arrays for several outputs), else UsageError; torch
        tensors are taken as well. Integers and bools: 0 where equal, inf where not. Complex numbers have a last axis
        of two parts.
        """
        outputs = self.outcome.goldens
        actual = in_terms_of_the_kit(actual, "actual")
        if len(outputs) == 1:
            return error_of(outputs[0], np.asarray(actual))
        if not isinstance(actual, list | tuple) or len(actual) != len(outputs):
            found = len(actual) if isinstance(actual, list | tuple) else 1
            raise UsageError(f"expected {len(outputs)} arrays, one an output, got {found}")
        return tuple(_error_of(output, one) for output, one in zip(outputs, actual, strict=True))

    def verdict(self, actual: Any) -> Verdict:
        """How `conform check` would judge `actual` as the result of this call: status, reason, worst element.

        `actual` is an array or a torch tensor, or a tuple or list of them; a wrong number of outputs, shape or dtype is
        a verdict, `fail`.
        """
        from conform.one_call import judged, reply_of

        return judged(self.call, self.outcome, reply_of(self.call, actual), _table(self.contract))

    def __repr__(self) -> str:
        from conform.showing import text

        return text(self)

    def _repr_html_(self) -> str:
        from conform.showing import html

        return html(self)


def _table(contract: str) -> Table:
    from conform.contracts.tables import contract_table

    return contract_table(contract)


def _error_of(output: OutputGolden, actual: Any) -> np.ndarray:
    return error_of(output, output.value if output.is_none else np.asarray(actual))


def _one_or_all(outputs: tuple[np.ndarray | None, ...]) -> np.ndarray | tuple[np.ndarray | None, ...]:
    return outputs[0] if len(outputs) == 1 else outputs


# --- Errors -----------------------------------------------------------------------------------------------------------


@np.errstate(invalid="ignore")  # a signalling NaN is a number like others here
def error_of(output: OutputGolden, actual: np.ndarray) -> np.ndarray:
    """`Golden.error_ulp` of one output; nothing that is computed on the way grows with it."""
    if actual.shape != output.value.shape or format_of(actual) != output.format:
        expected = f"{output.format.name} of shape {list(output.value.shape)}"
        raise UsageError(f"expected {expected}, got {format_of(actual).name} of shape {list(actual.shape)}")
    output = replace(output, alternatives=())  # nothing is measured by them
    if fits(actual.size):
        return _of_block(output, actual)
    parts = [2] if output.format.is_complex else []
    errors_ulp = np.empty((actual.size, *parts))
    for place in spans(actual.size):
        errors_ulp[place] = _of_block(output.block(place), flat(actual, place))
    return errors_ulp.reshape(*actual.shape, *parts)


def _of_block(output: OutputGolden, actual: np.ndarray) -> np.ndarray:
    fmt, value = output.format, output.value
    if not (fmt.is_float or fmt.is_complex):
        return np.where(actual == value, 0.0, np.inf)
    if fmt.is_complex:
        actual, value, fmt = components(fmt, actual), components(fmt, value), fmt.component
    real = Real.exact(value.astype(np.float64)) if output.real is None else output.real
    return error_ulp(fmt, actual, real)
