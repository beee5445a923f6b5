"""Contract tables: which row holds for an op and element type, and every mistake that a table of one's own may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.contracts.tables import EXACT_SOURCE, Row, Table, contract_table, names
from conform.errors import UsageError
from conform.schema import operator_names

OPENCL = contract_table("opencl")


def table_of(directory: Path, text: str) -> Table:
    path = directory / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return contract_table(str(path))


@pytest.mark.parametrize(
    ("op", "dtype", "kind", "bound"),
    [
        ("aten::exp", "float32", "ulp", 3.0),
        ("aten::exp", "bfloat16", "ulp", 2.0),
        ("aten::div.Tensor", "float32", "ulp", 2.5),
        ("aten::div.Tensor_mode", "float32", "exact", None),  # the overload's row before the op's
        ("aten::add.Tensor", "float64", "ulp", 0.5),
        ("aten::add.Tensor", "complex64", "accumulation", None),
        ("aten::add.Tensor", "int32", "exact", None),
        ("aten::add.Tensor", "bool", "exact", None),
        ("aten::mm", "float16", "accumulation", None),
        ("aten::gelu", "float32", "derived", None),
        ("aten::tan", "bfloat16", "ulp", 2.5),
        ("aten::sigmoid", "float32", "derived", None),
        ("aten::lgamma", "float32", "derived", None),  # no row
    ],
)
def test_rows_of_the_default_contract(op: str, dtype: str, kind: str, bound: float | None) -> None:
    row = OPENCL.row(op, dtype)
    assert (row.kind, row.bound) == (kind, bound)
    assert row.source


def test_integers_are_exact_in_every_table() -> None:
    assert OPENCL.row("aten::exp", "int64") == Row("exact", None, None, EXACT_SOURCE)


def test_the_shipped_tables_are_valid_and_every_row_names_its_source() -> None:
    assert "opencl" in names()
    for name in names():
        table = contract_table(name)
        assert table.name == name
        assert set(table.rows) <= set(operator_names())
        assert all(entry["source"].strip() for entries in table.rows.values() for entry in entries)


def test_the_first_row_that_covers_the_dtype_holds(tmp_path: Path) -> None:
    table = table_of(tmp_path, """
        name: mine
        rows:
        - {ops: [aten::exp], kind: ulp, bound: {float32: 1, float64: 2}, dtypes: [float64], source: a}
        - {ops: [aten::exp], kind: ulp, bound: 4, dtypes: [float32], source: b}
        - {ops: [aten::exp, aten::sin], kind: derived, bound: in words, source: c}
        """)  # fmt: skip
    assert table.name == "mine"
    assert table.row("aten::exp", "float64") == Row("ulp", 2.0, None, "a")
    assert table.row("aten::exp", "float32") == Row("ulp", 4.0, None, "b")
    assert table.row("aten::exp", "float16") == Row("derived", None, "in words", "c")


ROW = "name: mine\nrows: [{ops: [aten::exp], kind: ulp, bound: 1, source: s}]"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: mine", "title: mine", "`name` must be a text"),
        (ROW, "[1, 2]", "`name` must be a text"),
        (ROW, "name: mine", "`rows` must be a list"),
        (ROW, "name: [", "not YAML"),
        ("{ops", "3, {ops", "row 1: expected a mapping, got 3"),
        ("kind: ulp", "kind: ulps", "row 1: kind must be one of exact, ulp, accumulation, derived, got 'ulps'"),
        ("source: s", "sauce: s", "row 1: unknown key 'sauce'; did you mean 'source'?"),
        ("source: s", "source: s, 7: 8", "row 1: unknown key 7"),
        ("source: s", "source: ' '", "row 1: `source` must be a text"),
        (
            "bound: 1",
            "bound: 0.4",
            "row 1: kind ulp needs `bound`, a number of ulps of at least 0.5, or one a dtype, got 0.4",
        ),
        ("bound: 1", "bound: true", "got True"),
        ("bound: 1", "bound: .inf", "got inf"),
        ("bound: 1", "bound: {}", "got {}"),
        ("bound: 1", "bound: {float32: small}", "got {'float32': 'small'}"),
        ("bound: 1", "bound: {flaot32: 1}", "row 1: unknown dtype 'flaot32'; did you mean 'float32'?"),
        ("bound: 1", "bound: 1, dtypes: [f32]", "row 1: unknown dtype 'f32'"),
        ("bound: 1", "bound: 1, dtypes: [[float32]]", "row 1: unknown dtype ['float32']"),
        ("bound: 1", "bound: 1, dtypes: float32", "row 1: `dtypes` must be a list of dtype names, got 'float32'"),
        ("kind: ulp", "kind: derived", "row 1: the `bound` of kind derived is its formula in words, got 1"),
        ("[aten::exp]", "aten::exp", "row 1: `ops` must be a list of operator names"),
        ("[aten::exp]", "[]", "row 1: `ops` must be a list of operator names"),
        ("aten::exp", "aten::expp", "aten::expp"),
        ("[aten::exp]", "[[aten::exp]]", "row 1"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ROW
    with pytest.raises(UsageError) as error:
        table_of(tmp_path, ROW.replace(old, new))
    assert str(error.value).startswith(f"{tmp_path / 'mine.yaml'}: ")
    assert message in str(error.value)


def test_an_unknown_table_is_told_with_what_there_is() -> None:
    with pytest.raises(
        UsageError, match=r"no contract table 'opncl': expected one of .*opencl.* did you mean 'opencl'"
    ):
        contract_table("opncl")
