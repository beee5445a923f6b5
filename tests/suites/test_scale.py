"""The sizes of the suites `scale` and `huge`, and of core: which calls they are, and that none is lost."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from math import prod

import numpy as np
import pytest

from conform.domains.engine.meta_argument import tensor_metas
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import spec_of, specs
from conform.interp.semantics import traits_of
from conform.numerics.draws import Stream
from conform.numerics.formats import format_named
from conform.suites import load
from conform.suites.derived import scale
from conform.suites.nodes import Draw
from tests.suites.sizes import admits


def names(targets: Iterator) -> list[str]:
    return [one.name for one in targets]


def shapes(op: str, name: str) -> list[tuple[int, ...]]:
    found = next(one for one in scale.of_sizes(spec_of(op)) if one.name == name)
    return [meta.shape for meta in found.tuple_.arguments.values() if meta.type.is_tensor and not meta.optional]


def test_a_dim_of_each_operand_of_a_product_is_long_in_turn() -> None:
    assert names(scale.in_core(spec_of("aten::mm"))) == [
        "line_4097", "line_100003", "many_rows_100003", "self_dim0_4097", "mat2_dim1_4097",
    ]  # fmt: skip
    assert shapes("aten::mm", "line_100003") == [(2, 100003), (100003, 3)]
    assert shapes("aten::mm", "many_rows_100003") == [(100003, 2), (2, 2)]
    assert shapes("aten::mm", "mat2_dim1_65537") == [(3, 5), (5, 65537)]
    assert shapes("aten::mm", "square_257") == [(257, 257), (257, 257)]


def test_a_line_is_read_along_the_last_dim_and_along_the_first() -> None:
    assert shapes("aten::_softmax", "line_128256") == [(2, 128256)]
    assert shapes("aten::_softmax", "dim0_65537") == [(65537, 5)]
    assert shapes("aten::_softmax", "line_16777217") == [(16777217,)]


# The dim that is read has 2 or 3 elements, or a multiple of 32; of attention's kernels for devices, and of products of
# groups, of 8, at most 256. The tensors of GradScaler's scale have one element.
OF_OTHER_LINES = (
    "aten::cross", "aten::linalg_cross", "aten::_weight_int8pack_mm", "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_cudnn_attention", "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_fused_attention_overrideable", "aten::view_as_complex",
    "aten::_grouped_mm", "aten::_amp_update_scale",
)


@pytest.mark.rotating(60)
@pytest.mark.parametrize("spec", [one for one in specs() if one.first_tensor], ids=lambda spec: spec.name)
def test_every_op_on_tensors_has_every_length_of_a_line_and_one_in_every_dtype(spec: OpSpec) -> None:
    found = names(scale.of_sizes(spec))
    assert len(set(found)) == len(found)
    assert set(names(scale.in_core(spec))) <= set(found)
    if spec.name in OF_OTHER_LINES or traits_of(spec.name).matrices:  # exact solutions of long systems take too long
        return
    assert {f"line_{size}" for size in scale.LINE if admits(spec.first_tensor, size)} <= set(found)
    is_left_out = spec.data is not None and spec.data.may_be_none
    assert is_left_out or not admits(spec.first_tensor, scale.IN_EVERY_DTYPE) or of_line(spec) >= set(spec.dtypes)
    assert (f"line_{scale.COUNTER}" in found) == bool(traits_of(spec.name).along)


def of_line(spec: OpSpec) -> set[str]:
    """The dtypes of the data in the calls of the one size in every dtype; where Python numbers stand for data, those
    that the names say."""
    name = f"line_{scale.IN_EVERY_DTYPE}"
    named = {name: "float32"} | {f"{name}_{dtype}": dtype for dtype in spec.dtypes}
    lines = [one for one in scale.of_sizes(spec) if one.name in named]
    if spec.data is None:
        return {named[one.name] for one in lines}
    return {meta.dtype for one in lines for meta in tensor_metas(one.tuple_.arguments[spec.data.name])}


def test_huge_calls_have_more_elements_than_32_bits_index_and_fit() -> None:
    found = {spec.name: list(scale.of_huge_sizes(spec)) for spec in specs()}
    assert [one.name for one in found["aten::neg"]] == ["line_2147483649_uint8"]
    assert found["aten::exp"] == []  # no integer result
    for spec_name, targets in found.items():
        for one in targets:
            metas = [meta for given in one.tuple_.arguments.values() for meta in tensor_metas(given)]
            assert max(prod(meta.shape) for meta in metas) > 2**31, spec_name
            assert sum(prod(meta.shape) * format_named(meta.dtype).storage.itemsize for meta in metas) <= 2**32 + 2**20


def test_what_core_and_scale_share_is_run_once() -> None:
    both = load(["core", "scale"], ops=["aten::mm"])
    ids = [test.id for test in both.tests]
    assert len(set(ids)) == len(ids)
    assert ids.count("mm/line_4097") == 1
    assert {test.id for test in load(["scale"], ops=["aten::mm"]).tests} <= set(ids)


@pytest.mark.parametrize(
    "draw", [Draw("normal"), Draw("uniform", -1.0, 1.0), Draw("bernoulli", p=0.5), Draw("randint")]
)
@pytest.mark.parametrize("dtype", ["float32", "complex64", "uint8"])
def test_large_draws_are_made_in_pieces_and_are_the_same(
    draw: Draw, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = import_module("conform.suites.sample")  # the package has a function of that name
    fmt, shape = format_named(dtype), (3, 101)
    whole = sample.draw_array(draw, fmt, shape, Stream(0, "test", 0, "in.0"))
    monkeypatch.setattr(sample, "_PIECE", 64)
    np.testing.assert_array_equal(sample.draw_array(draw, fmt, shape, Stream(0, "test", 0, "in.0")), whole)


def test_core_leaves_what_would_take_seconds_to_the_suite_scale() -> None:
    """Rows of many results are fewer; a transform adds up its whole line for every result."""
    core, whole = (names(each(spec_of("aten::replication_pad3d"))) for each in (scale.in_core, scale.of_sizes))
    assert "many_rows_4097" in core
    assert "many_rows_100003" not in core
    assert {"many_rows_4097", "many_rows_100003"} <= set(whole)
    core = names(scale.in_core(spec_of("aten::_fft_c2r")))
    assert "line_4097" in core
    assert "line_100003" not in core


def test_the_longest_line_of_core_is_run_on_the_probes_of_which_a_bound_hides_nothing() -> None:
    values = {one.name: one.values for one in scale.in_core(spec_of("aten::sum.dim_IntList"))}
    assert (values["line_4097"], values["line_100003"]) == ("sums", "long sums")
    values = {one.name: one.values for one in scale.of_sizes(spec_of("aten::sum.dim_IntList"))}
    assert values["line_100003"] == "sums"
