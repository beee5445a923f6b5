"""Constraints as mathematics: the text of a constraint's function, from its source."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from collections.abc import Callable
from types import CodeType
from typing import Any

_RELATIONS = {"Eq": "=", "Ne": "!=", "In": "in", "NotIn": "not in", "Lt": "<", "Le": "<=", "Be": "preferably in"}
_FLIPPED = {"Gt": "<", "Ge": "<="}  # printed with the bound on the left, as one writes an interval
_CONDITIONS = (" for ", " where ", " if ", " unless ")
_OF = ("rank", "dtype", "shape", "size", "numel")  # attributes printed as functions: rank(self)


def statement(left: str, suffix: str, right: Any) -> str:
    """`left suffix right` as one would write it: "0 <= dim", "dtype(self) in {float16, float32}"."""
    if suffix in _FLIPPED:
        bound, condition = _apart(shown(right))
        return f"{bound} {_FLIPPED[suffix]} {left}{condition}"
    if suffix == "St":
        return f"{left} such that {right}"
    if suffix == "Gen":
        return f"{left} = {right}(...)"
    return f"{left} {_RELATIONS[suffix]} {shown(right)}"


def _apart(bound: str) -> tuple[str, str]:
    """A bound to stand on the left, and the condition to be said after the statement: "1 where d = 0"."""
    if " else " in bound:
        return f"({bound})", ""
    value, word, condition = next((parts for parts in map(bound.partition, _CONDITIONS) if parts[1]), (bound, "", ""))
    return value, word + condition


def shown(value: Any) -> str:
    """A constant: sets in braces, strings without quotes."""
    if isinstance(value, tuple | list | frozenset | range):
        return "{" + ", ".join(map(str, value)) + "}"
    return str(value)


def text_of(function: Callable[..., Any], candidate: tuple[str, str] | None = None, is_set: bool = False) -> str:
    """The body of a lambda, the first line of a function's docstring, or else its name and parameters.

    candidate: a parameter's name and what to print for it; is_set: a tuple stands for a set.
    """
    if name_of(function) == "f":
        body = _lambda_body(function)
        if body is not None:
            renamed = {} if candidate is None else {candidate[0]: candidate[1]}
            return _stated(_Notation(renamed, function.__globals__).visit(body), is_set)
    documented = inspect.getdoc(function)
    if documented:
        return documented.splitlines()[0].rstrip(".")
    return f"{name_of(function)}({', '.join(inspect.signature(function).parameters)})"


def name_of(function: Callable[..., Any]) -> str:
    """Its name, of a lambda "f"."""
    return "f" if function.__name__ == "<lambda>" else function.__name__.strip("_")


def _stated(body: ast.expr, is_set: bool) -> str:
    """An expression as text: sets in braces, no quotes, and a branch that restricts nothing goes unsaid."""
    if isinstance(body, ast.IfExp):
        test, one, other = body.test, body.body, body.orelse
        if _restricts_nothing(one):
            test, one, other = ast.UnaryOp(ast.Not(), test), other, one
        last = "" if _restricts_nothing(other) else f" else {_stated(other, is_set)}"
        return f"{_stated(one, is_set)} if {_plain(test)}{last}"
    if is_set and isinstance(body, ast.Tuple):
        return "{" + ", ".join(_plain(member) for member in _members(body)) + "}"
    return _plain(body)


def _restricts_nothing(body: ast.expr) -> bool:
    return _plain(body) in ("()", "ANYTHING", "inf", "-inf")


def _members(body: ast.Tuple) -> list[ast.expr]:
    """The elements, with those of sets that are unpacked among them."""
    unpacked = [each.value if isinstance(each, ast.Starred) else each for each in body.elts]
    return [member for each in unpacked for member in (each.elts if isinstance(each, ast.Set) else [each])]


def _plain(body: ast.expr) -> str:
    return ast.unparse(body).replace("'", "")


class _Notation(ast.NodeTransformer):
    """`self.rank` becomes rank(self), `self.size(d)` size(self, d), `bias.is_none` bias is None, FLOATS its members."""

    def __init__(self, renamed: dict[str, str], constants: dict[str, Any]) -> None:
        self._renamed = renamed
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.AST:
        constant = self._constants.get(node.id)
        if isinstance(constant, tuple) and all(isinstance(member, str) for member in constant):
            return ast.Set([ast.Constant(member) for member in constant])
        return ast.Name(self._renamed.get(node.id, node.id), node.ctx)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node = self.generic_visit(node)
        inner = node.func
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "size":
            return ast.Call(inner.func, [*inner.args, *node.args], [])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "math":
            return ast.Name(node.attr, ast.Load())
        node = self.generic_visit(node)
        if node.attr in _OF:
            return ast.Call(ast.Name(node.attr, ast.Load()), [node.value], [])
        if node.attr == "is_none":
            return ast.Compare(node.value, [ast.Is()], [ast.Constant(None)])
        return node.value if node.attr == "value" else node


def _lambda_body(function: Callable[..., Any]) -> ast.expr | None:
    """The body of a lambda, by its line, parameters and compiled code; None where the source is not there."""
    code = function.__code__
    for node in _lambdas(code.co_filename):
        if node.lineno == code.co_firstlineno and _matches(node, code):
            return ast.parse(ast.unparse(node.body), mode="eval").body  # a copy, which may be rewritten
    return None


@functools.cache
def _lambdas(filename: str) -> tuple[ast.Lambda, ...]:
    source = "".join(linecache.getlines(filename))
    return tuple(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda))


def _matches(node: ast.Lambda, code: CodeType) -> bool:
    """Whether the node compiles to `code`; names that a lambda closes over are compiled as globals here."""
    names = [argument.arg for argument in node.args.args]
    if tuple(names) != code.co_varnames[: code.co_argcount]:
        return False
    # The code itself, and not the function: a default may be a name that only the lambda's surroundings have.
    whole = compile(ast.Expression(node), code.co_filename, "eval")
    compiled = next(part for part in reversed(whole.co_consts) if inspect.iscode(part))
    if not code.co_freevars and compiled.co_code != code.co_code:
        return False
    return _names_and_constants(compiled) == _names_and_constants(code)


def _names_and_constants(code: CodeType) -> tuple[set[str], list[object]]:
    constants = [constant for constant in code.co_consts if not inspect.iscode(constant)]
    return {*code.co_names, *code.co_freevars}, constants
