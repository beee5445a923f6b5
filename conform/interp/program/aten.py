"""torch's operators as the op set of a program, in which every tensor has a dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conform.call import schemas
from conform.call.schemas import OpSchema
from conform.errors import NoGolden, UsageError
from conform.interp.program.apply import apply, steps_stored
from conform.interp.program.form import Op
from conform.interp.program.number import Number
from conform.interp.program.storage import in_format
from conform.numerics.formats import format_named

# Of a graph's ops, those that state what is known already: they have no result.
CHECKED = frozenset({"aten::_assert_async.default", "aten::_assert_async.msg"})  # what they state is looked at
ASSERTIONS = frozenset({"aten::_assert_tensor_metadata.default"}) | CHECKED


CONVERSION = "aten::_to_copy.default"


def aten(op: Op, operands: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Number, ...]:
    """The results of one of torch's operators: operands are its tensor arguments, in the schema's order, but for those
    that are attributes (a Python number in a tensor's place). Its steps are those that may be rounded.
    """
    if op.name in ASSERTIONS:
        told = dict(attributes)  # what the others state is known
        if op.name in CHECKED and (operands[0].array is None or not operands[0].array.all()):
            raise NoGolden(f"the module asserts what does not hold of these numbers: {told.get('assert_msg', op.name)}")
        return ()
    if op.name == CONVERSION and op.is_within_op:
        return (in_format(operands[0], format_named(attributes["dtype"])),)
    _, given = arguments_of(op, operands, attributes)
    with steps_stored():
        result = apply(op.name, **given)
    return tuple(result) if isinstance(result, list | tuple) else (result,)


def arguments_of(
    op: Op, operands: Sequence[Any], attributes: Mapping[str, Any]
) -> tuple[OpSchema, dict[str, Any]]:
    """The schema of an op, and what it is given by the names there. NoGolden for one that has none, and for a wrong
    number of operands."""
    schema, given = _schema(op), dict(attributes)
    return schema, {**_by_name(schema, op, operands, given), **given}


def _schema(op: Op) -> OpSchema:
    try:
        schema = schemas.schema(op.name)
    except UsageError as error:
        raise NoGolden(f"a program cannot use {op.name}: {error}") from None
    if any(one.is_written for one in schema.arguments):
        raise NoGolden(f"a program cannot use {op.name}, which writes into its arguments")
    return schema


def _by_name(
    schema: OpSchema, op: Op, operands: Sequence[Any], attributes: Mapping[str, Any]
) -> dict[str, Any]:
    names = [one.name for one in schema.arguments if "Tensor" in one.type and one.name not in attributes]
    if len(operands) != len(names):
        raise NoGolden(f"{op.name}: found {len(operands)} operands, expected {len(names)}: {', '.join(names)}")
    return dict(zip(names, operands, strict=True))
