"""What a case sends to a backend: its arguments in their layout, and the call with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conform.backends.call import Call
from conform.backends.exports import exported
from conform.call.arguments import Arguments
from conform.documents.limits import Limits
from conform.errors import ConformError, Unjudged
from conform.interp.semantics import is_view, updated_in
from conform.suites.cases import CONSTANTS, Case, too_large

if TYPE_CHECKING:  # torch is imported for modules alone
    from conform.frontends.called import Called


def typical_of(case: Case, limits: Limits) -> Arguments:
    """The typical inputs of a case's draw; Unjudged where the results would be too large."""
    arguments = case.draw.arguments()
    if problem := too_large(case.draw.test, case.op, arguments, limits):
        raise Unjudged(problem)
    return arguments


def module_of(case: Case) -> Called | None:
    """The module of a case's draw, with its parameters, or its program; None of an operator. NoGolden where it cannot
    be made."""
    if not case.draw.test.is_module:
        return None
    from conform.frontends.called import called

    return called(case.draw)


def prepared(
    case: Case, typical: Arguments | Exception, exports: bool, module: Called | None
) -> tuple[Arguments, Call]:
    """The arguments of a case, and its call as it is sent."""
    if isinstance(typical, Exception):
        raise typical
    arguments = case.arguments(typical)
    sent = exported(arguments) if exports else arguments
    if module is not None and case.layout == CONSTANTS:
        return arguments, module.sent_as_constants(sent.args, sent.kwargs)
    if module is not None:
        return arguments, module.sent(sent.args, sent.kwargs, sent.requires_grad)
    return arguments, call_of(case.op, sent)


def call_of(op: str, sent: Arguments) -> Call:
    """The call of an operator."""
    return Call(op, sent.args, sent.kwargs, sent.requires_grad, is_view=is_view(op), updates=updates_of(op, sent))


def updates_of(op: str, sent: Arguments) -> tuple[int, ...]:
    """The numbers of the tensors that the call is to change."""
    return tuple(number for number, _ in updated_in(op, sent.args, sent.kwargs))


def is_plain(case: Case) -> bool:
    """Whether it is one call, with arguments."""
    return case.times == 1 and case.layout != CONSTANTS


def attempt(function: Callable[[], Any]) -> Any:
    """What it returns, or what it raises, but for what is the user's mistake or his backend's, which ends the run."""
    try:
        return function()
    except Exception as error:
        if isinstance(error, ConformError) and not isinstance(error, Unjudged):
            raise
        return error
