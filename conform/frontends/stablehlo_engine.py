"""The program that an engine gets: one function, called main, whose results are what it returns and what it checks.

An engine knows no check dialect. So the checks of the function go, and the values that they look at come out, behind
what it returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conform.errors import UsageError
from conform.frontends.stablehlo import Source, parse, parsed, place
from conform.interp.stablehlo.dense import text as dense_text
from conform.interp.stablehlo.values import Tensor

MAIN = "main"
CALLED = "called"  # what a program's main is called where another main calls it
CUSTOM_CALL = "stablehlo.custom_call"


def for_engines(text: str, file: str, name: str, check: int | None = None) -> tuple[str, Source]:
    """The text of a program with the function `name` as its main, and that program read; of the values that it returns
    and checks, if `check` is given, that of this check alone.

    UsageError, with the place, for a check in a function or region within, of a value that nothing returns.
    """
    module = parsed(text, file)
    functions = {name_of(one): one for one in functions_of(module)}
    _without_checks(functions[name], file, check)
    _alone(module, functions, name)
    return str(module), parse(module.operation.get_asm(enable_debug_info=True), file)  # where each op was, it is told


def functions_of(module: Any) -> list[Any]:
    return [one.operation for one in module.body.operations if one.operation.name == "func.func"]


def name_of(function: Any) -> str:
    return str(function.attributes["sym_name"])[1:-1]


def _without_checks(function: Any, file: str, check: int | None) -> None:
    """Its checks replaced by results, all others too if it is one of them that is asked for."""
    from jaxlib.mlir import ir

    (block,) = function.regions[0].blocks
    *ops, returned = [one.operation for one in block.operations]
    checked = []
    for op in ops:
        if _is_check(op):
            checked.append(op.operands[0])
            op.erase()
        else:
            _refuse_checks_within(op, file)
    if not checked:
        return
    results = [*returned.operands, *checked] if check is None else [checked[check]]
    with function.context, returned.location:
        ir.Operation.create("func.return", operands=results, ip=ir.InsertionPoint(returned))
        returned.erase()
        taken = [one.type for one in block.arguments]
        kind = ir.FunctionType.get(taken, [one.type for one in results])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        if "res_attrs" in function.attributes:
            del function.attributes["res_attrs"]


def _is_check(op: Any) -> bool:
    if op.name == CUSTOM_CALL:
        return str(op.attributes["call_target_name"])[1:-1].startswith("check.")
    return op.name.startswith("check.")


def _refuse_checks_within(op: Any, file: str) -> None:
    for region in op.regions:
        for block in region.blocks:
            for one in block.operations:
                if _is_check(one.operation):
                    where = place(str(one.operation.location), file)
                    raise UsageError(f"{where}: a check within {op.name}: no engine gives the value that it looks at; "
                                     "conform interpret makes it")  # fmt: skip
                _refuse_checks_within(one.operation, file)


def _alone(module: Any, functions: dict[str, Any], name: str) -> None:
    """Only the function and what it calls, and it the only one that can be seen."""
    from jaxlib.mlir import ir

    needed = _called(functions, name)
    for one, function in functions.items():
        if one not in needed:
            function.erase()
    with module.context:
        if name != MAIN and MAIN in needed:
            _rename(module, functions[MAIN], MAIN, _free(functions))
        if name != MAIN:
            _rename(module, functions[name], name, MAIN)
        for one in needed:
            visibility = "public" if one == name else "private"
            functions[one].attributes["sym_visibility"] = ir.StringAttr.get(visibility)


def _rename(module: Any, function: Any, old: str, new: str) -> None:
    from jaxlib.mlir import ir

    ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
    function.attributes["sym_name"] = ir.StringAttr.get(new)


def _free(functions: dict[str, Any]) -> str:
    return next(name for at in range(len(functions) + 1) if (name := f"{MAIN}_{at}") not in functions)


def _called(functions: dict[str, Any], name: str) -> list[str]:
    """The function and all that it needs, each once."""
    found, open_ = [], [name]
    while open_:
        one = open_.pop()
        if one in found or one not in functions:
            continue
        found.append(one)
        text = str(functions[one])
        open_ += [other for other in functions if f"@{other}" in text and other != one]
    return found


# --- A program that another main calls --------------------------------------------------------------------------------


def as_called(text: str, file: str) -> str:
    """The functions of a program without its module, main as CALLED."""
    from jaxlib.mlir import ir

    module = parsed(text, file)
    with module.context:
        for function in functions_of(module):
            if name_of(function) == MAIN:
                _rename(module, function, MAIN, CALLED)
                function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return "\n".join(str(one) for one in module.body.operations) + "\n"


def with_constants(text: str, file: str, arrays: Sequence[np.ndarray]) -> str:
    """The program with these arguments as constants of its main, which takes nothing: a compiler may compute with
    them."""
    from jaxlib.mlir import ir

    module = parsed(text, file)
    (function,) = [one for one in functions_of(module) if name_of(one) == MAIN]
    (block,) = function.regions[0].blocks
    first = next(iter(block.operations))
    with function.context, first.location:
        for array, argument in zip(arrays, list(block.arguments), strict=True):
            # As text: the bindings have no class for constants of complex numbers.
            constant = f'"stablehlo.constant"() {{value = {dense_text(Tensor(array))}}} : () -> {argument.type}'
            made = ir.Operation.parse(constant)
            ir.InsertionPoint(first).insert(made)
            argument.replace_all_uses_with(made.results[0])
        for at in reversed(range(len(arrays))):
            block.erase_argument(at)
        results = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], results))
        if "arg_attrs" in function.attributes:
            del function.attributes["arg_attrs"]
    return str(module)
