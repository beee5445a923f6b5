"""What verifying finds: each way in which a set may differ is planted, and must be named; nothing else is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from conform.cli import main
from conform.errors import UsageError
from conform.golden_files import entries, verify
from tests.golden_files.sets import (
    EXP,
    OTHERS,
    change_file,
    change_manifest,
    findings,
    suite,
    verified,
    written,
)

EXP_ID = "exp/float32/typical/contiguous"
FILE = "elementwise.safetensors"


@pytest.fixture
def exp(tmp_path: Path) -> tuple[Path, str]:
    """A set of one case, exp of 0, 1 and -inf in float32, and its suite."""
    path = suite(tmp_path, EXP)
    written(tmp_path / "out", [path])
    return tmp_path / "out", path


def test_a_set_is_the_same(tmp_path: Path) -> None:
    path = suite(tmp_path, OTHERS)
    written(tmp_path / "out", [path], layouts="all", values="all", samples=2, seed=3)
    report = verified(tmp_path / "out", [path])
    assert (findings(report), report.notes, report.drifted) == ([], [], 0)
    assert report.compared > 30


def test_what_numpy_may_change_is_no_drift(exp: tuple[Path, str]) -> None:
    directory, path = exp
    change_file(directory, FILE, number_plus("#out.0.hi", 1, 2.0**-50))
    change_file(directory, FILE, number_plus("#out.0.bound", 1, 3 * 2.0**-40))
    assert findings(verified(directory, [path])) == []


def code_plus(key: str, element: int, steps: int, dtype: str) -> Callable:
    """Moves the code of one element of a tensor."""

    def change(header: dict[str, Any], data: bytearray) -> None:
        begin, end = header[EXP_ID + key]["data_offsets"]
        array = np.frombuffer(data, dtype, offset=begin, count=(end - begin) // np.dtype(dtype).itemsize).copy()
        array[element] += np.array(steps).astype(dtype)
        data[begin:end] = array.tobytes()

    return change


def number_plus(key: str, element: int, by: float) -> Callable:
    """Adds to one float64 of a tensor."""

    def change(header: dict[str, Any], data: bytearray) -> None:
        begin, end = header[EXP_ID + key]["data_offsets"]
        array = np.frombuffer(data, np.float64, offset=begin, count=(end - begin) // 8).copy()
        array[element] += by
        data[begin:end] = array.tobytes()

    return change


@pytest.mark.parametrize(
    ("change", "place", "held", "now"),
    [
        (code_plus("#out.0", 1, 1, "<u4"), "output 0: [1]", "2.718282 = 0x1.5bf0aap+1",
         "2.7182817 = 0x1.5bf0a8p+1 now, off by 1 ulp"),
        (code_plus("#out.0", 0, 5, "<u4"), "output 0: [0]", "1.0000006 = 0x1.00000ap+0",
         "1.0 = 0x1p+0 now, off by 5 ulp"),
        (code_plus("#out.0", 2, 1 << 31, "<u4"), "output 0: [2]", "-0.0 = -0x0p+0", "0.0 = 0x0p+0 now, off by 0 ulp"),
        (code_plus("#out.0", 0, 0x40000000, "<u4"), "output 0: [0]", "inf", "1.0 = 0x1p+0 now, off by 2.85e+45 ulp"),
        (code_plus("#out.0", 0, 0x40000001, "<u4"), "output 0: [0]", "nan", "1.0 = 0x1p+0 now, off by inf ulp"),
        (number_plus("#out.0.bound", 2, 1.0), "bound of output 0: [2]", "4.0 = 0x1p+2", "3.0 = 0x1.8p+1 now"),
        (number_plus("#out.0.bound", 0, np.inf), "bound of output 0: [0]", "inf", "3.0 = 0x1.8p+1 now"),
        (number_plus("#out.0.bound", 0, np.nan), "bound of output 0: [0]", "nan", "3.0 = 0x1.8p+1 now"),
        (number_plus("#out.0.hi", 0, 2.0**-30), "hi of output 0: [0]", "1.0000000009313226 = 0x1.00000004p+0",
         "1.0 = 0x1p+0 now, off by 0.00781 ulp"),
        (code_plus("#self", 0, 1, "<u4"), "input self: [0]", "1e-45 = 0x1p-149", "0.0 = 0x0p+0 now, off by 1 ulp"),
    ],
)  # fmt: skip
def test_a_number_that_changed(exp: tuple[Path, str], change: Callable, place: str, held: str, now: str) -> None:
    directory, path = exp
    change_file(directory, FILE, change)
    report = verified(directory, [path])
    assert findings(report) == [(EXP_ID, f"{place}: {held} in the file, {now} (1 of 3 elements)")]
    assert (report.compared, report.drifted) == (1, 1)


def test_another_kit_drifts(exp: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the kit had a wider bound by now, and another digest."""
    directory, path = exp
    honest = entries.bounds_ulp
    monkeypatch.setattr(entries, "bounds_ulp", lambda *rest: honest(*rest) + 1)
    monkeypatch.setattr(verify.kit, "digest", lambda: "sha256:other")
    report = verified(directory, [path])
    assert [what for _, what in findings(report)] == [
        "bound of output 0: [0]: 3.0 = 0x1.8p+1 in the file, 4.0 = 0x1p+2 now (3 of 3 elements)"
    ]
    assert report.notes[0].startswith("written by another kit: 0.1.0, sha256:")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda case: case["outputs"][0].update(kind="exact"),
         'outputs[0].kind: "exact" in the manifest, "ulp" now'),
        (lambda case: case["arguments"].update(self=1), "arguments.self: 1 in the manifest, {*} now"),
        (lambda case: case.update(more=[1]), "more: [1] in the manifest, nothing now"),
        (lambda case: case.pop("status"), 'status: nothing in the manifest, "golden" now'),
        (lambda case: case["arguments"]["self"].update(shape=[3.0]),
         "arguments.self.shape[0]: 3.0 in the manifest, 3 now"),
        (lambda case: case.update({"a\nb": "\x1b[31m"}), 'a b: "\\u001b[31m" in the manifest, nothing now'),
        (lambda case: case.pop("file"), "has no file"),
    ],
)  # fmt: skip
def test_a_manifest_that_changed(exp: tuple[Path, str], change: Callable, found: str) -> None:
    directory, path = exp
    change_manifest(directory, lambda held: change(held["cases"][EXP_ID]))
    what = [what for of, what in findings(verified(directory, [path])) if of == EXP_ID]
    assert len(what) == 1
    assert re.fullmatch(re.escape(found).replace(r"\*", ".*"), what[0]), what


def test_cases_that_came_and_went(tmp_path: Path) -> None:
    path = suite(tmp_path, OTHERS)
    written(tmp_path / "out", [path])
    suite(tmp_path, OTHERS.replace("id: neg", "id: negated"))
    report = verified(tmp_path / "out", [path])
    assert [(of, what) for of, what in findings(report) if "/" in of] == [
        ("negated/bfloat16/typical/contiguous", "is a case of the suites that the set does not have"),
        ("neg/bfloat16/typical/contiguous", "is no case of the suites now"),
    ]
    assert [what for of, what in findings(report) if of == FILE] == [
        f"extra tensor 'neg/bfloat16/typical/contiguous#{name}'" for name in ("out.0", "out.0.bound", "self")
    ]
    assert report.notes[0].startswith("the suites have changed: sha256:")


# --- Files ------------------------------------------------------------------------------------------------------------


def test_files_that_are_not_as_they_were(tmp_path: Path) -> None:
    path, out = suite(tmp_path, OTHERS), tmp_path / "out"
    written(out, [path])
    (out / "more.safetensors").write_bytes(b"")
    (out / "reduction.safetensors").unlink()
    whole = bytearray((out / FILE).read_bytes())
    whole[-1] ^= 1  # of an exact result or a bound
    (out / FILE).write_bytes(whole)
    found = findings(verified(out, [path]))
    assert found[:3] == [
        ("more.safetensors", "extra file: it is none of the set"),
        (FILE, "corrupted file: its size or SHA-256 is not that of the manifest"),
        ("reduction.safetensors", "missing file"),
    ]
    assert ("sum/float32/typical/contiguous", "not compared: reduction.safetensors cannot be read") in found
    assert len([of for of, _ in found if of.startswith("add/")]) == 1  # what the last byte belongs to


def test_a_file_that_was_cut(exp: tuple[Path, str]) -> None:
    directory, path = exp
    (directory / FILE).write_bytes((directory / FILE).read_bytes()[:-1])
    (first, second, third) = findings(verified(directory, [path]))
    assert first == (FILE, "corrupted file: its size or SHA-256 is not that of the manifest")
    assert second[1].startswith("cannot be read: ")
    assert third == (EXP_ID, f"not compared: {FILE} cannot be read")


# --- Selections -------------------------------------------------------------------------------------------------------


def test_filters_select_among_the_cases(tmp_path: Path) -> None:
    path, out = suite(tmp_path, OTHERS), tmp_path / "out"
    written(out, [path])
    change_manifest(out, lambda held: held["cases"]["neg/bfloat16/typical/contiguous"].update(more=1))
    assert verified(out, [path], ops=["aten::add", "aten::sum"]).compared == 2
    assert verified(out, [path], exclude=["neg/*"]).is_same
    assert [of for of, _ in findings(verified(out, [path], dtypes=["bfloat16"]))] == [
        "neg/bfloat16/typical/contiguous"
    ]
    with pytest.raises(UsageError, match="no case of it is selected"):
        verified(out, [path], ids=["nothing"])


def test_suites_of_files_are_named_again(exp: tuple[Path, str], tmp_path: Path) -> None:
    directory, _ = exp
    with pytest.raises(UsageError, match=r"written of mine\.yaml; name these suites"):
        verified(directory)
    with pytest.raises(UsageError, match=r"written of mine\.yaml, not of smoke"):
        verified(directory, ["smoke"])


# --- The command ------------------------------------------------------------------------------------------------------


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["golden", *words], catch_exceptions=False)


def test_the_verb(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("write", str(out), "smoke", "--op", "aten::exp", "--dtype", "float32", "--values", "typical",
               "--layouts", "as-written")  # fmt: skip
    assert (done.exit_code, done.stdout) == (
        0, f"1 cases: 1 golden\nwritten: {out / 'manifest.json'} {out / FILE}\n",
    )  # fmt: skip
    done = run("verify", str(out))
    assert (done.exit_code, done.stdout) == (0, "same: 0 of 1 cases differ, 0 findings\n")
    (out / "x").write_text("")
    done = run("verify", str(out))
    assert (done.exit_code, done.stdout) == (
        1, "x: extra file: it is none of the set\ndrifted: 0 of 1 cases differ, 1 findings\n",
    )  # fmt: skip
    assert run("verify", str(out), "--quiet").stdout == "drifted: 0 of 1 cases differ, 1 findings\n"
    (out / "manifest.json").unlink()
    done = run("verify", str(out))
    assert done.exit_code == 2
    assert "no manifest.json, so no golden files, or not all: it is written last" in done.stderr
    assert run("write", str(out), "smoke").exit_code == 2
    assert run("write", str(tmp_path / "new"), "smok").exit_code == 2
    assert run("verify", str(tmp_path / "absent")).exit_code == 2


def test_a_set_without_goldens_is_told(tmp_path: Path) -> None:
    text = "tests:\n- {id: t, op: aten::matrix_exp, in: [{type: tensor, shape: [2, 2], dtype: float32}]}\n"
    done = run("write", str(tmp_path / "out"), suite(tmp_path, text))
    assert (done.exit_code, done.stdout.splitlines()[0]) == (3, "1 cases: 1 unjudged")


def test_a_defect_of_the_kit_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(entries, "bounds_ulp", broken)
    done = run("write", str(tmp_path / "out"), suite(tmp_path, EXP))
    assert done.exit_code == 70
    assert "exp/float32/typical/contiguous: defect of the kit, please report it: ZeroDivisionError" in done.stderr
    assert "manifest.json" in os.listdir(tmp_path / "out")


def test_the_function_keeps_its_name() -> None:
    import conform.golden_files.command

    assert callable(conform.golden)
    assert conform.golden("aten::neg", np.float32([1.0])).value.tolist() == [-1.0]
