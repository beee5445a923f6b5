"""The nodes of the test language as they are written: one model for every form that the specification names.

These models say what may be written where; what symbols, references and variables mean is `resolve.py`. The tags are
only for the paths of error messages; they begin with U+FFFF, which no key of a file has.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from conform.suites.fields import Dtype, Integer, NonEmptyString, Number, ScalarLiteral, ScalarValue, Shape

Kind = Literal["float", "int", "bool"]
Init = Literal["normal", "uniform", "randint", "zeros", "ones", "bernoulli"]


class Form(BaseModel):
    """Every form: unknown keys are errors, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def is_written(self, key: str) -> bool:
        """Whether the file has this key (by its field name)."""
        return key in self.model_fields_set


def absent() -> Any:
    """A key that may be left out but not be null: the default None is not validated."""
    return Field(default=None, json_schema_extra=lambda schema: schema.pop("default", None))


# --- Names and template variables -------------------------------------------------------------------------------------


class VarNode(Form):
    """A template variable."""

    type: Literal["var"]
    name: NonEmptyString


class ShortVarNode(Form):
    """A template variable, in short."""

    var: NonEmptyString

    @property
    def name(self) -> str:
        return self.var


def _target_tag(value: Any) -> str | None:
    if isinstance(value, str):
        return "\uffffname"
    if isinstance(value, dict):
        return "\uffffvar" if value.get("type") == "var" else "\uffffshort var" if "var" in value else None
    return None


# A name in the text, or a template variable that holds it.
Target = Annotated[
    Annotated[NonEmptyString, Tag("\uffffname")]
    | Annotated[VarNode, Tag("\uffffvar")]
    | Annotated[ShortVarNode, Tag("\uffffshort var")],
    Discriminator(_target_tag, custom_error_type="target", custom_error_message="expected a name, or {var: NAME}"),
]


# --- Nodes ------------------------------------------------------------------------------------------------------------


class RefNode(Form):
    """A preset, by its name or by a template variable that holds the name."""

    type: Literal["ref"] = "ref"
    ref: Target


class Typed(Form):
    """What has an element type: `kind` leaves the dtype to the run, `dtype` fixes it."""

    kind: Kind = absent()
    dtype: Dtype = absent()

    @model_validator(mode="after")
    def _either_kind_or_dtype(self) -> Typed:
        if self.is_written("kind") == self.is_written("dtype"):
            found = "both" if self.is_written("kind") else "neither"
            message = "expected either 'kind' or 'dtype', found {found}"
            raise PydanticCustomError("kind_or_dtype", message, {"found": found})
        return self


class Ranged(Typed):
    """What may be drawn between `low` and `high`, both inclusive and given together, or with probability `p`."""

    low: Number = absent()
    high: Number = absent()
    p: Number = absent()

    @model_validator(mode="after")
    def _low_with_high(self) -> Ranged:
        if self.is_written("low") != self.is_written("high"):
            given, missing = ("low", "high") if self.is_written("low") else ("high", "low")
            raise PydanticCustomError("low_and_high", "'{given}' is given without '{missing}'",
                                      {"given": given, "missing": missing})  # fmt: skip
        return self


class Sampled(Ranged):
    """How the elements of a tensor are drawn."""

    init: Init = absent()
    mean: Number = absent()
    std: Number = absent()


_SAMPLED = ConfigDict(
    json_schema_extra={
        "oneOf": [{"required": ["kind"]}, {"required": ["dtype"]}],
        "dependentRequired": {"low": ["high"], "high": ["low"]},
    }
)


class TensorNode(Sampled):
    """A tensor to be drawn."""

    model_config = _SAMPLED
    type: Literal["tensor"]
    shape: Shape
    requires_grad: bool = False


class ScalarNode(Ranged):
    """A Python scalar."""

    model_config = _SAMPLED
    type: Literal["scalar"]
    value: ScalarValue = absent()


class ScalarTensorNode(Sampled):
    """A rank-0 tensor."""

    model_config = _SAMPLED
    type: Literal["scalar_tensor"]
    value: ScalarValue = absent()


class ConstTensorNode(Sampled):
    """A tensor whose elements may be written out."""

    model_config = _SAMPLED
    type: Literal["const_tensor"]
    shape: Shape
    value: Any = absent()


class IntListNode(Form):
    """A list of integers."""

    type: Literal["int_list"]
    elems: Annotated[list[Integer], Field(min_length=1)]


class ListNode(Form):
    """`len` draws of one node."""

    type: Literal["list"]
    len: Integer
    elem: Node


class TupleNode(Form):
    """A tuple of different nodes."""

    type: Literal["tuple"]
    elems: list[Node]


class OptionalNode(Form):
    """null with probability `p_none`, otherwise `elem`."""

    type: Literal["optional"]
    p_none: Number = 0.0
    elem: Node


class ConstNode(Form):
    """A literal value."""

    type: Literal["const"]
    value: Any


class ConstructNode(Form):
    """An object to be constructed and passed as an argument."""

    type: Literal["construct"]
    path: Target
    args: list[Argument]
    kwargs: dict[str, Argument] = Field(default_factory=dict)


NODE_FORMS: dict[str, type[Form]] = {
    "ref": RefNode,
    "tensor": TensorNode,
    "scalar": ScalarNode,
    "scalar_tensor": ScalarTensorNode,
    "int_list": IntListNode,
    "list": ListNode,
    "tuple": TupleNode,
    "optional": OptionalNode,
    "const": ConstNode,
    "const_tensor": ConstTensorNode,
    "construct": ConstructNode,
    "var": VarNode,
}


def _node_tag(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if "type" not in value:
        return "\uffffref" if "ref" in value else "\uffffshort var" if "var" in value else None
    return f"\uffff{value['type']}" if isinstance(value["type"], str) and value["type"] in NODE_FORMS else None


Node = TypeAliasType(
    "Node",
    Annotated[
        Annotated[RefNode, Tag("\uffffref")]
        | Annotated[TensorNode, Tag("\ufffftensor")]
        | Annotated[ScalarNode, Tag("\uffffscalar")]
        | Annotated[ScalarTensorNode, Tag("\uffffscalar_tensor")]
        | Annotated[IntListNode, Tag("\uffffint_list")]
        | Annotated[ListNode, Tag("\ufffflist")]
        | Annotated[TupleNode, Tag("\ufffftuple")]
        | Annotated[OptionalNode, Tag("\uffffoptional")]
        | Annotated[ConstNode, Tag("\uffffconst")]
        | Annotated[ConstTensorNode, Tag("\uffffconst_tensor")]
        | Annotated[ConstructNode, Tag("\uffffconstruct")]
        | Annotated[VarNode, Tag("\uffffvar")]
        | Annotated[ShortVarNode, Tag("\uffffshort var")],
        Discriminator(_node_tag, custom_error_type="node", custom_error_message="expected a node"),
    ],
)


def _argument_tag(value: Any) -> str:
    if isinstance(value, list):
        return "\uffffitems"
    if isinstance(value, dict):
        return "\uffffnode" if "type" in value or value.keys() in ({"ref"}, {"var"}) else "\uffffentries"
    return "\uffffliteral"


# What `_argument_tag` takes for a node is none of the literal mappings, also for JSON Schema.
_NO_NODE = {
    "not": {
        "anyOf": [
            {"required": ["type"]},
            {"required": ["ref"], "maxProperties": 1},
            {"required": ["var"], "maxProperties": 1},
        ]
    }
}

# A constructor's argument: a node (a mapping with `type`, {ref: ...} or {var: ...}) or a literal, at any depth.
Argument = TypeAliasType(
    "Argument",
    Annotated[
        Annotated[Node, Tag("\uffffnode")]
        | Annotated[list["Argument"], Tag("\uffffitems")]
        | Annotated[dict[str, "Argument"], Field(json_schema_extra=_NO_NODE), Tag("\uffffentries")]
        | Annotated[ScalarLiteral, Tag("\uffffliteral")],
        Discriminator(_argument_tag),
    ],
)

for _form in NODE_FORMS.values():
    _form.model_rebuild()
