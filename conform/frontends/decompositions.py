"""Which operators of a module are taken apart by torch, and which are kept: those for which the kit has a rule, or,
for what is judged op by op, those that torch's dispatcher hands to a kernel."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch.export import ExportedProgram, exported_program

from conform.interp.program.rules import names

# torch goes through all its composite operators for every program, and tells each to do what it does anyway. It is told
# of those alone that are kept, where it still asks by this name.
_SPLIT = "_split_decomp_table_to_cia_and_python_decomp"


def decomposed(program: ExportedProgram, of_kernels: bool = False) -> ExportedProgram:
    """The program in core ATen, and the composite operators that have a rule; of_kernels: in the operators that have
    kernels, of which a composite one (`aten::linear`) has none."""
    table = _decompositions_of(_registered(), of_kernels)
    if not of_kernels and all(_stays(node, table) for node in program.graph.nodes):
        return program  # torch would trace it once more, to no effect
    with _told_of_few(of_kernels):
        return program.run_decompositions(dict(table))


def _stays(node: torch.fx.Node, table: dict[Any, Any]) -> bool:
    """Whether a node of an exported program may be one of the kit's program: it writes nothing, and is not taken apart,
    as other composite operators than those that have a rule are."""
    if node.op in ("placeholder", "output") or node.target is operator.getitem:
        return True
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    if _is_composite(node.target):  # torch keeps no composite views, but where it takes nothing apart
        return node.target.name() in names() and not _is_in_training(node)
    split = getattr(exported_program, _SPLIT, None)
    others = () if split is None else _kept(_registered(), split, of_kernels=False)[1]
    return node.target not in others and not node.target._schema.is_mutable and node.target not in table


def _is_in_training(node: torch.fx.Node) -> bool:
    """Whether a composite operator is to draw numbers, or to write to statistics, of which its schema says nothing."""
    named = {argument.name: value for argument, value in zip(node.target._schema.arguments, node.args, strict=False)}
    return any((named | node.kwargs).get(name) for name in ("train", "training", "use_input_stats"))


def _registered() -> frozenset[tuple[str, int]]:
    """The namespaces of operators and how many each has, of which libraries may register more."""
    return frozenset((name, len(dir(getattr(torch.ops, name)))) for name in torch.ops._dir)


@cache
def _decompositions_of(registered: frozenset[tuple[str, int]], of_kernels: bool) -> dict[Any, Any]:
    """torch's, without those of the operators that are kept."""
    table = torch.export.default_decompositions()
    if of_kernels:
        return {op: table[op] for op in list(table) if _is_composite(op)}
    for name in names():
        packet, _, overload = name.removeprefix("aten::").partition(".")
        found = getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
        if found is not None and found in table:
            table.pop(found)
    return dict(table)


def _is_composite(op: Any) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")


@contextmanager
def _told_of_few(of_kernels: bool) -> Iterator[None]:
    """Within, torch is told of the composite operators that are kept, and of none that it takes apart as usual."""
    split = getattr(exported_program, _SPLIT, None)
    if split is None:
        yield
        return
    kept, others = _kept(_registered(), split, of_kernels)
    setattr(exported_program, _SPLIT, lambda _: (dict(kept), dict(others)))
    try:
        yield
    finally:
        setattr(exported_program, _SPLIT, split)


@cache
def _kept(
    registered: frozenset[tuple[str, int]], split: Callable[..., Any], of_kernels: bool
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """(the composite operators that are kept, what takes others apart that are no composite ones)"""
    table = _decompositions_of(registered, of_kernels)
    composite, others = split(dict(table))
    return {op: callable_ for op, callable_ in composite.items() if op not in table}, others
