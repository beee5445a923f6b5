"""The registry of argument specs, and the specs against torch's schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.inputs.specs import registry
from conform.inputs.specs.registry import FAMILIES, position, spec, spec_of, specs
from conform.interp.numerics.formats import FORMATS
from conform.schema import operator_names


def test_an_overload_has_its_own_spec_or_that_of_all_overloads() -> None:
    assert spec_of("aten::div.Tensor_mode").name == "aten::div.Tensor_mode"
    assert spec_of("aten::cat.names").name == "aten::cat"
    assert spec_of("aten::div").name == "aten::div.Tensor"  # the first of its overloads
    assert spec_of("aten::nothing") is None


@pytest.mark.parametrize(("op", "argument", "expected"), [
    ("aten::gather", "index", 2),
    ("aten::index_put", "indices", 1),
    ("aten::where", "condition", 0),
    ("aten::div.Tensor_mode", "other", 1),
])  # fmt: skip
def test_positions_come_from_the_schemas(op: str, argument: str, expected: int) -> None:
    assert position(op, argument) == expected


def test_a_second_registration_is_refused() -> None:
    known = spec_of("aten::add.Tensor")
    with pytest.raises(ValueError, match=r"aten::add\.Tensor: registered twice"):
        spec("aten::add.Tensor", dtypes=["float32"])
    assert spec_of("aten::add.Tensor") is known


def test_an_argument_that_the_op_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"aten::cumprod: 'index' has positions \[\]"):
        spec("aten::cumprod", dtypes=["float32"], index_arguments=["index"])
    assert spec_of("aten::cumprod") is None


def test_every_spec_names_an_op_and_formats() -> None:
    for one in specs():
        assert one.name in operator_names()
        assert one.dtypes
        assert set(one.dtypes) <= set(FORMATS)
        assert len(set(one.dtypes)) == len(one.dtypes)


def test_every_family_module_is_listed() -> None:
    files = {path.stem for path in Path(registry.__file__).parent.glob("*.py")}
    assert files - {"__init__", "registry"} == set(FAMILIES)
