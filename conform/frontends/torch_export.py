"""A torch module as a program: what torch.export makes of it for tensors of certain dtypes and shapes.

The graph says of which operators a module consists, and on what; what they mean the interpreter alone says. Composite
operators for which it has a rule are kept, others become core ATen.
"""

from __future__ import annotations

import hashlib
import operator
import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind, OutputSpec
from torch.utils import _pytree as pytree

from conform.backends.interpreter import to_numpy, to_torch
from conform.backends.leaves import leaves
from conform.errors import NoGolden
from conform.foreign import line
from conform.foreign_code import without_exit
from conform.frontends.decompositions import decomposed
from conform.frontends.shapes import Shapes, own_shapes, quietly, reason_of
from conform.frontends.without_questions import WithoutQuestions
from conform.interp.program.aten import CONVERSION
from conform.interp.program.form import Function, Op, Operand, Program, Value
from conform.interp.semantics import traits_of
from conform.interp.traits import KNOWN_MEMORY

CACHED = 16  # programs, those used last; each holds its module's parameters
_WRITTEN = {
    OutputKind.BUFFER_MUTATION: "buffer",
    OutputKind.PARAMETER_MUTATION: "parameter",
    OutputKind.USER_INPUT_MUTATION: "argument",
}
_lock = threading.Lock()  # torch.export is not thread-safe
_cache: OrderedDict[bytes, Program] = OrderedDict()


def program_of(
    module: torch.nn.Module, content: bytes | None, args: Sequence[Any], kwargs: Mapping[str, Any],
    of_kernels: bool = False, may_update: Collection[str] | None = None,
) -> Program:  # fmt: skip
    """The program of `module` for a call with arguments of these dtypes and shapes; of_kernels: in the operators that
    torch's dispatcher hands to kernels, no composite ones; may_update: the buffers that it may write to, by name,
    None where it is taken apart, and none of its results are new contents.

    content: what the module consists of, code and tensors, by which programs are cached; None where that is not known.
    args, kwargs: arrays for tensors, in lists, tuples and dicts; all else becomes part of the program. The program's
    arguments are the arrays in torch's order of such nests, its results the module's tensors in that of `leaves`.
    NoGolden, with the reason, for a module that cannot be exported, that returns what is no tensor, or that writes to
    what it is given, or to what it holds and may not update.
    """
    given = [list(args), dict(kwargs)]
    described = pytree.tree_map(lambda leaf: _described(leaf), given)
    with _lock:
        if content is None:
            return _Graph(*_exported(module, given, of_kernels), of_kernels).program(may_update)
        key = hashlib.sha256(content + repr((described, of_kernels, may_update)).encode()).digest()
        if key not in _cache:
            _cache[key] = _Graph(*_exported(module, given, of_kernels), of_kernels).program(may_update)
            while len(_cache) > CACHED:
                _cache.popitem(last=False)
        _cache.move_to_end(key)
        return _cache[key]


def arrays_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
    """The arrays of a call in the order of the program's arguments."""
    flat = pytree.tree_leaves((tuple(args), dict(kwargs)))
    return [np.asarray(leaf) for leaf in flat if _is_array(leaf)]


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def _described(leaf: Any) -> Any:
    return (leaf.dtype.name, leaf.shape) if _is_array(leaf) else leaf


# --- Export -----------------------------------------------------------------------------------------------------------


def _exported(
    module: torch.nn.Module, given: list[Any], of_kernels: bool
) -> tuple[ExportedProgram, Shapes | None]:
    """What torch makes of the module, and the shapes of its results (`own_shapes`)."""

    def tensor(leaf: Any) -> Any:
        return to_torch(np.asarray(leaf)) if _is_array(leaf) else leaf

    args, kwargs = pytree.tree_map(tensor, given)
    try:
        with torch.no_grad(), quietly(), WithoutQuestions(), without_exit():
            whole = torch.export.export(module, tuple(args), kwargs, strict=False)
            exported = decomposed(whole, of_kernels)
            own = own_shapes(module, args, kwargs)
    except Exception as error:  # whatever the module's own code, or torch's view of it, raises
        raise NoGolden(f"{_named(module)} cannot be exported: {type(error).__name__}: {reason_of(error)}") from error
    return exported, own


def _named(module: torch.nn.Module) -> str:
    return f"module {module._get_name()}"


# --- The graph --------------------------------------------------------------------------------------------------------


class _Graph:
    """The graph of an exported program, in the form of the kit."""

    def __init__(self, exported: ExportedProgram, own_shapes: Shapes | None, of_kernels: bool) -> None:
        self.own_shapes, self.of_kernels = own_shapes, of_kernels
        self.exported, self.module = exported, exported.graph_module
        self.nodes = list(exported.graph.nodes)
        self.results: dict[str, str] = {}  # the value's name of a node that only picks one of several results

    def program(self, may_update: Collection[str] | None) -> Program:
        updates = self._updates(may_update)
        arguments, constants = self._inputs()
        ops = tuple(self._ops())
        results = (*self._outputs(), *map(self._name, updates.values()))
        if not results:
            raise NoGolden("the module returns no tensor")
        return Program(Function(tuple(arguments), ops, results), constants, tuple(updates))

    def _updates(self, allowed: Collection[str] | None) -> dict[str, torch.fx.Node]:
        """What becomes of the buffers that the graph writes to, by their names in the module."""
        updates = {}
        for node, spec in self._given_out():
            is_buffer = spec.kind is OutputKind.BUFFER_MUTATION
            if is_buffer and spec.target in (allowed or ()):
                updates[spec.target] = node
            elif spec.kind in _WRITTEN:
                why = ": the kit judges results alone"
                if is_buffer:
                    apart = ": of what is taken apart the kit judges results alone; call its eval() first"
                    why = apart if allowed is None else ", a part that is not in training mode" + why
                raise NoGolden(f"the module writes to its {_WRITTEN[spec.kind]} {spec.target!r}{why}")
        return updates

    def _inputs(self) -> tuple[list[Value], dict[str, np.ndarray]]:
        """Arguments, and what the module holds, by the names of their nodes."""
        arguments, constants = [], {}
        placeholders = {node.name: node for node in self.nodes if node.op == "placeholder"}
        for spec in self.exported.graph_signature.input_specs:
            node = placeholders.get(getattr(spec.arg, "name", ""))
            if spec.kind is InputKind.USER_INPUT:
                if node is not None and isinstance(node.meta.get("val"), torch.Tensor):
                    arguments.append(_value(node.name, node.meta["val"]))
            elif spec.target in self.exported.state_dict:
                constants[node.name] = _array(spec.target, self.exported.state_dict[spec.target])
            elif isinstance(held := self.exported.constants.get(spec.target), torch.Tensor):
                constants[node.name] = _array(spec.target, held)
            else:
                raise NoGolden(f"the module uses {spec.target!r}, which is no tensor")
        return arguments, constants

    def _ops(self) -> Iterator[Op]:
        for node in self.nodes:
            if node.op in ("placeholder", "output") or _is_of_sizes(node):
                continue
            if node.op != "call_function":
                raise NoGolden(f"the module's graph has a {node.op} of {line(str(node.target), 100)}{_at(node)}")
            if node.target is operator.getitem:
                source, at = node.args
                self.results[node.name] = f"{self._name(source)}.{at}"
            elif isinstance(node.target, torch._ops.OpOverload):
                yield self._op(node, node.target)
            else:
                raise NoGolden(f"a program cannot use {line(str(node.target), 100)}{_at(node)}: it is no operator")

    def _op(self, node: torch.fx.Node, target: torch._ops.OpOverload) -> Op:
        if not self.of_kernels and _is_how_an_op_computes(node):
            operands, (result,) = (self._operand(node.all_input_nodes[0]),), _results(node)
            return Op(CONVERSION, operands, {"dtype": result.dtype}, (result,), _place(node), is_within_op=True)
        schema = target._schema
        given = dict(zip((one.name for one in schema.arguments), node.args, strict=False)) | dict(node.kwargs)
        operands, attributes = [], {}
        for argument in schema.arguments:
            value = given.get(argument.name)
            if "Tensor" not in str(argument.type):
                if argument.name in given:
                    attributes[argument.name] = _attribute(value, node)
            elif value is None or isinstance(value, torch.fx.Node | list | tuple):
                operands.append(self._operand(value))
            else:
                attributes[argument.name] = value
        if shows_memory(schema.name):
            _check_memory(node)
        results = _of_arguments_dtypes(schema.name, given, _results(node))
        return Op(f"{schema.name}.{target._overloadname}", tuple(operands), attributes, results, _place(node))

    def _operand(self, value: Any) -> Operand:
        if isinstance(value, list | tuple):
            return tuple(None if one is None else self._name(one) for one in value)
        return None if value is None else self._name(value)

    def _name(self, node: torch.fx.Node) -> str:
        return self.results.get(node.name, node.name)

    def _outputs(self) -> Iterator[str]:
        returned = [node for node, spec in self._given_out() if spec.kind not in _WRITTEN]
        nested = pytree.tree_unflatten(returned, self.exported.call_spec.out_spec)
        found = list(leaves(nested))
        for leaf in found:
            if not isinstance(leaf, torch.fx.Node):
                raise NoGolden(f"the module returns {line(repr(leaf), 100)}; expected tensors, in tuples, lists, dicts")
            yield self._name(leaf)
        self._check_shapes([list(leaf.meta["val"].shape) for leaf in found])

    def _given_out(self) -> Iterator[tuple[Any, OutputSpec]]:
        """What the graph gives out, and what that is: results, or new contents of what the module holds."""
        (output,) = (node for node in self.nodes if node.op == "output")
        return zip(output.args[0], self.exported.graph_signature.output_specs, strict=True)

    def _check_shapes(self, exported: Shapes) -> None:
        own = self.own_shapes
        if own is not None and own != exported:
            raise NoGolden(
                f"torch {torch.__version__} exports the module with results of shapes {exported}, which are {own}"
            )


_CONVERSIONS = ("aten::_to_copy", "prims::convert_element_type")  # torch copies overloads into graphs


def _is_how_an_op_computes(node: torch.fx.Node) -> bool:
    """Whether a conversion from one float dtype to another is part of what torch takes an operator apart into, and not
    of the module: the operator computes in a wider type, and has its result in its own."""
    original = node.meta.get("original_aten")
    if node.target.name() not in _CONVERSIONS or original is None or original.name() in _CONVERSIONS:
        return False
    (source,) = node.all_input_nodes
    return all(one.meta["val"].dtype.is_floating_point for one in (source, node))


def _is_of_sizes(node: torch.fx.Node) -> bool:
    """Whether a node only tells a size that numbers in tensors decide, or states within which ends that lies."""
    (source,) = node.all_input_nodes if len(node.all_input_nodes) == 1 else (None,)
    if node.target is torch.ops.aten.sym_size.int:
        return isinstance(node.meta.get("val"), torch.SymInt)
    if node.target is operator.le or (node.target is operator.ge and node.args[1] == 0):
        return source is not None and source.target is torch.ops.aten.sym_size.int
    return node.target is torch.ops.aten._assert_scalar.default and source is not None and _is_of_sizes(source)


def shows_memory(op: str) -> bool:
    """Whether what an operator gives is no function of its tensors' elements: as_strided."""
    return "storage" in traits_of(op.removesuffix(".default")).memory


def _check_memory(node: torch.fx.Node) -> None:
    """NoGolden for operands that are not the whole of their storage, in the order of their elements."""
    for fake in (source.meta["val"] for source in node.all_input_nodes):
        has_sizes = all(isinstance(size, int) for size in fake.shape)  # which no numbers in tensors decide
        if not has_sizes or not _is_whole(fake):
            raise NoGolden(f"{node.target} depends on its tensor's memory, {KNOWN_MEMORY}{_at(node)}")


def _is_whole(fake: torch.Tensor) -> bool:
    fills = fake.storage_offset() == 0 and fake.untyped_storage().nbytes() == fake.nbytes
    return fills and fake.is_contiguous()


def _results(node: torch.fx.Node) -> tuple[Value | None, ...]:
    found = node.meta.get("val")
    if isinstance(found, torch.Tensor):
        return (_value(node.name, found),)
    if isinstance(found, list | tuple):
        used = {user.args[1] for user in node.users if user.target is operator.getitem and user.users}
        return tuple(_value(f"{node.name}.{at}", one) if at in used else None for at, one in enumerate(found))
    if found is None:
        return ()
    raise NoGolden(f"a program cannot use {node.target}: it makes a Python number of a tensor{_at(node)}")


# The argument whose dtype a result has, though the decomposition that torch exports by says float32 of it.
_LIKE = {"aten::_native_batch_norm_legit_functional": {3: "running_mean", 4: "running_var"}}


def _of_arguments_dtypes(
    op: str, given: Mapping[str, Any], results: tuple[Value | None, ...]
) -> tuple[Value | None, ...]:
    like = {at: _value("", given[name].meta["val"]).dtype for at, name in _LIKE.get(op, {}).items()}
    return tuple(one and replace(one, dtype=like.get(at, one.dtype)) for at, one in enumerate(results))


def _value(name: str, fake: torch.Tensor) -> Value:
    sizes = tuple(size if isinstance(size, int) else None for size in fake.shape)  # None: numbers in tensors decide
    return Value(name, str(fake.dtype).removeprefix("torch."), sizes)


def _attribute(value: Any, node: torch.fx.Node) -> Any:
    if isinstance(value, torch.fx.Node):
        raise NoGolden(f"a program cannot use {node.target} with a number of a tensor as an argument{_at(node)}")
    if isinstance(value, list | tuple):
        return [_attribute(item, node) for item in value]
    return to_numpy(value)


def _array(name: str, tensor: torch.Tensor) -> np.ndarray:
    plain = tensor.detach()
    if plain.is_meta or plain.layout != torch.strided or plain.is_quantized:
        raise NoGolden(f"the module's {name} is no dense tensor with elements")
    return to_numpy(plain.cpu().resolve_conj().resolve_neg().contiguous())


_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\w+)')


def _at(node: torch.fx.Node) -> str:
    """` (model.py:12 in forward)`, or nothing."""
    place = _place(node)
    return f" ({place})" if place else ""


def _place(node: torch.fx.Node) -> str:
    """`model.py:12 in forward`: the innermost line outside torch that made a node."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if f"{Path(torch.__file__).parent}/" not in frame[0]] or frames
    return f"{Path(own[-1][0]).name}:{own[-1][1]} in {own[-1][2]}" if own else ""
