"""Specification: "Test cases" (the fields of a test, its examples), "Complex tensor handling"."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from conform.numerics.draws import Stream
from conform.suites import load, sample, variants
from conform.suites.test import Domain

X = "{type: tensor, shape: [4], dtype: float32}"


@pytest.fixture
def problems(errors):
    return lambda test: [line.split(": ", 1)[1] for line in errors(f"tests:\n- {test}")]


def test_the_simple_example(loaded) -> None:
    (test,) = loaded("""
        tests:
          - id: add_vectors
            op: aten::add
            in:
              - {type: tensor, shape: [4], dtype: float32, init: normal}
              - {type: tensor, shape: [4], dtype: float32, init: normal}
    """)
    assert (test.id, test.op, len(test.inputs), test.kwargs) == ("add_vectors", "aten::add", 2, {})
    assert (test.impl, test.device, test.cast_input0_to_complex, test.pair, test.builtin) == (
        None,
        None,
        False,
        None,
        False,
    )
    assert test.location.endswith("suite.yaml:3")


def test_all_fields(loaded) -> None:
    (test,) = loaded(f"""
        tests:
          - id: everything
            impl: mine
            op: aten::add.Tensor
            in: [{X}, {X}]
            kwargs: {{alpha: {{type: const, value: 2}}}}
            out: [not, validated, {{type: nonsense}}]
            device: cuda
            lenience: as torch has it
            cast_input0_to_complex: false
    """)
    assert (test.impl, test.op, test.device) == ("mine", "aten::add.Tensor", "cuda")
    assert test.domain == Domain(broken=None, lenience="as torch has it")
    assert list(test.kwargs) == ["alpha"]


@pytest.mark.parametrize("missing", ["op", "in"])
def test_op_and_in_are_required(problems, missing: str) -> None:
    fields = {"op": "aten::relu", "in": f"[{X}]"}
    del fields[missing]
    text = ", ".join(f"{key}: {value}" for key, value in fields.items())
    (message,) = problems(f"{{id: t, {text}}}")
    assert message.endswith(f"{missing}: the key {missing!r} is missing")


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("devise: cpu", "devise: unknown key 'devise'; did you mean 'device'?"),
        ("device: xpu", "device: expected 'cpu', 'gpu', 'cuda' or 'mps', found 'xpu'; did you mean 'gpu'?"),
        ("device: null", "device: expected 'cpu', 'gpu', 'cuda' or 'mps', found null"),
        ("kwargs: [1]", "kwargs: expected a mapping, found a list"),
        (
            "kwargs: {self: 3}",
            "kwargs.self: expected a node (a mapping with a type), found 3; a literal is {type: const, value: 3}",
        ),
        (
            "kwargs: {selv: {type: const, value: 3}}",
            "kwargs.selv: aten::relu has no argument 'selv'; did you mean 'self'?",
        ),
        ("impl: ''", "impl: expected a name, found ''"),
        ("lenience: true", "lenience: expected a string, found true"),
        ("cast_input0_to_complex: yes", "cast_input0_to_complex: expected true or false, found 'yes'"),
    ],
)  # fmt: skip
def test_other_fields_and_values_are_errors(problems, field: str, message: str) -> None:
    assert problems(f"{{id: t, op: aten::relu, in: [{X}], {field}}}") == [f"test 't' (aten::relu), {message}"]


def test_a_module_has_no_domain(problems) -> None:
    (message,) = problems("{id: t, op: {type: module, path: torch.nn.Linear, args: [2, 2]}, lenience: why, in: []}")
    assert message.endswith("lenience: only an operator's arguments may be outside its domain, not a module's")


# --- Operators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("aten::soft_max", "unknown operator 'aten::soft_max'; did you mean 'aten::softmax'?"),
        ("aten::relu.Tensor", "operator 'aten::relu.Tensor': torch's aten::relu has no such overload"),
        ("relu", "operator 'relu' has no namespace; did you mean 'aten::relu'?"),
    ],
)
def test_an_operator_that_torch_does_not_have_is_an_error(problems, op: str, message: str) -> None:
    (found,) = problems(f"{{id: t, op: {op}, in: []}}")
    assert found.startswith(f"test 't' ({op}), op: {message}")


@pytest.mark.parametrize(
    ("op", "argument", "value", "message"),
    [
        ("aten::sum", "dtype", "flaot64",
         "found 'flaot64', expected ScalarType? (a dtype name such as 'float32'); did you mean 'float64'?"),
        ("aten::sum", "dtype", "torch.float64",
         "found 'torch.float64', expected ScalarType? (a dtype name such as 'float32'); did you mean 'float64'?"),
        ("aten::_to_copy", "layout", "stridde", "did you mean 'strided'?"),
        ("aten::_to_copy", "memory_format", "chanels_last", "did you mean 'channels_last'?"),
        ("aten::_to_copy", "device", "cudda:1", "did you mean 'cuda'?"),
        ("aten::_to_copy", "device", "cuda:x", "found 'cuda:x', expected Device? (cpu, cuda, fpga"),
    ],
)  # fmt: skip
def test_a_misspelt_dtype_layout_memory_format_or_device(problems, op, argument, value, message) -> None:
    kwargs = f"kwargs: {{{argument}: {{type: const, value: '{value}'}}}}"
    (found,) = problems(f"{{op: {op}, in: [{{type: tensor, shape: [2], kind: float}}], {kwargs}}}")
    assert f"kwargs.{argument}.value: found" in found
    assert message in found


def test_an_operator_that_only_torch_has_loads(loaded) -> None:
    assert loaded("tests: [{op: aten::linalg_eig, in: []}]")[0].op == "aten::linalg_eig"


# --- Ids --------------------------------------------------------------------------------------------------------------


def test_ids_are_generated_where_absent(loaded) -> None:
    tests = loaded(f"""
        tests:
        - {{op: aten::relu, in: [{X}]}}
        - {{op: aten::add.Tensor, in: [{X}, {X}]}}
        - {{op: aten::relu, in: [{X}]}}
        - {{id: suite.relu.3, op: aten::relu, in: [{X}]}}
        - {{op: aten::relu, in: [{X}]}}
        - {{op: {{type: module, path: torch.nn.ReLU}}, in: [{X}]}}
    """)
    assert [test.id for test in tests] == [
        "suite.relu.1", "suite.add.Tensor.1", "suite.relu.2", "suite.relu.3", "suite.relu.4", "suite.ReLU.1",
    ]  # fmt: skip


def test_a_duplicate_id_is_an_error(errors) -> None:
    test = f"{{id: t, op: aten::relu, in: [{X}]}}"
    (message,) = errors(f"tests:\n- {test}\n- {test}")
    assert message.startswith("3:8: test 't' (aten::relu), id: the id 't' is already that of a test at ")
    assert message.endswith("suite.yaml:2")


@pytest.mark.parametrize("text", ['""', '" t"', '"a\\nb"', '"a\\tb"', "3"])
def test_an_id_is_one_line_of_text(problems, text: str) -> None:
    (message,) = problems(f"{{id: {text}, op: aten::relu, in: []}}")
    assert "id: expected " in message


# --- Complex tensors --------------------------------------------------------------------------------------------------


def test_the_first_input_is_cast_from_its_packed_form(tmp_path) -> None:
    def draw(cast: str) -> np.ndarray:
        path = tmp_path / "s.yaml"
        path.write_text(
            f"tests:\n- {{id: t, op: aten::abs, in: [{{type: tensor, shape: [3, 2], dtype: float64}}], "
            f"cast_input0_to_complex: {cast}}}"
        )
        (test,) = load([path]).tests
        return sample(test, {}, functools.partial(Stream, 0), 0).args[0]

    packed, cast = draw("false"), draw("true")
    assert cast.dtype == np.complex128
    assert cast.shape == (3,)
    assert cast.tobytes() == packed.tobytes()


def test_casting_a_complex_input_does_nothing(loaded) -> None:
    (test,) = loaded(
        "tests: [{op: aten::abs, in: [{type: tensor, shape: [3], dtype: complex64}], cast_input0_to_complex: true}]"
    )
    drawn = sample(test, {}, functools.partial(Stream, 0), 0).args[0]
    assert (drawn.dtype, drawn.shape) == (np.complex64, (3,))


def test_only_float32_and_float64_are_cast(loaded) -> None:
    (test,) = loaded(
        "tests: [{op: aten::abs, in: [{type: tensor, shape: [3, 2], kind: float}], cast_input0_to_complex: true}]"
    )
    assert variants(test, None, ["float16"]) == []
    assert variants(test, None, ["float16", "complex128"]) == [{"float": "float64"}]


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("{type: tensor, shape: [3], kind: float}", "expected a float tensor with a last dimension of 2"),
        ("{type: tensor, shape: [2], kind: int}", "expected a float tensor with a last dimension of 2"),
        ("{type: const, value: 1}", "expected a float tensor with a last dimension of 2"),
        ("{type: tensor, shape: [2], dtype: float16}", "no complex format has parts of float16"),
    ],
)
def test_what_cannot_be_cast(problems, node: str, message: str) -> None:
    (found,) = problems(f"{{id: t, op: aten::abs, in: [{node}], cast_input0_to_complex: true}}")
    assert f"cast_input0_to_complex: {message}" in found
