"""What a set holds: literally, in every encoding, and the same bytes each time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.errors import UsageError
from conform.golden_files import manifest, write
from conform.golden_files.encoding import decoded, encoded
from conform.interp.evaluate import evaluate
from conform.numerics.formats import FORMATS, format_of
from tests.golden_files.reader import FLOATS, Set, right
from tests.golden_files.sets import EXP, OTHERS, contents, manifest_of, suite, verified, written

pytestmark = pytest.mark.one_in(6)


def test_a_set_of_one_case(tmp_path: Path) -> None:
    summary = written(tmp_path / "out", [suite(tmp_path, EXP)])
    assert summary.statuses == {"golden": 1}
    held = Set(tmp_path / "out")
    assert {key: held.manifest[key] for key in ("schema", "contract", "seed", "suite")} == {
        "schema": "conform.golden/1", "contract": "opencl", "seed": 0,
        "suite": {"names": ["mine.yaml"], "digest": held.manifest["suite"]["digest"]},
    }  # fmt: skip
    case_id = "exp/float32/typical/contiguous"
    case = held.manifest["cases"].pop(case_id)
    assert held.manifest["cases"] == {}
    source = "OpenCL C 3.0 section 7.4, exp; bfloat16 takes the half column, the 16-bit figure"
    assert case == {
        "file": "elementwise.safetensors", "op": "aten::exp", "dtype": "float32", "status": "golden",
        "outputs": [{
            "tensor": f"{case_id}#out.0", "dtype": "float32", "shape": [3], "bound": f"{case_id}#out.0.bound",
            "kind": "ulp", "source": source, "hi": f"{case_id}#out.0.hi",
        }],
        "arguments": {"self": {"tensor": f"{case_id}#self", "dtype": "float32", "shape": [3]}},
    }  # fmt: skip
    (output,) = case["outputs"]
    assert held.argument(case, case["arguments"]["self"]).tolist() == [0.0, 1.0, -np.inf]
    assert held.tensor(case, output["tensor"], "float32").tolist() == [1.0, float(np.float32(np.e)), 0.0]
    assert held.tensor(case, output["bound"], "float64").tolist() == [3.0, 3.0, 3.0]
    assert np.abs(held.tensor(case, output["hi"], "float64") - [1.0, np.e, 0.0]).max() < 1e-14


ARGUMENTS = """
tests:
- {id: a, op: aten::add, in: [{ref: x}, {ref: x}], kwargs: {alpha: {type: const, value: 0.1}}}
- {id: b, op: aten::add, in: [{ref: i}, {type: const, value: 9007199254740993}]}
- {id: c, op: aten::add, in: [{ref: x}, {type: const, value: -.inf}]}
- {id: d, op: aten::cat, in: [{type: list, len: 2, elem: {ref: x}}, {type: const, value: -1}]}
- {id: e, op: aten::sum, in: [{ref: x}], kwargs: {dtype: {type: const, value: float64}}}
presets:
  x: {type: const_tensor, shape: [2], dtype: float32, value: [1.0, 2.0]}
  i: {type: const_tensor, shape: [1], dtype: int64, value: [1]}
"""


def test_arguments_are_exact_json(tmp_path: Path) -> None:
    summary = written(tmp_path / "out", [suite(tmp_path, ARGUMENTS)])
    assert summary.statuses == {"golden": 5}
    cases = manifest_of(tmp_path / "out")["cases"]
    told = {key.partition("/")[0]: case["arguments"] for key, case in cases.items()}
    assert told["a"]["alpha"] == {"float": "0x1.999999999999ap-4"}
    assert told["b"]["other"] == {"int": "9007199254740993"}
    assert told["b"]["alpha"] == 1
    assert told["c"]["other"] == {"float": "-inf"}
    assert [one["tensor"].partition("#")[2] for one in told["d"]["tensors"]] == ["tensors.0", "tensors.1"]
    assert told["d"]["dim"] == -1
    assert told["e"]["dtype"] == "float64"


def test_layouts_share_their_tensors(tmp_path: Path) -> None:
    text = "tests:\n- {id: t, op: aten::abs, in: [{type: tensor, shape: [2, 3], dtype: float32}]}\n"
    written(tmp_path / "out", [suite(tmp_path, text)], layouts="all")
    held = Set(tmp_path / "out")
    told = {key.split("/")[3]: case["arguments"]["self"] for key, case in held.manifest["cases"].items()}
    plain = told["contiguous"]
    assert plain == {"tensor": "t/float32/typical/contiguous#self", "dtype": "float32", "shape": [2, 3]}
    assert told["transposed.0"] == {**plain, "strides": [1, 2], "offset": 0, "storage": 6}
    assert told["offset.0"] == {**plain, "strides": [3, 1], "offset": 3, "storage": 11}
    repeated = told["expanded.0"]  # other numbers, so other goldens
    assert repeated["strides"] == [0, 1]
    case = held.manifest["cases"]["t/float32/typical/expanded.0"]
    rows = held.argument(case, repeated)
    assert (rows[0] == rows[1]).all()


def test_what_has_no_golden_stands_with_its_reason(tmp_path: Path) -> None:
    text = """
tests:
- {id: unknown, op: aten::matrix_exp, in: [{ref: x}]}
- {id: module, op: {type: module, path: no.such.Module}, in: [{ref: x}]}
- {id: refused, op: aten::cumsum, in: [{ref: x}, {type: const, value: 5}]}
presets: {x: {type: const_tensor, shape: [2], dtype: float32, value: [1.0, -2.5]}}
"""
    summary = written(tmp_path / "out", [suite(tmp_path, text)])
    assert summary.statuses == {"unjudged": 2, "refused": 1}
    assert summary.defects == {}
    cases = {key.partition("/")[0]: case for key, case in manifest_of(tmp_path / "out")["cases"].items()}
    assert cases["unknown"] == {
        "op": "aten::matrix_exp", "dtype": "float32", "status": "unjudged",
        "reason": "no semantics for aten::matrix_exp",
    }  # fmt: skip
    assert "parameters" in cases["module"]["reason"]
    assert cases["refused"]["status"] == "refused"
    assert cases["refused"]["arguments"]["dim"] == 5


def test_the_suite_of_refusals(tmp_path: Path) -> None:
    summary = written(tmp_path / "out", ["negative"], ops=["aten::mm"])
    assert summary.statuses["refused"] >= 5
    assert verified(tmp_path / "out").is_same


# --- Encodings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "dtype", "shape", "data"),
    [
        (np.float32([1.0, -0.0]), "F32", (2,), "0000803f00000080"),
        (np.array(258, np.int32), "I32", (), "02010000"),
        (np.array([True, False]), "BOOL", (2,), "0100"),
        (np.array([[1.5]], ml_dtypes.bfloat16), "BF16", (1, 1), "c03f"),
        (np.array([448, -0.0], ml_dtypes.float8_e4m3fn), "F8_E4M3", (2,), "7e80"),
        (np.array([np.nan, 1.0], ml_dtypes.float8_e4m3fnuz), "U8", (2,), "8040"),
        (np.array([1.0, -6.0], ml_dtypes.float4_e2m1fn), "U8", (2,), "020f"),
        (np.array([-8, 7], ml_dtypes.int4), "I8", (2,), "f807"),
        (np.array([15], ml_dtypes.uint4), "U8", (1,), "0f"),
        (np.array([1 - 2j], np.complex64), "F32", (1, 2), "0000803f000000c0"),
        (np.array(2j, np.complex128), "F64", (2,), "00000000000000000000000000000040"),
        (np.zeros((0, 3), np.float64), "F64", (0, 3), ""),
        (np.float32([[1, 2], [3, 4]]).T, "F32", (2, 2), "0000803f000040400000004000008040"),
    ],
)
def test_encodings(array: np.ndarray, dtype: str, shape: tuple[int, ...], data: str) -> None:
    found = encoded(array)
    assert (found.dtype, found.shape, bytes(found.data).hex()) == (dtype, shape, data)


@pytest.mark.parametrize("name", FORMATS)
def test_every_code_of_a_byte_comes_back(name: str) -> None:
    fmt = FORMATS[name]
    codes = np.arange(2 if fmt.kind == "bool" else min(256, 2**fmt.bits), dtype=np.uint8)
    codes = codes.repeat(fmt.storage.itemsize) if fmt.storage.itemsize > 1 else codes
    array = codes.view(fmt.storage)
    if fmt.is_integer and fmt.bits == 4:
        array = np.arange(fmt.min_value, fmt.max_value + 1).astype(fmt.storage)
    back = decoded(fmt, array.shape, bytes(encoded(array).data))
    assert back.dtype == fmt.storage
    assert back.tobytes() == array.tobytes()


# --- The rules of docs/golden.md are those of the kit -----------------------------------------------------------------


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Set:
    directory = tmp_path_factory.mktemp("smoke") / "out"
    written(directory, ["smoke"], layouts="as-written")
    return Set(directory)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", ["_to_copy", "add", "div", "exp", "gelu", "sum", "_softmax", "mm"])
def test_what_the_page_calls_right_the_kit_does(smoke: Set, op: str, dtype: str) -> None:
    cases = smoke.manifest["cases"].values()
    compared, wrong = 0, 0
    for case in [case for case in cases if case["op"].split(".")[0] == f"aten::{op}" and case["dtype"] == dtype]:
        arguments = {name: smoke.argument(case, told) for name, told in case["arguments"].items()}
        (output,), (golden,) = case["outputs"], evaluate(case["op"], [], arguments).goldens
        row = contract_table("opencl").row(golden.bounded_as or case["op"], golden.format.name).of(golden)
        for actual in _nearby(golden.value):
            elements = judge(golden, actual, row, bound_call(case["op"], [], arguments).arguments)
            is_wide = elements.vacuous & np.isfinite(elements.bound_ulp)  # the kit counts no pass within it
            found = right(smoke, case, output, actual)
            assert (elements.ok == found)[~is_wide].all(), (case, actual)
            compared, wrong = compared + found.size, wrong + np.count_nonzero(~found)
    assert compared > 300
    assert compared / 4 < wrong < compared


def _nearby(value: np.ndarray) -> list[np.ndarray]:
    """The golden, and what lies a few codes away, and what has another class."""
    fmt = format_of(value)
    codes = np.ascontiguousarray(value).view(fmt.code_storage)
    moved = [(codes + np.array(step).astype(codes.dtype)).view(value.dtype) for step in (0, 1, -1, 2, -3, 5, 40)]
    if not fmt.is_float:
        return moved
    special = [np.full_like(value, one) for one in (np.nan, np.inf, -np.inf, 0.0, -0.0)]
    return [*moved, -value, *special]


def test_a_bound_of_too_many_ulps_is_absolute(tmp_path: Path) -> None:
    """Where its ulps are more than float64 counts; infinite terms beside it must not be a defect."""
    case_id = "convolution_two_terms/float64/special/contiguous"
    summary = written(tmp_path / "out", ["core"], ids=[case_id])
    assert (summary.statuses, summary.defects) == ({"golden": 1}, {})
    held = Set(tmp_path / "out")
    case = held.manifest["cases"][case_id]
    (output,) = case["outputs"]
    bound, absolute = (held.tensor(case, output[part], "float64") for part in ("bound", "absolute"))
    golden = held.tensor(case, output["tensor"], "float64")
    beyond = np.isnan(bound)
    assert beyond.any()
    assert np.isfinite(absolute[beyond]).all()
    with np.errstate(over="ignore"):
        assert np.isinf(absolute[beyond] / np.spacing(np.abs(golden[beyond]))).all()


def test_what_holds_an_output_that_is_not_returned(tmp_path: Path) -> None:
    case_id = "batch_norm_that_moves_its_statistics/float32/typical/contiguous"
    written(tmp_path / "out", ["core"], ids=[case_id])
    outputs = manifest_of(tmp_path / "out")["cases"][case_id]["outputs"]
    assert [one.get("holder") for one in outputs] == [None, "running_mean", "running_var"]


def test_the_reader_knows_the_formats_as_the_page_tells_them() -> None:
    text = (Path(__file__).parents[2] / "docs" / "golden.md").read_text(encoding="utf-8")
    for fmt in FORMATS.values():
        if fmt.is_float:
            yes = ["yes" if has else "no" for has in (fmt.has_inf, fmt.has_nan, fmt.has_negative_zero)]
            largest = fmt.max_finite.hex() if fmt.bits > 16 else f"{fmt.max_finite:.17g}"
            row = [fmt.name, fmt.precision, fmt.emin, fmt.emax, largest, *yes]
            assert f"| {' | '.join(map(str, row))} |" in text
    for name, (p, emin, emax, most, has_inf, has_negative_zero) in FLOATS.items():
        fmt = FORMATS[name]
        assert (p, emin, emax, most) == (fmt.precision, fmt.emin, fmt.emax, fmt.max_finite)
        assert (has_inf, has_negative_zero) == (fmt.has_inf, fmt.has_negative_zero)


# --- The same bytes ---------------------------------------------------------------------------------------------------


def test_the_same_bytes_whatever_the_process(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "conform", "golden", "write", str(tmp_path / seed), "core", "--quiet"]
        subprocess.run(
            [*command, "--op", "aten::sort", "--op", "aten::add", "--dtype", "bfloat16", "--values", "special"],
            env={**os.environ, "PYTHONHASHSEED": seed}, check=True, timeout=300,
        )  # fmt: skip
    first, second = contents(tmp_path / "1"), contents(tmp_path / "2")
    assert {"manifest.json", "elementwise.safetensors", "sorting.safetensors"} <= first.keys()
    assert first == second


def test_another_seed_other_bytes(tmp_path: Path) -> None:
    path = suite(tmp_path, OTHERS)
    written(tmp_path / "0", [path])
    written(tmp_path / "1", [path], seed=1)
    assert contents(tmp_path / "0")["reduction.safetensors"] != contents(tmp_path / "1")["reduction.safetensors"]


def test_files_are_split_between_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "PART_BYTES", 1)
    path = suite(tmp_path, OTHERS)
    summary = written(tmp_path / "out", [path], samples=3, layouts="all")
    names = [one.name for one in summary.files]
    assert {"elementwise.safetensors", "elementwise-2.safetensors", "reduction-3.safetensors"} <= set(names)
    held = Set(tmp_path / "out")
    for case in held.manifest["cases"].values():
        for told in case["arguments"].values():
            held.argument(case, told)
    assert verified(tmp_path / "out", [path]).is_same


# --- Whole or not at all ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [1, 3])
def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    monkeypatch.setattr(write, "PART_BYTES", 1)  # some files are whole by then
    count = 0

    def on_case(*_: object) -> None:
        nonlocal count
        count += 1
        if count == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "out", [suite(tmp_path, OTHERS)], on_case=on_case, samples=2)
    assert os.listdir(tmp_path / "out") == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(UsageError, match="cannot be written: No space left on device"):
        written(tmp_path / "out", [suite(tmp_path, OTHERS)])
    assert os.listdir(tmp_path / "out") == []


def test_a_directory_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    path = suite(tmp_path, EXP)
    written(tmp_path / "out", [path])
    before = contents(tmp_path / "out")
    with pytest.raises(UsageError, match=r"holds 'elementwise\.safetensors' already"):
        written(tmp_path / "out", [path])
    assert contents(tmp_path / "out") == before


def test_more_cases_than_a_manifest_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "MAX_BYTES", (1 << 20) + 1000)
    with pytest.raises(UsageError, match="write several sets"):
        written(tmp_path / "out", [suite(tmp_path, OTHERS)], layouts="all")
    assert os.listdir(tmp_path / "out") == []
