"""torch's schemas as data: parsing, overload resolution, binding."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import conform.call.schemas
from conform.backends.libraries import LIBRARIES
from conform.call.binding import DTYPE_NAMES, bind, resolve
from conform.call.schemas import OpSchema, operator_names, overloads, schema
from conform.errors import UsageError

X = np.ones((2, 3), np.float32)
ZERO_D = np.array(2.0)


def test_a_schema_by_its_exact_name() -> None:
    add = schema("aten::add.Tensor")
    assert [(a.name, a.type, a.default, a.kwarg_only, a.has_default) for a in add.arguments] == [
        ("self", "Tensor", None, False, False),
        ("other", "Tensor", None, False, False),
        ("alpha", "Scalar", 1, True, True),
    ]
    assert add.returns == ("Tensor",)
    assert add.packet == "aten::add"
    assert str(add) == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


def test_results_are_types_without_names_and_aliases() -> None:
    assert schema("aten::sort").returns == ("Tensor", "Tensor")
    assert schema("aten::sort").aliases == (False, False)
    assert schema("aten::slice.Tensor").aliases == schema("aten::split.Tensor").aliases == (True,)
    assert schema("aten::add_.Tensor").returns == ("Tensor",)
    assert schema("aten::equal").returns == ("bool",)
    assert schema("aten::_foreach_add_.Scalar").returns == ()


@pytest.mark.parametrize(
    ("name", "argument", "default"),
    [
        ("aten::avg_pool2d", "stride", []),
        ("aten::avg_pool2d", "padding", [0, 0]),  # written as int[2] padding=0
        ("aten::conv2d", "dilation", [1, 1]),
        ("aten::gelu", "approximate", "none"),
        ("aten::native_batch_norm", "momentum", None),
        ("aten::layer_norm", "eps", 1e-5),
        ("aten::sum", "dtype", None),
        ("aten::sort", "dim", -1),
        ("aten::elu", "alpha", 1),
        ("aten::dropout_", "p", None),
    ],
)
def test_defaults_are_python_values(name: str, argument: str, default: object) -> None:
    found = next(a for a in schema(name).arguments if a.name == argument)
    assert found.default == default
    assert type(found.default) is type(default)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aten::add", ["aten::add.Tensor", "aten::add.Scalar"]),
        ("aten::index", ["aten::index.Tensor", "aten::index.Tensor_hacked_twin"]),
        ("aten::sum", ["aten::sum.dim_IntList", "aten::sum"]),
        ("aten::relu", ["aten::relu"]),
        ("aten::add_", ["aten::add_.Tensor", "aten::add_.Scalar"]),  # in place: nothing else carries the name
        ("aten::equal", ["aten::equal"]),  # returns no tensor
    ],
)
def test_overloads_are_the_tensor_ones_in_torchs_order(name: str, expected: list[str]) -> None:
    assert [one.name for one in overloads(name)] == expected


CALLS = [  # name, args, kwargs, overload
    ("aten::add", (X, X), {}, "aten::add.Tensor"),
    ("aten::add", (X, ZERO_D), {}, "aten::add.Tensor"),
    ("aten::add", (X, X), {"alpha": 2}, "aten::add.Tensor"),
    ("aten::where", (X > 0, X, 3.0), {}, "aten::where.ScalarOther"),
    ("aten::where", (X > 0, 3, X), {}, "aten::where.ScalarSelf"),
    ("aten::where", (X > 0,), {}, "aten::where"),
    ("aten::pow", (2, X), {}, "aten::pow.Scalar"),
    ("aten::sum", (X,), {}, "aten::sum"),
    ("aten::sum", (X, [1]), {}, "aten::sum.dim_IntList"),
    ("aten::sum", (X, 1), {}, "aten::sum.dim_IntList"),
    ("aten::sum", (X, None), {}, "aten::sum.dim_IntList"),
    ("aten::sum", (X,), {"dtype": "float64"}, "aten::sum"),
    ("aten::sort", (X,), {"stable": True}, "aten::sort.stable"),
    ("aten::sort", (X, 0, True), {}, "aten::sort"),
    ("aten::arange", (5,), {}, "aten::arange"),
    ("aten::arange", (1, 5), {}, "aten::arange.start"),
    ("aten::arange", (1, 5, 2), {}, "aten::arange.start_step"),
    ("aten::std", (X, True), {}, "aten::std"),
    ("aten::std", (X, [0]), {}, "aten::std.dim"),
    ("aten::std", (X,), {"correction": 0}, "aten::std.correction"),
    ("aten::max", (X, 1), {}, "aten::max.dim"),
    ("aten::max", (X, X), {}, "aten::max.other"),
    ("aten::index", (X, [None, np.array([0])]), {}, "aten::index.Tensor"),
    ("aten::clamp", (X, None, X), {}, "aten::clamp.Tensor"),
    ("aten::clamp", (X, 0), {}, "aten::clamp"),
    ("aten::div", (X, X), {"rounding_mode": "floor"}, "aten::div.Tensor_mode"),
    ("aten::to", (X, "float64"), {}, "aten::to.dtype"),
    ("aten::avg_pool2d", (X[None], 2), {}, "aten::avg_pool2d"),
    ("aten::slice", (X, 0, 0, 1), {}, "aten::slice.Tensor"),
    ("aten::cat", ([X, X], 1), {}, "aten::cat"),
    ("aten::scatter", (X, 0, X.astype(np.int64), 2.0), {}, "aten::scatter.value"),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "overload"), CALLS, ids=lambda value: str(value)[:30])
def test_a_bare_name_resolves_by_its_arguments(name: str, args: tuple, kwargs: dict, overload: str) -> None:
    assert resolve(name, args, kwargs).name == overload


def test_a_number_is_a_scalar_where_an_overload_takes_one_else_a_wrapped_tensor() -> None:
    assert resolve("aten::add", (X, 2), {}).name == "aten::add.Scalar"
    assert resolve("aten::add", (2, X), {}).name == "aten::add.Tensor"
    assert resolve("aten::maximum", (X, 2), {}).name == "aten::maximum"


def test_a_0d_tensor_fits_scalar_where_no_overload_takes_a_tensor() -> None:
    assert resolve("aten::arange", (ZERO_D,), {}).name == "aten::arange"
    assert resolve("aten::pow", (X, ZERO_D), {}).name == "aten::pow.Tensor_Tensor"


def test_binding_fills_defaults_in_schema_order() -> None:
    bound = bind(schema("aten::avg_pool2d"), (X[None], 2), {"padding": 1, "ceil_mode": True})
    assert list(bound) == ["self", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad",
                           "divisor_override"]  # fmt: skip
    assert bound.pop("self").shape == (1, 2, 3)
    assert list(bound.values()) == [[2, 2], [], [1, 1], True, True, None]


def test_defaults_are_not_shared_between_calls() -> None:
    first = bind(schema("aten::avg_pool2d"), (X, 2), {})
    first["stride"].append(7)
    assert bind(schema("aten::avg_pool2d"), (X, 2), {})["stride"] == []


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "message"),
    [
        ("aten::_softmax", (X, 1.5, False), {}, "aten::_softmax: argument 'dim': found 1.5, expected int"),
        ("aten::relu", (X, X), {}, "aten::relu takes at most 1 positional arguments, found 2"),
        ("aten::gelu", (X,), {"aproximate": "tanh"}, "has no argument 'aproximate'; did you mean 'approximate'?"),
        ("aten::_softmax", (X, 0), {}, "aten::_softmax: argument 'half_to_float' (bool) is missing"),
        ("aten::relu", (X,), {"self": X}, "argument 'self' is given by position and by name"),
        ("aten::_to_copy", (X,), {"dtype": "float"}, "argument 'dtype': found 'float', expected ScalarType? (a dtype"),
        ("aten::relu", ("x",), {}, "argument 'self': found 'x', expected Tensor"),
        ("aten::cat", ([X, 1.5j, "y"],), {}, "found [tensor of shape [2, 3], 1.5j, 'y'], expected Tensor[]"),
        ("aten::cat", ([X, 2],), {}, "found [tensor of shape [2, 3], 2], expected Tensor[]"),
    ],
)  # fmt: skip
def test_what_does_not_bind_names_operator_argument_found_and_expected(
    name: str, args: tuple, kwargs: dict, message: str
) -> None:
    with pytest.raises(UsageError) as error:
        bind(schema(name), args, kwargs)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("aten::soft_max", "unknown operator 'aten::soft_max'; did you mean 'aten::softmax'?"),
        ("aten::add.Tensr", "torch's aten::add has no such overload; did you mean 'aten::add.Tensor'?"),
        ("add", "operator 'add' has no namespace; did you mean 'aten::add'?"),
    ],
)
def test_an_unknown_operator_gets_a_suggestion(name: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        schema(name)
    assert message in str(error.value)


def test_no_overload_lists_what_torch_has() -> None:
    with pytest.raises(UsageError, match=r"no overload takes \(tensor of shape \[2, 3\], 'a'\); torch has\n"):
        resolve("aten::add", (X, "a"), {})


def test_every_schema_parses() -> None:
    parsed = [schema(name) for name in operator_names() if _has_schema(name)]
    assert len(parsed) > 3700
    assert all(argument.name.isidentifier() for one in parsed for argument in one.arguments)


def _has_schema(name: str) -> OpSchema | None:
    try:
        return schema(name)
    except UsageError:  # the bare name of an operator whose overloads all have names
        return None


def test_importing_needs_neither_torch_nor_numpy() -> None:
    probe = "import sys, conform.call.schemas; print({'torch', 'numpy'} & sys.modules.keys())"
    assert subprocess.check_output([sys.executable, "-c", probe], text=True).strip() == "set()"


# --- Against torch ----------------------------------------------------------------------------------------------------


def test_the_data_is_what_torch_has() -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13."):
        pytest.skip("the data is that of the pinned torch")
    shipped = set((Path(conform.call.schemas.__file__).parent / "data" / "aten_schemas.txt").read_text().splitlines())
    for module in LIBRARIES.values():
        importlib.import_module(module)
    namespaces = {"aten", *LIBRARIES}
    registered = {str(one) for one in torch._C._jit_get_all_schemas() if one.name.partition("::")[0] in namespaces}
    assert shipped == registered


def test_the_kits_own_operators_are_none_of_torchs() -> None:
    data = Path(conform.call.schemas.__file__).parent / "data"
    shipped = (data / "aten_schemas.txt").read_text().splitlines()
    (own,) = (data / "kit_schemas.txt").read_text().splitlines()
    assert own == str(schema("aten::cbrt")) == "aten::cbrt(Tensor self) -> Tensor"
    assert not any(line.startswith("aten::cbrt") for line in shipped)


def test_dtype_names_are_torchs() -> None:
    torch = pytest.importorskip("torch")
    dtypes = [value for value in vars(torch).values() if isinstance(value, torch.dtype)]
    assert {str(dtype).removeprefix("torch.") for dtype in dtypes} == DTYPE_NAMES


@pytest.mark.parametrize(("name", "args", "kwargs", "overload"), CALLS, ids=lambda value: str(value)[:30])
def test_torch_resolves_the_same(name: str, args: tuple, kwargs: dict, overload: str) -> None:
    torch = pytest.importorskip("torch")

    def to_torch(value: object) -> object:
        if isinstance(value, np.ndarray):
            return torch.from_numpy(value.copy())
        if isinstance(value, list | tuple):
            return [to_torch(element) for element in value]
        return getattr(torch, value) if isinstance(value, str) and value in DTYPE_NAMES else value

    arguments = [to_torch(arg) for arg in args]
    keywords = {key: to_torch(value) for key, value in kwargs.items()}
    found = torch._C._jit_resolve_packet(name, *arguments, **keywords)
    assert name + (f".{found}" if found not in ("", "default") else "") == overload
