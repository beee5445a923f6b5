"""The registry of argument specs, and the specs against torch's schemas."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import conform
from conform.call.families import FAMILIES
from conform.call.schemas import operator_names
from conform.domains.engine.argument_generator import arguments
from conform.domains.engine.arguments import tensor
from conform.domains.engine.meta_tuple import MetaTuple, invalid_tuples
from conform.domains.engine.vocabulary import positive_in
from conform.domains.specs import spec, spec_of, specs
from conform.interp.semantics import names
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS


def test_an_overload_has_its_own_spec_and_a_name_without_overload_its_first() -> None:
    assert spec_of("aten::div.Tensor_mode").name == "aten::div.Tensor_mode"
    assert spec_of("aten::sum").name == "aten::sum"
    assert spec_of("aten::div").name == "aten::div.Tensor"
    assert spec_of("aten::cat.names") is None
    assert spec_of("aten::nothing") is None


def test_a_second_registration_is_refused() -> None:
    known = spec_of("aten::exp")
    with pytest.raises(ValueError, match="aten::exp: registered twice"):
        spec("aten::exp", tensor("self"))
    assert spec_of("aten::exp") is known


def test_a_spec_that_does_not_fit_its_schema_is_not_registered() -> None:
    with pytest.raises(ValueError, match="aten::geqrf: found the arguments index, expected self"):
        spec("aten::geqrf", tensor("index"))
    assert spec_of("aten::geqrf") is None


def test_every_overload_with_semantics_has_a_spec_and_no_other() -> None:
    assert sorted(one.name for one in specs()) == sorted(names())


def test_every_spec_names_an_op_and_formats() -> None:
    for one in specs():
        assert one.name in operator_names()
        assert one.dtypes
        assert set(one.dtypes) <= set(FORMATS)
        assert len(set(one.dtypes)) == len(one.dtypes)


def test_of_scales_in_integers_the_dtype_alone_is_wrong() -> None:
    """A fraction would be 0 there, which breaks the least scale beside the dtype."""
    assert positive_in("int8", np.array([0.25, 0.03, 2.0])).tolist() == [1, 1, 2]
    assert positive_in("float64", np.array([0.25, 0.03, 2.0])).tolist() == [0.25, 0.03, 2.0]
    held = spec_of("quantized_decomposed::dequantize_per_tensor.tensor")
    broken = [one for one in itertools.islice(invalid_tuples(held, 0), 60) if is_of_integers(one)]
    assert broken
    for one in broken:
        assert (arguments(held, one, Stream(0, "scale", one.number, "data")).args[1] >= 1).all()


def is_of_integers(one: MetaTuple) -> bool:
    scale = one.arguments["scale"]
    return "dtype(scale)" in str(one.broken) and "int" in scale.dtype and scale.numel > 0


PACKAGE = Path(conform.__file__).parent
OTHERS = {  # modules of a room that are no family
    "domains": {"engine", "specs"},
    "refs": {"exact", "references", "stablehlo"},
    "inputs/edges": {"levels", "rows"},
}
ROOMS = [*OTHERS, "interp/ops", "suites/core"]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_families_of_the_one_list_alone(room: str) -> None:
    names = {path.stem for path in (PACKAGE / room).iterdir() if not path.name.startswith("_")}
    assert names - OTHERS.get(room, set()) <= set(FAMILIES)


def test_every_constraint_prints_as_a_statement() -> None:
    constraints = [each for spec in specs() for one in (*spec.arguments, *spec.results) for each in one.constraints]
    assert all(str(each) and "<lambda>" not in str(each) for each in constraints)
    last = spec_of("aten::convolution_backward").results[2].constraints[-1]
    assert str(last) == "(result is None) = not output_mask[2]"
