"""The front door for users of torch: its tensors, constants and functions are taken, and others do not import it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from torch.nn import functional

import conform
from conform import from_torch
from conform.call.schemas import operator_names
from conform.errors import Unjudged, UsageError

X = torch.tensor([0.0, 1.0])
E = 2.7182817459106445  # the float32 nearest to e


# --- Tensors ----------------------------------------------------------------------------------------------------------


def test_a_tensor_is_its_elements() -> None:
    truth = conform.golden("aten::exp", X)
    assert isinstance(truth.value, np.ndarray)
    assert (truth.value.dtype, truth.value.tolist()) == (np.float32, [1.0, E])
    assert truth.error_ulp(torch.tensor([1.0 - 2**-23, 1.0])).tolist()[0] == 1.0


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.tensor([True, False]), np.array([True, False])),
        (torch.tensor([1, 255], dtype=torch.uint8), np.uint8([1, 255])),
        (torch.tensor([1, 65535], dtype=torch.uint16), np.uint16([1, 65535])),
        (torch.tensor([2**63 - 1]), np.int64([2**63 - 1])),
        (torch.tensor([1.5, -0.0]).bfloat16(), np.array([1.5, -0.0], ml_dtypes.bfloat16)),
        (torch.tensor([448.0]).to(torch.float8_e4m3fn), np.array([448.0], ml_dtypes.float8_e4m3fn)),
        (torch.tensor([1 + 2j]), np.complex64([1 + 2j])),
        (torch.tensor([1 + 2j]).conj(), np.complex64([1 - 2j])),
        (torch.tensor([1 + 2j]).conj().imag, np.float32([-2])),
        (torch.arange(6.0).reshape(2, 3).T, np.float32([[0, 3], [1, 4], [2, 5]])),
        (torch.arange(6.0)[1::2], np.float32([1, 3, 5])),
        (torch.tensor(3.0).expand(2), np.float32([3, 3])),
        (torch.tensor([3.0], requires_grad=True), np.float32([3])),
        (torch.nn.Parameter(torch.tensor([3.0])), np.float32([3])),
        (torch.tensor(3.0), np.float32(3).reshape(())),
        (torch.zeros(0, 2), np.zeros((0, 2), np.float32)),
    ],
    ids=str,
)
def test_tensors_of_every_dtype_and_layout(tensor: torch.Tensor, expected: np.ndarray) -> None:
    moved = conform.golden("aten::cat", [tensor] if tensor.ndim else [tensor.reshape(-1)])
    assert moved.value.dtype == expected.dtype
    assert moved.value.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("x", [torch.tensor([1.0, 2.0]), np.float32([1.0, 2.0])], ids=["torch", "numpy"])
def test_a_golden_stays_what_it_is_when_its_operands_are_written_to(x: Any) -> None:
    moved = conform.golden("aten::permute", x, [0])
    x[:] = 7.0
    assert moved.value.tolist() == [1.0, 2.0]
    assert moved.verdict(np.float32([7.0, 7.0])).worst.inputs[0].values == (1.0, 2.0)


SIX = torch.arange(6.0).reshape(2, 3)


class Strided(torch.nn.Module):
    """Shows what lies in memory where `inside` leaves its argument."""

    def __init__(self, inside: Any = lambda x: x) -> None:
        super().__init__()
        self.inside = inside

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inside(x).as_strided((2,), (1,))


@pytest.mark.parametrize(
    ("op", "args", "depends"),
    [
        (torch.as_strided, (SIX.T, (2, 2), (1, 1)), "strides"),
        ("aten::as_strided", (SIX.numpy().T, (2, 2), (1, 1)), "strides"),
        (torch.ops.aten.as_strided.default, (SIX[1], (2,), (1,), 0), "offset and storage"),
        (torch.as_strided, (SIX[:1], (6,), (1,)), "storage"),
        (torch.as_strided, (torch.ones(1).expand(3), (2,), (1,)), "strides and storage"),
        (torch.Tensor.view, (SIX.T, [6]), "strides"),
        (torch.view_as_complex, (torch.arange(8.0).reshape(2, 4)[:, ::2],), "strides"),
        (torch.view_as_complex, (torch.arange(5.0)[1:].reshape(2, 2),), "offset"),
    ],
)
def test_where_the_memory_of_a_tensor_matters_nothing_is_guessed(op: Any, args: tuple, depends: str) -> None:
    """torch.as_strided(SIX.T, (2, 2), (1, 1)) is [[0, 1], [1, 2]], which the elements of SIX.T do not tell."""
    message = f"it depends on the {depends} of its tensor's memory, which the kit has only of contiguous tensors"
    with pytest.raises(Unjudged, match=message):
        conform.golden(op, *args)
    with pytest.raises(Unjudged, match=message):
        conform.assert_close(op, np.float32([0.0, 1.0]), *args)
    if from_torch.is_function(op):
        with pytest.raises(Unjudged, match=message):
            conform.check(op, args, backend="cpu")


@pytest.mark.parametrize(
    ("op", "args", "expected"),
    [
        (torch.as_strided, (SIX, (2, 2), (1, 1), 1), [[1.0, 2.0], [2.0, 3.0]]),
        (torch.as_strided, (SIX.T.clone(memory_format=torch.contiguous_format), (2,), (1,)), [0.0, 3.0]),
        (torch.Tensor.view, (SIX[1], [3, 1]), [[3.0], [4.0], [5.0]]),
        (torch.Tensor.view, (SIX[:, :1].contiguous(), [2]), [0.0, 3.0]),
        (torch.view_as_complex, (torch.arange(8.0).reshape(4, 2)[:1],), [1j]),
    ],
)
def test_where_the_memory_is_that_of_the_elements_there_is_a_golden(op: Any, args: tuple, expected: list) -> None:
    assert conform.golden(op, *args).value.tolist() == expected


def test_a_module_that_shows_memory_is_judged_where_that_is_of_the_elements() -> None:
    assert conform.golden(Strided(), SIX).value.tolist() == [0.0, 1.0]
    assert conform.golden(Strided(lambda x: x + 1), SIX).value.tolist() == [1.0, 2.0]
    for module, given in ((Strided(), SIX.T), (Strided(torch.t), SIX), (Strided(lambda x: x[1]), SIX)):
        with pytest.raises(Unjudged, match=r"as_strided\.default depends on its tensor's memory"):
            conform.golden(module, given)
    with pytest.raises(Unjudged, match=r"as_strided\.default depends on its tensor's memory"):
        conform.check(Strided(), SIX[1], backend="cpu")


def test_a_subclass_that_holds_its_elements_is_a_tensor() -> None:
    class Named(torch.Tensor):
        pass

    assert conform.golden("aten::exp", X.as_subclass(Named)).value.tolist() == [1.0, E]


def _fake() -> torch.Tensor:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(2)


@pytest.mark.parametrize(
    ("tensor", "found"),
    [
        (torch.ones(2, 3, device="meta"), r"a tensor of shape \[2, 3\] on the meta device, which holds no numbers"),
        (_fake(), "a FakeTensor, which wraps another tensor or none"),
        (torch.eye(2).to_sparse(), "a torch.sparse_coo tensor"),
        (torch.empty(2, dtype=torch.uint1), "a tensor of torch.uint1, of which the kit has no numbers"),
        (torch.ones(1).expand(2**50), rf"a tensor of shape \[{2**50}\] that cannot be read: .*allocate"),
    ],
)
def test_a_tensor_without_elements_is_refused_by_its_place(tensor: torch.Tensor, found: str) -> None:
    with pytest.raises(UsageError, match=f"aten::add: argument 1: found {found}"):
        conform.golden("aten::add", X, tensor)
    with pytest.raises(UsageError, match=rf"aten::cat: argument 0\[1\]: found {found}"):
        conform.golden("aten::cat", [X, tensor])
    with pytest.raises(UsageError, match=f"actual: found {found}"):
        conform.golden("aten::exp", X).error_ulp(tensor)


def test_arrays_that_numpy_alone_understands_are_refused() -> None:
    with pytest.raises(UsageError, match="aten::exp: argument 0: numpy dtype <U1 is not the storage of a format"):
        conform.golden("aten::exp", np.array(["a"]))
    with pytest.raises(UsageError, match="aten::exp: argument 0: numpy dtype >f4"):
        conform.golden("aten::exp", np.array([1.0], ">f4"))
    with pytest.raises(UsageError, match="aten::exp: argument 0: found a masked array"):
        conform.golden("aten::exp", np.ma.array([1.0, 2.0], mask=[True, False]))


def test_the_operators_of_a_subclass_of_numpys_array_are_not_used() -> None:
    class Odd(np.ndarray):
        def __array_ufunc__(self, *_: object, **__: object) -> None:
            raise AssertionError("used")

    assert conform.golden("aten::mul", np.float32([2.0]).view(Odd), np.float32([3.0])).value.tolist() == [6.0]


def test_constants_are_torchs_objects_or_their_names() -> None:
    for dtype in (torch.float64, "float64"):
        assert conform.golden("aten::arange", 2, dtype=dtype, device=torch.device("cpu")).value.dtype == np.float64


def test_the_named_tuples_of_torch_are_outputs() -> None:
    x = torch.tensor([2.0, 1.0])
    assert conform.golden(torch.sort, x).verdict(torch.sort(x)).status == "pass"


# --- Operators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "op",
    [
        "exp", "exp.default", "aten::exp", "aten::exp.default", "torch.exp", "torch.Tensor.exp", "torch.ops.aten.exp",
        "torch.ops.aten.exp.default", torch.exp, torch.Tensor.exp, torch.ops.aten.exp, torch.ops.aten.exp.default,
    ],
    ids=lambda op: op if isinstance(op, str) else type(op).__name__,
)  # fmt: skip
def test_an_operator_goes_by_any_of_its_names(op: Any) -> None:
    assert conform.golden(op, X).value.tolist() == [1.0, E]


@pytest.mark.parametrize(
    ("op", "args", "kwargs", "resolved"),
    [
        ("aten::sum", (X,), {}, "aten::sum"),
        ("aten::sum", (X, [0]), {}, "aten::sum.dim_IntList"),
        (torch.sum, (X, 0), {}, "aten::sum.dim_IntList"),
        (torch.ops.aten.sum.dim_IntList, (X, [0]), {}, "aten::sum.dim_IntList"),
        ("add.Tensor", (X, X), {}, "aten::add.Tensor"),
        (torch.special.erf, (X,), {}, "aten::special_erf"),
        ("torch.special.erf", (X,), {}, "aten::special_erf"),
        ("torch.linalg.vector_norm", (X,), {}, "aten::linalg_vector_norm"),
        (functional.gelu, (X,), {"approximate": "tanh"}, "aten::gelu"),
        (torch.exp, (), {"input": X}, "aten::exp"),
        (functional.mse_loss, (X, X), {"reduction": "sum"}, "aten::mse_loss"),
        (functional.rms_norm, (X, (2,)), {"eps": 1e-6}, "aten::rms_norm"),
        (functional.unfold, (X.reshape(1, 1, 1, 2), 1), {}, "aten::im2col"),
        (functional.nll_loss, (torch.zeros(1, 2), torch.tensor([0])), {}, "aten::nll_loss_nd"),
    ],
)
def test_the_overload_is_the_one_that_is_named_or_fits(op: Any, args: tuple, kwargs: dict, resolved: str) -> None:
    assert conform.golden(op, *args, **kwargs).call.op == resolved


@pytest.mark.parametrize(
    ("op", "args", "resolved"),
    [
        (torch.std, (SIX, 1), "aten::std.dim"),
        (torch.var, (SIX, 0), "aten::var.dim"),
        (torch.Tensor.var, (SIX, 1, False), "aten::var.dim"),
        (torch.var, (SIX, True), "aten::var"),
        (torch.var, (SIX,), "aten::var"),
        (torch.ops.aten.var, (SIX, 1), "aten::var"),
        (torch.any, (SIX, 1), "aten::any.dim"),
    ],
)
def test_a_number_is_a_bool_in_torchs_operators_alone(op: Any, args: tuple, resolved: str) -> None:
    """torch.var(x, 1) is along dim 1, torch.ops.aten.var(x, 1) of all elements, unbiased."""
    assert conform.golden(op, *args).call.op == resolved


def test_constants_do_not_lead_away_from_the_operator() -> None:
    halves = conform.golden(functional.softmax, X - X, 0, dtype=torch.float64)
    assert (halves.call.op, halves.value.dtype, halves.value.tolist()) == ("aten::softmax.int", np.float64, [0.5, 0.5])


def test_a_method_that_returns_less_than_its_operator_is_no_operator() -> None:
    found = conform.golden(torch.Tensor.unique_consecutive, torch.tensor([1, 1, 2]))
    assert found.value.tolist() == [1, 2]


def test_a_default_overload_is_asked_for_alone() -> None:
    with pytest.raises(UsageError, match="aten::sum has no argument 'dim'"):
        conform.golden("aten::sum.default", X, dim=0)
    with pytest.raises(UsageError, match=r"'aten::add.default': .*its overloads are aten::add.Tensor|found tensor"):
        conform.golden("aten::add.default", X, X)


def test_python_functions_of_torch_are_bound_by_name() -> None:
    """functional.mse_loss takes `size_average` where the operator takes `reduction`: positions mean nothing."""
    halves = conform.golden(functional.mse_loss, torch.tensor([1.0, 3.0]), torch.tensor([0.0, 0.0]))
    assert halves.value.tolist() == 5.0
    summed = conform.golden(functional.mse_loss, torch.tensor([1.0, 3.0]), torch.tensor([0.0, 0.0]), False)
    assert (summed.call.op, summed.value.tolist()) == ("torch.nn.functional.mse_loss", 10.0)


def test_the_class_of_a_loss_stands_before_any_number_of_dims() -> None:
    """The mean of -weights over the classes that target names."""
    weights = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    assert conform.golden(functional.nll_loss, weights, torch.tensor([[0, 1]])).value.tolist() == -2.5
    assert conform.golden(functional.nll_loss, weights[..., None], torch.tensor([[[1], [1]]])).value.tolist() == -3.5


def _built_ins_of(function: FunctionType) -> set[str]:
    found = re.findall(r"torch\._C\._nn\.(\w+?)_?\(", inspect.getsource(function))
    return {f"aten::{name}" for name in found}


NAMESAKES = [
    one for one in vars(functional).values()
    if isinstance(one, FunctionType) and f"aten::{one.__name__}" in operator_names() and _built_ins_of(one)
]  # fmt: skip


@pytest.mark.parametrize("function", NAMESAKES, ids=lambda function: function.__name__)
def test_a_function_is_taken_for_an_operator_that_it_calls(function: FunctionType) -> None:
    assert from_torch.operator_name(function) in _built_ins_of(function)


def test_a_method_has_its_tensor_first_wherever_its_operator_has_it() -> None:
    """A bool operand taken for the condition would choose False where it is True."""
    x, y, condition = torch.tensor([7, 8]), torch.tensor([1, 2]), torch.tensor([True, False])
    assert conform.golden(torch.Tensor.where, x, condition, y).value.tolist() == [7, 2]
    assert conform.golden(torch.Tensor.where, condition, x < 0, x > 0).value.tolist() == [True, True]
    assert conform.golden(torch.Tensor.where, x, condition=condition, other=y).value.tolist() == [7, 2]
    trigamma = conform.golden(torch.Tensor.polygamma, torch.tensor([1.0, 0.5]), 1).value
    assert np.round(trigamma, 4).tolist() == np.round(np.float32([1.64493, 4.9348]), 4).tolist()


@pytest.mark.parametrize("operands", [(torch.tensor([1.0, 2.0]),) * 2, ([torch.tensor([1.0, 2.0])] * 2,)])
def test_functions_of_any_number_of_tensors_give_their_operator_a_list(operands: tuple) -> None:
    assert conform.golden(torch.einsum, "i,j->ij", *operands).value.tolist() == [[1.0, 2.0], [2.0, 4.0]]
    grids = conform.golden(torch.meshgrid, *operands, indexing="xy").value
    assert grids[0].tolist() == [[1.0, 2.0], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("op", "error", "message"),
    [
        (torch.special.airy_ai, Unjudged, "no semantics for aten::special_airy_ai"),
        ("torch.nn.functional.softmax", UsageError, "is a Python function, .*: give the function itself"),
        (torch.geqrf, Unjudged, "no semantics for aten::geqrf"),
        ("torch.logsumexpp", UsageError, "unknown operator .aten::logsumexpp.; did you mean .aten::logsumexp."),
        ("epx", UsageError, "unknown operator 'epx'"),
        (np.exp, UsageError, "expected an operator's name or a function of torch, got <ufunc 'exp'>"),
        (lambda x: x, UsageError, "expected an operator's name or a function of torch, got <function"),
        (3, UsageError, "op: found 3, expected an operator's name such as 'aten::exp'"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", "number"),
)
def test_what_leads_to_no_operator_is_told(op: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        conform.golden(op, X)


# --- torch is imported only where it is given -------------------------------------------------------------------------

WITHOUT_TORCH = """
import sys
import numpy as np
import conform
x = np.float32([0.0, 1.0])
for op in ("aten::exp", "torch.exp", "exp", "torch.ops.aten.exp.default"):
    truth = conform.golden(op, x)
    truth.bound_ulp, truth.error_ulp(x), truth.verdict(x), repr(truth), truth._repr_html_()
conform.assert_close("exp", truth.value, x)
try:
    conform.golden(np.exp, x)
except conform.UsageError:
    pass
print("torch" in sys.modules)
"""


def test_torch_is_not_imported_for_those_who_give_none() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"
