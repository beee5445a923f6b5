"""Contract tables: which row holds for an op and element type, and every mistake that a table of one's own may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.call.schemas import operator_names
from conform.contracts.almost_eq import Tolerance
from conform.contracts.tables import DATA, EXACT_SOURCE, Row, Table, contract_table, names
from conform.errors import UsageError

OPENCL = contract_table("opencl")
INF = float("inf")


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
        ("aten::lgamma", "float32", "ulp_of_rounded", 6),
        ("aten::lgamma", "bfloat16", "ulp", 0.5002),
        ("aten::digamma", "float16", "derived", None),
        ("aten::fmod.Tensor", "float32", "ulp", 0.5),
        ("aten::lerp.Tensor", "float32", "derived", None),  # no row
        ("aten::gather", "float32", "exact", None),  # no row, and it only selects
    ],
)
def test_rows_of_the_default_contract(op: str, dtype: str, kind: str, bound: float | None) -> None:
    row = OPENCL.row(op, dtype)
    assert (row.kind, row.bound) == (kind, bound)
    assert row.source


def test_integers_are_exact_in_every_table() -> None:
    assert OPENCL.row("aten::exp", "int64") == Row("exact", None, None, EXACT_SOURCE)


def test_the_shipped_tables_are_valid_and_every_row_names_its_source() -> None:
    assert names() == ["cr", "cuda", "opencl", "tosa", "torch", "stablehlo"]
    assert {path.stem for path in DATA.iterdir()} == set(names())
    for name in names():
        table = contract_table(name)
        assert table.name == name
        assert set(table.rows) <= {*operator_names(), "*"}
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


def test_rows_of_the_base_stand_behind_the_tables_own(tmp_path: Path) -> None:
    table = table_of(tmp_path, """
        name: mine
        base: opencl
        rows:
        - {ops: [aten::div], kind: ulp, bound: {float32: 1}, source: a}
        - {ops: ["*"], kind: ulp, bound: 7, dtypes: [bfloat16], source: b}
        """)  # fmt: skip
    assert table.row("aten::div.Tensor_mode", "float32").source == "a"  # though the base has a row for the overload
    assert table.row("aten::div.Tensor_mode", "float64") == OPENCL.row("aten::div.Tensor_mode", "float64")
    assert table.row("aten::exp", "bfloat16").source == "b"
    assert table.row("aten::gather", "bfloat16").source == "b"  # though it only selects
    assert table.row("aten::exp", "float32") == OPENCL.row("aten::exp", "float32")


def test_tolerances_and_excluded_intervals(tmp_path: Path) -> None:
    table = table_of(tmp_path, """
        name: mine
        rows:
        - ops: [aten::exp]
          kind: almost_eq
          bound: {float32: {rtol: 1e-5, atol: 0, modulus: true}}
          source: a
        - {ops: [aten::log], kind: ulp, bound: 3, excluded: {float32: [0.5, 2]}, source: b}
        - {ops: [aten::sin], kind: tosa, bound: SIN, excluded: [-.inf, 0], source: c}
        """)  # fmt: skip
    assert table.row("aten::exp", "float32").tolerance == Tolerance(1e-5, 0, modulus=True)
    assert table.row("aten::log", "float32").excluded == (0.5, 2.0)
    assert table.row("aten::log", "float64").excluded is None
    assert (table.row("aten::sin", "float32").formula, table.row("aten::sin", "float32").excluded) == ("SIN", (-INF, 0))


def test_numbers_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    table = table_of(tmp_path, "name: mine\nrows: [{ops: [aten::exp], kind: ulp, bound: 1e1, source: s}]")
    assert table.row("aten::exp", "float32").bound == 10.0  # a text in YAML 1.1


ROW = "name: mine\nrows:\n- {ops: [aten::exp], kind: ulp, bound: 1, source: s}"
TOLERANCE = "kind: almost_eq, bound: {rtol: 0, atol: 1}"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("name: mine\n", "", 1, "`name` must be a text, got None"),
        ("name: mine", "title: mine", 1, "unknown key 'title'"),
        ("name: mine", "name: mine\nrow: 1", 2, "unknown key 'row'; did you mean 'rows'?"),
        ("name: mine", "name: mine\nbase: opencel", 2, "no shipped table: 'opencel'; expected one of cr, cuda"),
        (ROW, "[1, 2]", 1, "expected a mapping with the keys name, base, rows"),
        (ROW, "name: mine", 1, "`rows` must be a list"),
        (ROW, "name: [", 2, "not YAML"),
        ("- {ops", "- 3\n- {ops", 3, "row 1: expected a mapping, got 3"),
        (
            "kind: ulp",
            "kind: ulps",
            3,
            "row 1: `kind` must be one of exact, ulp, ulp_of_rounded, accumulation, derived, ",
        ),
        ("kind: ulp", "kind: ulps", 3, "got 'ulps'; did you mean 'ulp'?"),
        ("source: s", "sauce: s", 3, "row 1: unknown key 'sauce'; did you mean 'source'?"),
        ("source: s", "source: s, 7: 8", 3, "key 7 is no string"),
        ("source: s", "source: ' '", 3, "row 1: `source` must be a text"),
        (
            "bound: 1",
            "bound: 0.4",
            3,
            "row 1: `bound` must be a number of ulps of at least 0.5, or one a dtype, got 0.4",
        ),
        ("ulp, bound: 1", "ulp_of_rounded, bound: -1", 3, "a number of ulps of at least 0, or one a dtype, got -1"),
        ("bound: 1", "bound: true", 3, "got True"),
        ("bound: 1", "bound: .inf", 3, "got inf"),
        ("bound: 1", f"bound: 1{'0' * 400}", 3, "got 1000"),
        ("bound: 1", "bound: {}", 3, "got {}"),
        ("bound: 1", "bound: {float32: small}", 3, "got 'small'"),
        ("bound: 1", "bound: {flaot32: 1}", 3, "row 1: unknown dtype 'flaot32'; did you mean 'float32'?"),
        ("bound: 1", "bound: 1, dtypes: [f32]", 3, "row 1: unknown dtype 'f32'"),
        ("bound: 1", "bound: 1,\n  dtypes: [[float32]]", 4, "row 1: unknown dtype ['float32']"),
        ("bound: 1", "bound: 1, dtypes: float32", 3, "row 1: `dtypes` must be a list of dtype names, got 'float32'"),
        ("kind: ulp", "kind: derived", 3, "row 1: the `bound` of kind derived is its formula in words, got 1"),
        ("kind: ulp", "kind: tosa", 3, "the `bound` of kind tosa is one of ADD, MUL"),
        (
            "kind: ulp, bound: 1",
            "kind: tosa, bound: POW",
            3,
            "POW reads the argument `exponent`, which aten::exp does not",
        ),
        (
            "kind: ulp",
            "kind: almost_eq",
            3,
            "`bound` of kind almost_eq needs `rtol` and `atol`, or both a dtype, got 1",
        ),
        (
            "kind: ulp, bound: 1",
            TOLERANCE.replace("atol: 1", "atol: -1"),
            3,
            "`atol` must be a number of at least 0, got -1",
        ),
        (
            "kind: ulp, bound: 1",
            TOLERANCE.replace("atol: 1", "atol: 1, modulus: 3"),
            3,
            "`modulus` must be true or false",
        ),
        (
            "kind: ulp, bound: 1",
            TOLERANCE.replace("atol: 1", "atol: 1, atl: 3"),
            3,
            "unknown key 'atl'; did you mean 'atol'?",
        ),
        (
            "bound: 1",
            "bound: 1, excluded: 3",
            3,
            "`excluded` must be an interval [low, high] of the first operand, got 3",
        ),
        ("bound: 1", "bound: 1, excluded: [2, 1]", 3, "`excluded` is an empty interval: 2 is above 1"),
        ("bound: 1", "bound: 1, inside: derived", 3, "`inside` stands beside `excluded`, in rows of kind ulp"),
        ("bound: 1", "bound: 1, excluded: [1, 2], inside: exact", 3, "`inside` must be derived, got 'exact'"),
        ("[aten::exp]", "aten::exp", 3, "row 1: `ops` must be a list of operator names"),
        ("[aten::exp]", "[]", 3, "row 1: `ops` must be a list of operator names"),
        ("aten::exp", "aten::expp", 3, "unknown operator 'aten::expp'; did you mean 'aten::exp'?"),
        ("[aten::exp]", "[[aten::exp]]", 3, "row 1"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in ROW
    with pytest.raises(UsageError) as error:
        table_of(tmp_path, ROW.replace(old, new))
    assert str(error.value).startswith(f"{tmp_path / 'mine.yaml'}:{line}: ")
    assert message in str(error.value)


def test_a_table_of_ones_own_has_a_name_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`name` is 'cr', a shipped table's"):
        table_of(tmp_path, ROW.replace("mine", "cr"))


def test_an_unknown_table_is_told_with_what_there_is() -> None:
    with pytest.raises(
        UsageError, match=r"no contract table 'opncl': expected one of .*opencl.* did you mean 'opencl'"
    ):
        contract_table("opncl")
