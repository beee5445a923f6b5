"""Tests made from argument specs: what a tuple becomes in the test language, and what the suites hold."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from conform.documents.limits import Limits
from conform.documents.source import parse_yaml
from conform.domains.engine.argument_generator import arguments
from conform.domains.engine.arguments import dim, dtype, index_tensor, integers, optional, scalar, tensor, tensors
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument, elements_of
from conform.domains.engine.meta_tuple import MetaTuple, invalid_tuples, valid_tuples
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import spec_of, specs
from conform.errors import UsageError
from conform.numerics.draws import Stream
from conform.suites import Test, load, nodes, sample
from conform.suites.cases import Selection
from conform.suites.generated.as_nodes import nodes_of
from conform.suites.generated.tests import as_test, suite_tests
from conform.suites.generated.yaml_text import lines_of, node_text
from conform.suites.select import select
from conform.suites.test import Domain
from tests.every_spec import every_spec

TUPLES = 4  # of each spec that go through the file and back


def made_of(spec: OpSpec) -> list[tuple[MetaTuple, Test]]:
    every = [*itertools.islice(valid_tuples(spec, 0), TUPLES), *itertools.islice(invalid_tuples(spec, 0), TUPLES)]
    return [(one, as_test(spec, one, 0)) for one in every]


# --- One tuple --------------------------------------------------------------------------------------------------------


def of_shape(*sizes: int) -> tuple[Any, ...]:
    return Rank.Eq(len(sizes)), Size.Eq(lambda d: sizes[d])


def lines(spec: OpSpec, *, invalid: bool = False) -> list[str]:
    """The first call of a spec, without its id."""
    one = next((invalid_tuples if invalid else valid_tuples)(spec, 0))
    return [line for line in lines_of(as_test(spec, one, 0)) if not line.startswith("  - id:")]


def test_every_kind_of_argument_has_its_node() -> None:
    spec = OpSpec(
        "aten::add.Tensor",
        [
            tensor("self", Dtype.Eq("float16"), of_shape(2, 3)),
            tensor("other", Dtype.Eq("int8"), Rank.Eq(0)),
            scalar("alpha", Dtype.Eq("float"), Value.Eq(1e-5)),
        ],
    )
    assert lines(spec) == [
        "    op: aten::add.Tensor",
        "    in:",
        "      - {type: tensor, shape: [2, 3], dtype: float16}",
        "      - {type: scalar_tensor, dtype: int8}",
        "    kwargs:",
        "      alpha: {type: const, value: 1.0e-05}",
    ]


def test_indices_are_drawn_within_their_bounds() -> None:
    index = index_tensor("index", Dtype.Eq("int64"), of_shape(4), Value.Ge(0), Value.Lt(lambda self: self.size(1)))
    spec = OpSpec(
        "aten::index_select", [tensor("self", Dtype.Eq("bool"), of_shape(2, 3)), dim("dim", Value.Eq(1)), index]
    )
    assert lines(spec)[2:] == [
        "      - {type: tensor, shape: [2, 3], dtype: bool}",
        "      - {type: const, value: 1}",
        "      - {type: tensor, shape: [4], dtype: int64, init: randint, low: 0, high: 2}",
    ]


def test_open_ends_are_not_drawn() -> None:
    probability = tensor("self", Dtype.Eq("float32"), of_shape(2), Value.Gt(0), Value.Le(1))
    assert lines(OpSpec("aten::log", [probability]))[2:] == [
        "      - {type: tensor, shape: [2], dtype: float32, init: uniform, low: 0.00390625, high: 1.0}"
    ]


def test_a_discrete_set_is_written_out() -> None:
    spec = OpSpec("aten::neg", [tensor("self", Dtype.Eq("int32"), of_shape(3), Value.In((7,)))])
    assert lines(spec)[2:] == ["      - {type: const_tensor, shape: [3], dtype: int32, value: [7, 7, 7]}"]


def test_elements_that_are_written_out_are_those_of_the_whole_call() -> None:
    """Though of the others, such as the floats of self before the mask, nothing is drawn."""
    spec, behind_floats = spec_of("aten::masked_scatter"), 0
    for one in itertools.islice(valid_tuples(spec, 0), 40):
        (_, mask, _), _ = nodes_of(spec, one, Stream(0, "a", 0, "b"))
        if mask.draw is None:
            assert mask.value == arguments(spec, one, Stream(0, "a", 0, "b")).args[1].tolist()
            behind_floats += one.arguments["self"].dtype.startswith("float")
    assert behind_floats > 2


def test_lists_none_and_empty_lists() -> None:
    like = (Dtype.Eq("float64"), of_shape(1))
    pair = OpSpec("aten::cat", [tensors("tensors", Length.Eq(2), *like), dim("dim", Value.Eq(-1))])
    mixed = OpSpec("aten::cat", [tensors("tensors", Length.Eq(2), Dtype.Eq(lambda i: ("int8", "bool")[i]), of_shape(1)),
                                 dim("dim", Value.Eq(-1))])  # fmt: skip
    none = OpSpec("aten::cat", [tensors("tensors", Length.Eq(0)), dim("dim", Value.Eq(-1))])
    assert lines(pair)[2] == "      - {type: list, len: 2, elem: {type: tensor, shape: [1], dtype: float64}}"
    assert lines(mixed)[2] == (
        "      - {type: tuple, elems: "
        "[{type: tensor, shape: [1], dtype: int8}, {type: tensor, shape: [1], dtype: bool}]}"
    )
    assert lines(none)[2] == "      - {type: const, value: []}"
    order = OpSpec("aten::permute", [tensor("self", *like), integers("dims", Length.Eq(1), Value.Eq(-1))])
    assert lines(order)[3] == "      - {type: int_list, elems: [-1]}"


def test_dtypes_and_complex_numbers() -> None:
    copy = OpSpec("aten::_to_copy", [tensor("self", Dtype.Eq("bool"), of_shape(1)),
                                     optional(dtype("dtype", Value.Eq("int16")))])  # fmt: skip
    shown = {tuple(lines_of(as_test(copy, one, 0)))[-1] for one in itertools.islice(valid_tuples(copy, 0), 8)}
    assert '      dtype: {type: const, value: "int16"}' in shown
    complex_ = OpSpec("aten::mul.Scalar", [tensor("self", Dtype.Eq("bool"), of_shape(1)),
                                           scalar("other", Dtype.Eq("complex"))])  # fmt: skip
    assert lines(complex_)[3] == "      - {type: scalar, dtype: complex128, low: -4.0, high: 4.0}"


def test_a_broken_constraint_is_named_as_mathematics() -> None:
    spec = OpSpec("aten::neg", [tensor("self", Dtype.Ne("bool").lenient("some do"), of_shape(2))])
    one = next(valid_tuples(spec, 0))
    broken = next(invalid_tuples(spec, 0))
    assert as_test(spec, one, 0).domain == Domain(None, None)
    assert as_test(spec, broken, 0).domain == Domain("dtype(self) != bool", "some do")
    entry = ["  # breaks: dtype(self) != bool", "    op: aten::neg", '    lenience: "some do"']
    assert lines(spec, invalid=True)[:3] == entry


def test_one_element_lies_outside() -> None:
    spec = OpSpec("aten::log", [tensor("self", Dtype.Eq("float32"), of_shape(9), Value.Gt(0))])
    outside = next(one for one in invalid_tuples(spec, 0) if str(one.broken) == "0 < self")
    (node,) = as_test(spec, outside, 0).inputs
    assert sum(element <= 0 for element in node.value) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-5, "1.0e-05"),  # YAML 1.1 takes 1e-05 for a string
        (1e22, "1.0e+22"),
        (2.0, "2.0"),
        (float("inf"), ".inf"),
        (-float("inf"), "-.inf"),
        (True, "true"),
        (None, "null"),
        ("no", '"no"'),  # YAML 1.1 takes no for false
        ([True, 0.5], "[true, 0.5]"),
    ],
)
def test_literals(value: object, text: str) -> None:
    assert node_text(nodes.Const(value)) == f"{{type: const, value: {text}}}"


# --- Every spec -------------------------------------------------------------------------------------------------------


@every_spec
def test_the_file_gives_the_tests_that_were_written(spec: OpSpec, tmp_path: Path) -> None:
    made = [test for _, test in made_of(spec)]
    text = "\n".join(["tests:", *(line for test in made for line in lines_of(test))])
    path = tmp_path / "generated.yaml"
    path.write_text(text, encoding="utf-8")
    read = load([path]).tests
    assert [(one.id, one.op, repr(one.inputs), repr(one.kwargs)) for one in read] == [
        (one.id, one.op, repr(one.inputs), repr(one.kwargs)) for one in made
    ]  # written out, NaN is NaN
    assert plain(yaml.safe_load(text)) == plain(parse_yaml(text, Limits()))


def plain(value: Any) -> Any:
    """Values whose types are compared too: 1 is not 1.0, nor True."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return (str, str(value)) if isinstance(value, str) else (type(value), repr(value))  # NaN is NaN


@every_spec
def test_a_replayed_call_is_the_generated_one(spec: OpSpec) -> None:
    for tuple_, test in made_of(spec):
        wanted = arguments(spec, tuple_, Stream(0, "any", 0, "data"))
        found = sample(test, {}, partial(Stream, 0), 0)
        assert outline(found.args) == outline(wanted.args), tuple_
        assert outline(found.kwargs) == outline(wanted.kwargs), tuple_
        for name, array in named_tensors(spec, tuple_, test, found):
            space = tuple_.arguments[name].value
            if is_demanded(tuple_.arguments[name]):
                assert all(element in space for element in array.reshape(-1).tolist()), (tuple_, name, space)


def is_demanded(meta: MetaArgument) -> bool:
    """Whether something is demanded of all elements of a tensor, which is not what they can be without it: what a Gen
    gives has infinities and NaN as well."""
    return meta.value not in (None, elements_of(meta.dtype)) and meta.outside is None and not meta.type.is_list


def outline(value: Any) -> Any:
    """Everything but the elements of tensors and the parts of complex numbers; a tuple stands for a list."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape
    if isinstance(value, dict):
        return {name: outline(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [outline(item) for item in value]
    return type(value), None if isinstance(value, complex) else value


def named_tensors(spec: OpSpec, tuple_: MetaTuple, test: Test, found: Any) -> Iterator[tuple[str, np.ndarray]]:
    names = [name for name in tuple_.arguments if name not in tuple_.omitted and name not in test.kwargs]
    for name, value in (*zip(names, found.args, strict=True), *found.kwargs.items()):
        if isinstance(value, np.ndarray):
            yield name, value


# --- The suites -------------------------------------------------------------------------------------------------------


def ids(name: str, **how: Any) -> list[str]:
    return [test.id for test in suite_tests(name, how.pop("seed", 0), **how)]


def test_ids_name_suite_op_and_number() -> None:
    assert ids("generated", ops=["aten::neg"])[:2] == ["generated/aten::neg/0000", "generated/aten::neg/0001"]
    assert ids("negative", ops=["aten::neg"])[0] == "negative/aten::neg/0000"


def test_a_filter_makes_only_what_it_may_select() -> None:
    overloads = {each.split("/")[1] for each in ids("generated", ops=["aten::add"])}
    assert overloads == {"aten::add.Tensor", "aten::add.Scalar"}
    one = ids("generated", ids=["generated/aten::add.Tensor/0003/*"])
    assert {each.split("/")[1] for each in one} == {"aten::add.Tensor"}


def test_a_filter_that_selects_nothing_leaves_what_it_may_have_meant() -> None:
    assert "generated/aten::neg/0000" in ids("generated", ids=["negative/*"])
    with pytest.raises(UsageError, match="--op 'aten::negg' matches no case of the suite; did you mean 'aten::neg'"):
        select(load(["generated"], ops=["aten::negg"]), Selection(ops=["aten::negg"]))


def test_filters_change_neither_the_tests_nor_the_digest() -> None:
    whole, part = load(["generated"], ops=["aten::a*"]), load(["generated"], ops=["aten::atan2"])
    named = {test.id: (test.inputs, test.kwargs) for test in whole.tests}
    assert part.tests
    assert all(named[test.id] == (test.inputs, test.kwargs) for test in part.tests)
    assert whole.digest == part.digest != load(["negative"], ops=["aten::atan2"]).digest


def test_the_seed_varies_the_tests() -> None:
    first, again, other = (load(["generated"], seed=seed, ops=["aten::add.Tensor"]).tests for seed in (0, 0, 1))
    assert [test.inputs for test in first] == [test.inputs for test in again] != [test.inputs for test in other]


@pytest.mark.rotating
@pytest.mark.parametrize("spec", specs(), ids=lambda one: one.name)
def test_the_suite_has_every_dtype_and_breaks_every_constraint(spec: OpSpec) -> None:
    tests = [test for test in suite_tests("generated", 0, ops=[spec.name]) if test.op == spec.name]
    names = [argument.name for argument in spec.schema.arguments]
    if spec.data:
        data = [{**dict(zip(names, test.inputs, strict=False)), **test.kwargs}.get(spec.data.name) for test in tests]
        assert {dtype for node in data for dtype in dtypes_of(node)} >= set(spec.dtypes)
    tuples = invalid_tuples(spec, 0)
    list(itertools.islice(tuples, len(spec.constraints)))
    breakable = {str(one) for one in spec.constraints if one.suffix not in ("Be", "Gen")}
    broken = {test.domain.broken for test in suite_tests("negative", 0, ops=[spec.name]) if test.op == spec.name}
    assert broken >= breakable - {str(one) for one, _ in tuples.unreachable}


def dtypes_of(node: nodes.Node | None) -> list[str]:
    """Of the tensors in it, or the one that it names."""
    if isinstance(node, nodes.Const):
        return [] if node.value == [] else [node.value]  # a list may have no tensor
    return [one.dtype for one in nodes.tensors(node)] if node else []
