"""`conform.op`: a user's own operator, whose meaning is a program over `conform.ops`."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conform.call import schemas
from conform.errors import UsageError
from conform.interp import semantics
from conform.interp.program.program import meaning
from conform.operators import is_module

if TYPE_CHECKING:  # torch is imported by those who have a module
    from torch.nn import Module

_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")
_TYPES = {bool: "bool", int: "int", float: "float", str: "str"}
_ANNOTATIONS = {**_TYPES, **{name: name for name in _TYPES.values()}}  # strings, where annotations are postponed
_TENSOR = "Tensor"


def op(schema: str, *, reference: Callable[..., Any] | Module) -> str:
    """Let the user's own operator be judged like one of torch's; gives its name.

    `schema` is "mylib::add_rms_norm", and then the parameters of `reference` are its arguments (a tensor, or what its
    annotation or its default is), or the whole schema as torch writes it, "mylib::scale(Tensor x, float by=2.0) ->
    Tensor". `reference` is the definition, a Python function of these over `conform.ops`: it is evaluated on exact
    numbers, which are rounded once, at its end; beside them goes what an honest implementation, each step of which is
    taken in the compute type of its dtype, may lose. An op that is defined again has its new meaning.

    `reference` may be a torch module, as it is now: then the arguments are those of its forward, and each step may have
    been rounded to its dtype, or not.

    Raises UsageError for a name that is none or is torch's, and for a reference that is neither.
    """
    if not (inspect.isroutine(reference) or is_module(reference)):
        expected = "a Python function over conform.ops, or a torch module"
        raise UsageError(f"reference: found {reference!r:.200}, expected {expected}")
    written = reference.forward if is_module(reference) else reference
    line = schema if "(" in schema else _schema_line(schema, written)
    name = line.partition("(")[0].strip()
    if not _NAME.fullmatch(name):
        raise UsageError(f"operator {name!r}: expected NAMESPACE::NAME or NAMESPACE::NAME.OVERLOAD")
    if name.startswith("aten::"):
        raise UsageError(f"operator {name!r}: the namespace aten is torch's; take one of yours")
    _check_parameters(name, line, written)
    of_reference = _of_module if is_module(reference) else meaning
    evaluated = of_reference(name, reference)
    found = schemas.define(line)
    semantics.define_own(found.name, evaluated, tuple(one.name for one in found.arguments))
    return found.name


def _of_module(name: str, module: Module) -> Callable[..., Any]:
    """The meaning of the op `name`: that of a copy of the module, called with the arguments by their names."""
    from conform.frontends.modules import ModuleCall

    own = ModuleCall.of(copy.deepcopy(module), f"reference of {name}")
    return lambda **arguments: own.meaning((), arguments).of_results()


def _schema_line(name: str, reference: Callable[..., Any]) -> str:
    parameters = inspect.signature(reference).parameters.values()
    written, is_keyword = [], False
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise UsageError(f"operator {name!r}: the reference takes *{one.name}; write the whole schema")
        if one.kind is one.KEYWORD_ONLY and not is_keyword:
            written, is_keyword = [*written, "*"], True
        written.append(_argument(name, one))
    return f"{name}({', '.join(written)}) -> (Tensor, ...)"


def _argument(operator: str, parameter: inspect.Parameter) -> str:
    """`float eps=1e-06` of a parameter of a function."""
    default, has_default = parameter.default, parameter.default is not parameter.empty
    if has_default and default is None:
        return f"{_TENSOR}? {parameter.name}=None"
    type_ = _TYPES.get(type(default)) if has_default else _ANNOTATIONS.get(parameter.annotation, _TENSOR)
    if type_ is None:
        found = f"{parameter.name!r} has the default {default!r}"
        raise UsageError(f"operator {operator!r}: {found}; write the whole schema")
    return f"{type_} {parameter.name}={_written(default)}" if has_default else f"{type_} {parameter.name}"


def _written(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _check_parameters(name: str, line: str, reference: Callable[..., Any]) -> None:
    """The reference is called with the schema's arguments by their names."""
    given = schemas.parsed(line)
    try:
        inspect.signature(reference).bind(**{one.name: None for one in given.arguments})
    except TypeError as error:
        raise UsageError(f"operator {name!r}: its reference does not take the schema's arguments: {error}") from None
