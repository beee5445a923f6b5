"""From written forms to nodes: symbols become numbers, references presets, template variables their values.

Problems are collected, not raised: a stand-in takes the place of what is wrong, so that one pass finds every error.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from conform.call.schemas import operator_names, unknown_operator
from conform.documents.limits import Limits
from conform.suites import nodes, sampling
from conform.suites import written_nodes as written
from conform.suites.dtypes import holds, kind_of
from conform.suites.fields import PATH_FORMATS, Symbol, amount, describe, file_and_attribute, is_path
from conform.suites.literals import literal_problem, plain
from conform.suites.messages import Path, suggest
from conform.suites.scope import UNKNOWN, Scope

_STAND_IN = nodes.Const(None)


# --- Nodes ------------------------------------------------------------------------------------------------------------


def resolve(scope: Scope, node: Any, path: Path) -> nodes.Node:
    """The meaning of a written node at `path`."""
    return _once(scope, node, path, _node)


def _node(scope: Scope, node: Any, path: Path) -> nodes.Node:
    return _RESOLVERS[type(node)](scope, node, path)


def _once(scope: Scope, value: Any, path: Path, build: Callable[[Scope, Any, Path], nodes.Node]) -> nodes.Node:
    """What `build` makes of a form, list or mapping, one level deeper; within the limits.

    In a template, what reads no variable is built for the first assignment only.
    """
    repeats, in_template = scope.repeats, scope.variables is not None
    if in_template:
        scope.count_repeats(1, path)
        if id(value) in repeats.once:
            return repeats.once[id(value)][1]
    reads = repeats.reads
    if scope.depth >= scope.limits.max_depth:
        scope.report(path, scope.limits.exceeded("max_depth", f"nested more than {scope.limits.max_depth} deep"))
        return _STAND_IN
    found = build(replace(scope, depth=scope.depth + 1), value, path)
    problem = size_problem(scope.limits, nodes.size_of(found))
    if problem:
        scope.report(path, problem)
        found = _STAND_IN
    if in_template and repeats.reads == reads:
        repeats.once[id(value)] = (value, found)
    return found


def size_problem(limits: Limits, size: nodes.Size) -> str | None:
    """Which limit the arguments of one test exceed, None if none."""
    if size.depth > limits.max_depth:
        return limits.exceeded("max_depth", f"nested more than {limits.max_depth} deep")
    if size.values > limits.max_values:
        return limits.exceeded("max_values", f"a test of {amount(size.values)} values")
    if size.elements > limits.max_elements:
        return limits.exceeded("max_elements", f"a test of {amount(size.elements)} tensor elements")
    return None


def _ref(scope: Scope, node: written.RefNode, path: Path) -> nodes.Node:
    name = node.ref
    if not isinstance(name, str):
        name = scope.variable(name, (*path, "ref"))
        if name is UNKNOWN:
            return _STAND_IN
    if isinstance(name, str) and name not in scope.presets.written and not scope.is_complete:
        return _STAND_IN
    if not isinstance(name, str) or name not in scope.presets.written:
        known = list(scope.presets.written)
        hint = suggest(name, known) or (f"; known: {', '.join(known[:20])}" if known else "; the file has no presets")
        scope.report((*path, "ref"), f"unknown preset {describe(name)}{hint}")
        return _STAND_IN
    return preset(scope, str(name), path)


def preset(scope: Scope, name: str, path: Path) -> nodes.Node:
    """The node of a preset, resolved at its first use. A preset that leads back to itself is reported."""
    presets = scope.presets
    if name in presets.open:
        cycle = " -> ".join([*presets.open[presets.open.index(name) :], name])
        scope.report(path, f"presets refer to each other in a circle: {cycle}")
        return _STAND_IN
    if name not in presets.resolved:
        file, directory, node = presets.written[name]
        home = replace(scope, file=file, directory=directory, variables=None)
        presets.open.append(name)
        presets.resolved[name] = resolve(home, node, ("presets", name))
        presets.open.pop()
    return presets.resolved[name]


def _tensor(scope: Scope, node: written.TensorNode, path: Path) -> nodes.Node:
    kind = _kind(node)
    if node.requires_grad and kind not in ("float", "complex"):
        scope.report((*path, "requires_grad"), f"only float and complex tensors have gradients, this is {kind}")
    draw = sampling.of_tensor(scope, node, kind, path)
    return nodes.Tensor(_shape(scope, node.shape, path), kind, node.dtype, draw, requires_grad=node.requires_grad)


def _const_tensor(scope: Scope, node: written.ConstTensorNode, path: Path) -> nodes.Node:
    kind, shape = _kind(node), _shape(scope, node.shape, path)
    if not node.is_written("value"):
        return nodes.Tensor(shape, kind, node.dtype, sampling.of_tensor(scope, node, kind, path))
    sampling.refuse_with_value(scope, node, path)
    value = plain(node.value)
    problem = literal_problem(value, shape, kind, node.dtype)
    if problem:
        scope.report((*path, "value"), problem)
    return nodes.Tensor(shape, kind, node.dtype, None, value)


def _scalar_tensor(scope: Scope, node: written.ScalarTensorNode, path: Path) -> nodes.Node:
    kind = _kind(node)
    if not node.is_written("value"):
        return nodes.Tensor((), kind, node.dtype, sampling.of_tensor(scope, node, kind, path))
    sampling.refuse_with_value(scope, node, path)
    return nodes.Tensor((), kind, node.dtype, None, _checked_scalar(scope, node.value, kind, node.dtype, path))


def _scalar(scope: Scope, node: written.ScalarNode, path: Path) -> nodes.Node:
    kind = _kind(node)
    if not node.is_written("value"):
        return nodes.Scalar(kind, node.dtype, sampling.of_scalar(scope, node, kind, path))
    sampling.refuse_with_value(scope, node, path)
    _checked_scalar(scope, node.value, kind, node.dtype, path)
    return nodes.Scalar(kind, node.dtype, None, node.value)


def _checked_scalar(scope: Scope, value: bool | int | float, kind: str, dtype: str | None, path: Path) -> Any:
    """The value of a rank-0 tensor: a number, packed with imaginary part 0 where the dtype is complex."""
    packed = [value, 0.0] if kind == "complex" else value
    problem = literal_problem(packed, (), kind, dtype)
    if problem:
        scope.report((*path, "value"), problem)
    return packed


def _int_list(scope: Scope, node: written.IntListNode, path: Path) -> nodes.Node:
    elems = [scope.number(elem, (*path, "elems", at)) for at, elem in enumerate(node.elems)]
    for at, elem in enumerate(elems):
        if elem is not None and not holds("int64", elem):
            scope.report((*path, "elems", at), f"{describe(elem)} does not fit int64")
    return nodes.Const(elems)


def _list(scope: Scope, node: written.ListNode, path: Path) -> nodes.Node:
    return nodes.Repeated(resolve(scope, node.elem, (*path, "elem")), scope.count(node.len, (*path, "len")))


def _tuple(scope: Scope, node: written.TupleNode, path: Path) -> nodes.Node:
    elements = [resolve(scope, elem, (*path, "elems", at)) for at, elem in enumerate(node.elems)]
    return nodes.Sequence(tuple(elements), is_tuple=True)


def _optional(scope: Scope, node: written.OptionalNode, path: Path) -> nodes.Node:
    p_none = sampling.probability(scope, node.p_none, (*path, "p_none"))
    return nodes.Optional(p_none, resolve(scope, node.elem, (*path, "elem")))


def _const(scope: Scope, node: written.ConstNode, path: Path) -> nodes.Node:
    return nodes.Const(plain(node.value))


def _construct(scope: Scope, node: written.ConstructNode, path: Path) -> nodes.Node:
    args = tuple(argument(scope, arg, (*path, "args", at)) for at, arg in enumerate(node.args))
    kwargs = {key: argument(scope, value, (*path, "kwargs", key)) for key, value in node.kwargs.items()}
    return nodes.Construct(class_path(scope, node.path, (*path, "path")), args, kwargs)


def _var(scope: Scope, node: written.VarNode | written.ShortVarNode, path: Path) -> nodes.Node:
    value = scope.variable(node, path)
    if isinstance(value, list | dict):
        return _once(scope, value, path, lambda scope, value, path: _literal(scope, scope.inserted(value), path))
    return argument(scope, scope.inserted(value), path)


_RESOLVERS = {
    written.RefNode: _ref,
    written.TensorNode: _tensor,
    written.ScalarNode: _scalar,
    written.ScalarTensorNode: _scalar_tensor,
    written.IntListNode: _int_list,
    written.ListNode: _list,
    written.TupleNode: _tuple,
    written.OptionalNode: _optional,
    written.ConstNode: _const,
    written.ConstTensorNode: _const_tensor,
    written.ConstructNode: _construct,
    written.VarNode: _var,
    written.ShortVarNode: _var,
}


def _kind(node: written.Typed) -> str:
    return node.kind if node.dtype is None else kind_of(node.dtype)


def _shape(scope: Scope, shape: list[int | Symbol], path: Path) -> tuple[int, ...]:
    if len(shape) > scope.limits.max_dims:
        scope.report((*path, "shape"), scope.limits.exceeded("max_dims", f"{len(shape)} dimensions"))
        return (1,)
    return tuple(scope.count(size, (*path, "shape", at)) for at, size in enumerate(shape))


# --- Constructor arguments --------------------------------------------------------------------------------------------


def argument(scope: Scope, value: Any, path: Path) -> nodes.Node:
    """A constructor's argument, or a variable's value: a node, or a literal that may hold nodes."""
    if isinstance(value, written.Form):
        return resolve(scope, value, path)
    if isinstance(value, list | dict):
        return _once(scope, value, path, _literal)
    if scope.variables is not None:
        scope.count_repeats(1, path)
    return nodes.Const(plain(value))


def _literal(scope: Scope, value: list[Any] | dict[str, Any], path: Path) -> nodes.Node:
    if isinstance(value, list):
        items = [argument(scope, item, (*path, at)) for at, item in enumerate(value)]
        if all(isinstance(item, nodes.Const) for item in items):
            return nodes.Const([item.value for item in items])
        return nodes.Sequence(tuple(items), is_tuple=False)
    entries = {key: argument(scope, item, (*path, key)) for key, item in value.items()}
    if all(isinstance(item, nodes.Const) for item in entries.values()):
        return nodes.Const({key: item.value for key, item in entries.items()})
    return nodes.Mapping(entries)


def operator(scope: Scope, target: Any, path: Path) -> str:
    """The operator that `target` (a text with {name} for template variables, or a variable) names; "" if unknown."""
    text = _filled(scope, target, path)
    if text is UNKNOWN:
        return ""
    if isinstance(text, str) and text in operator_names():
        return str(text)
    is_name = isinstance(text, str) and len(text) <= 100
    scope.report(path, str(unknown_operator(text)) if is_name else f"unknown operator {describe(text)}")
    return ""


def _filled(scope: Scope, target: Any, path: Path) -> Any:
    """The text, or what the variable holds, with template variables filled in; UNKNOWN if one is unknown."""
    text = target if isinstance(target, str) else scope.variable(target, path)
    return scope.fill_in(text, path) if isinstance(text, str) and scope.variables is not None else text


def class_path(scope: Scope, target: Any, path: Path) -> nodes.ClassPath:
    """The class that `target` (a text with {name} for template variables, or a variable) names. Imports nothing.

    A file is looked for beside the YAML file, then in the working directory.
    """
    text = _filled(scope, target, path)
    if text is UNKNOWN:
        return nodes.ClassPath("")
    if not isinstance(text, str) or not is_path(text):
        scope.report(path, f"{PATH_FORMATS}; found {describe(text)}")
        return nodes.ClassPath("")
    parts = file_and_attribute(text)
    if parts is None:
        return nodes.ClassPath(str(text))
    for directory in (scope.directory, FilePath.cwd()):
        if os.path.isfile(directory / parts[0]):
            return nodes.ClassPath(str(text), (directory / parts[0]).resolve(), parts[1])
    scope.report(path, f"no file {describe(parts[0])} beside the YAML file or in the working directory")
    return nodes.ClassPath("")
