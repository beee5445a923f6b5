"""Every op has semantics, a reference, an input spec, tests and a contract: the table of `conform ops` has no hole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conform.inventory import Entry, inventory, render

OPS = (
    "_softmax _to_copy abs add addmm amax arange argmax avg_pool2d bitwise_and cat convolution cumsum div eq exp "
    "gather gelu index_put maximum mm mul native_layer_norm neg permute remainder round sin slice sort sqrt sum where"
)


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return inventory()


def test_no_op_has_a_hole(entries: list[Entry]) -> None:
    print(render(entries))
    assert {entry.op: entry.holes for entry in entries if entry.holes} == {}


def test_the_ops_are_those_of_the_core_suite(entries: list[Entry]) -> None:
    assert " ".join(entry.op.removeprefix("aten::") for entry in entries) == OPS


def test_a_hole_is_named_and_marked() -> None:
    add = Entry(
        op="aten::add", overloads=("aten::add.Scalar", "aten::add.Tensor"), dtypes=("float16", "float32"),
        without_semantics=(), without_reference=(), has_spec=True, tests=3, contracts=("ulp",),
    )  # fmt: skip
    assert add.holes == []
    torn = replace(add, without_semantics=add.overloads, without_reference=add.overloads[:1], has_spec=False, tests=0)
    lines = render([torn]).splitlines()
    cells = "aten::add .Scalar .Tensor no 1 of 2 no no ulp float16 float32"
    assert " ".join(lines[2].split()) == cells
    assert lines[-5:] == [
        "aten::add: no semantics of aten::add.Scalar",
        "aten::add: no semantics of aten::add.Tensor",
        "aten::add: no reference of aten::add.Scalar",
        "aten::add: no input spec",
        "aten::add: no tests in the suite",
    ]
