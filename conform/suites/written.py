"""Modules, templates, tests and files as they are written; the nodes inside them are in `written_nodes.py`.

The JSON Schema for editors is exported from `Document`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from conform.suites.fields import DimensionValue, Id, Name, NonEmptyString, Operator
from conform.suites.written_nodes import NODE_FORMS, Argument, Form, Node, ShortVarNode, Target, absent

Device = Literal["cpu", "gpu", "cuda", "mps"]

# --- Modules and templates --------------------------------------------------------------------------------------------


class ModuleForm(Form):
    """A class to construct; its `forward` is called."""

    type: Literal["module"]
    path: NonEmptyString
    args: list[Argument] = Field(default_factory=list)
    kwargs: dict[str, Argument] = Field(default_factory=dict)


class Template(Form):
    """Variables and their values; `cases` replaces their Cartesian product."""

    vars: dict[Name, Annotated[list[Argument], Field(min_length=1)]]
    cases: Annotated[list[dict[str, Argument]], Field(min_length=1)] = absent()


class TemplateModuleForm(Template):
    """One module for every assignment of the variables."""

    type: Literal["template_module"]
    path: Target
    args: list[Argument] = Field(default_factory=list)
    kwargs: dict[str, Argument] = Field(default_factory=dict)


class TemplateOperatorForm(Template):
    """One operator for every assignment of the variables."""

    type: Literal["template_op"]
    name: Target


class Common(Form):
    """Constructor arguments of both sides, where a side does not give its own."""

    args: list[Argument] = Field(default_factory=list)
    kwargs: dict[str, Argument] = Field(default_factory=dict)


class Side(Form):
    """One side of a compare pair."""

    impl: NonEmptyString
    type: Literal["module"]
    path: Target
    args: list[Argument] = absent()
    kwargs: dict[str, Argument] = Field(default_factory=dict)


class TemplateComparePairForm(Template):
    """Two modules under the same inputs, for every assignment of the variables."""

    type: Literal["template_compare_pair"]
    common: Common = Field(default_factory=Common)
    a: Side
    b: Side


OP_FORMS: dict[str, type[Form]] = {
    "module": ModuleForm,
    "template_module": TemplateModuleForm,
    "template_op": TemplateOperatorForm,
    "template_compare_pair": TemplateComparePairForm,
}


def _op_tag(value: Any) -> str | None:
    if isinstance(value, str):
        return "\uffffoperator"
    type_ = value.get("type") if isinstance(value, dict) else None
    return f"\uffff{type_}" if isinstance(type_, str) and type_ in OP_FORMS else None


Op = Annotated[
    Annotated[Operator, Tag("\uffffoperator")]
    | Annotated[ModuleForm, Tag("\uffffmodule")]
    | Annotated[TemplateModuleForm, Tag("\ufffftemplate_module")]
    | Annotated[TemplateOperatorForm, Tag("\ufffftemplate_op")]
    | Annotated[TemplateComparePairForm, Tag("\ufffftemplate_compare_pair")],
    Discriminator(_op_tag, custom_error_type="op", custom_error_message="expected an operator"),
]


# --- Tests and files --------------------------------------------------------------------------------------------------


class TestForm(Form):
    """One entry of `tests`."""

    __test__ = False  # not pytest's

    id: Id = absent()
    impl: NonEmptyString = absent()
    op: Op
    inputs: list[Node] = Field(alias="in")
    kwargs: dict[str, Node] = Field(default_factory=dict)
    out: Any = Field(default=None, description="the expected output; not validated")
    device: Device = absent()
    lenience: NonEmptyString = absent()
    cast_input0_to_complex: bool = False


def _include_tag(value: Any) -> str | None:
    return "\uffffname" if isinstance(value, str) else "\uffffnames" if isinstance(value, list) else None


Include = Annotated[
    Annotated[NonEmptyString, Tag("\uffffname")]
    | Annotated[list[NonEmptyString], Field(min_length=1), Tag("\uffffnames")],
    Discriminator(_include_tag, custom_error_type="include", custom_error_message="expected a name or a list of names"),
]


class Header(Form):
    """What a file defines besides its tests."""

    include: Include = absent()
    dims: dict[Name, DimensionValue] = Field(default_factory=dict)
    presets: dict[NonEmptyString, Node] = Field(default_factory=dict)


class Document(Header):
    """A conform test file."""

    model_config = ConfigDict(title="conform test file")
    tests: list[TestForm]


FORMS: dict[str, type[Form]] = NODE_FORMS | OP_FORMS | {"short var": ShortVarNode}
