"""The language of manifests: what is claimed, what a mistake is told as, and arithmetic that two places declare."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

import conform
from conform.documents.limits import Limits
from conform.documents.source import parse_yaml
from conform.manifest.language import Manifest, json_schema, read

TEXT = """claims:
- op: aten::add
  dtype: [float32, int64]
- op: ["aten::sq*", torch.nn.Linear]
  layout: [contiguous, "offset.*"]
  max_rank: 2
- op: aten::sqrt
  dtype: float16
  max_elements: 8
limits:
- op: aten::add.Scalar
  dtype: int64
  reason: integers come in 2.0
"""


def manifest(tmp_path: Path, text: str = TEXT) -> Manifest:
    path = tmp_path / "m.yaml"
    path.write_text(text)
    return read(str(path))


@pytest.mark.parametrize(
    ("op", "dtype", "layout", "shapes", "reason"),
    [
        ("aten::add.Tensor", "float32", "contiguous", [(9,) * 5], None),
        ("aten::add.Tensor", "float64", "contiguous", [], "not claimed by m.yaml"),
        ("aten::addmm", "float32", "contiguous", [], "not claimed by m.yaml"),
        ("aten::add.Scalar", "float32", "contiguous", [], None),
        ("aten::add.Scalar", "int64", "contiguous", [], "not claimed by m.yaml:11: integers come in 2.0"),
        ("aten::square", "bfloat16", "contiguous", [(2, 3), ()], None),
        ("aten::square", "bfloat16", "offset.1", [(2, 3)], None),
        ("aten::square", "bfloat16", "strided.0", [(2, 3)], "not claimed by m.yaml"),
        ("aten::square", "bfloat16", "contiguous", [(2,), (2, 3, 0)], "not claimed by m.yaml:4: beyond max_rank 2"),
        ("aten::sqrt", "float16", "strided.0", [(2, 4)], None),
        ("aten::sqrt", "float16", "strided.0", [(9,)], "not claimed by m.yaml:7: beyond max_elements 8"),
        ("aten::sqrt", "float16", "contiguous", [(9,)], None),  # one of two claims is enough
        ("aten::sqrt", "float16", "contiguous", [(1, 1, 9)], "not claimed by m.yaml:4: beyond max_rank 2"),
        ("torch.nn.Linear", "float32", "contiguous", [], None),
    ],
)
def test_what_is_claimed(
    tmp_path: Path, op: str, dtype: str, layout: str, shapes: list[tuple[int, ...]], reason: str | None
) -> None:
    assert manifest(tmp_path).unclaimed(op, dtype, layout, lambda: shapes) == reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: expected keys with values"),
        ("claims: []\n", "1: `claims`: expected at least one, found none"),
        ("claims:\n- dtype: float32\n", "2: entry 1: `op`: the key is missing"),
        ("claims:\n- op: aten::ad\n", "2: entry 1: `op`: unknown operator 'aten::ad'; did you mean"),
        ("claims:\n- op: aten::nothing*\n", "2: entry 1: `op`: unknown operator"),
        ("claims:\n- op: aten::add\n  dtype: [float32, float]\n", "3: entry 1: `dtype`: unknown dtype 'float'"),
        ("claims:\n- op: aten::add\n  id: '*'\n", "3: entry 1: unknown key 'id'"),
        ("claims:\n- op: aten::add\n  values: typical\n", "3: entry 1: unknown key 'values'"),
        ("claims:\n- op: aten::add\n  line: 7\n", "3: entry 1: unknown key 'line'"),
        ("claims:\n- op: aten::add\n  max_rank: -1\n", "3: entry 1: `max_rank`: Input should be greater than"),
        ("claims:\n- op: aten::add\n  max_rank: '2'\n", "3: entry 1: `max_rank`: Input should be a valid integer"),
        ("claims:\n- op: aten::add\nlimits:\n- op: aten::add\n", "4: entry 1: `reason`: the key is missing"),
        ("claims:\n- op: aten::add\narithmetic:\n  compute: tf16\n", "4: `compute`: Input should be 'ieee'"),
        (
            "claims:\n- op: aten::add\narithmetic:\n  rounds_intermediates: aten::exp\n",
            "4 declares rounds_intermediates of 'aten::exp', which is one function without intermediates",
        ),
        ("claims: [\n", "2: not YAML"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(conform.UsageError) as error:
        manifest(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'm.yaml'}:{message}")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(conform.UsageError, match=r"--manifest '.*nowhere.yaml': there is no such file"):
        read(str(tmp_path / "nowhere.yaml"))


PLAIN = {
    "name": "mine", "compute": "ieee", "flushes_subnormals": False, "rounds_intermediates": [],
    "accumulates_in_element_type": [], "keeps_intermediates": False,
}  # fmt: skip


def declaring(tmp_path: Path, line: str) -> Manifest:
    return manifest(tmp_path, f"claims:\n- op: aten::add\narithmetic:\n  {line}\n")


@pytest.mark.parametrize(
    ("line", "described", "found"),
    [
        ("compute: tf32", {}, {"compute": "tf32"}),
        ("compute: tf32", {"compute": "tf32"}, {"compute": "tf32"}),
        ("flushes_subnormals: true", {"compute": "tf32"}, {"compute": "tf32", "flushes_subnormals": True}),
        ("flushes_subnormals: false", {}, {}),
        ("keeps_intermediates: true", {}, {"keeps_intermediates": True}),
        (
            "accumulates_in_element_type: [aten::sum, aten::prod]",
            {"accumulates_in_element_type": ["aten::prod", "aten::sum"]},
            {"accumulates_in_element_type": ["aten::sum", "aten::prod"]},
        ),
    ],
)
def test_arithmetic_of_the_manifest_is_that_of_the_class(
    tmp_path: Path, line: str, described: dict, found: dict
) -> None:
    assert declaring(tmp_path, line).declared(PLAIN | described) == PLAIN | found


@pytest.mark.parametrize(
    ("line", "described"),
    [
        ("compute: tf32", {"compute": "bf16x3"}),
        ("compute: ieee", {"compute": "tf32"}),
        ("flushes_subnormals: false", {"flushes_subnormals": True}),
        ("keeps_intermediates: false", {"keeps_intermediates": True}),
        ("accumulates_in_element_type: aten::sum", {"accumulates_in_element_type": ["aten::prod"]}),
    ],
)
def test_two_that_declare_different_arithmetic_are_both_named(tmp_path: Path, line: str, described: dict) -> None:
    (field,) = described
    with pytest.raises(conform.UsageError, match=rf"^m.yaml:4 declares {field} = .* and backend 'mine' declares"):
        declaring(tmp_path, line).declared(PLAIN | described)


@pytest.mark.parametrize(
    ("text", "is_right"), [(TEXT, True), (TEXT.replace("max_rank", "rank"), False), ("claims: []", False)]
)
def test_the_schema_of_editors_takes_what_the_kit_takes(text: str, is_right: bool) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    assert validator.is_valid(parse_yaml(text, Limits.from_environment())) == is_right
