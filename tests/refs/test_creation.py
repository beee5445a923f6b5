"""References of tensors made of numbers, of chance and of nothing: literal cases worked out by hand."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from conform.refs import UNSPECIFIED
from tests.refs.helpers import call, same, tensor

OPEN = UNSPECIFIED


@pytest.mark.parametrize(
    ("op", "arguments", "dtype", "expected"),
    [
        ("full", {"size": [2], "fill_value": 7}, "int64", [7, 7]),
        ("full", {"size": [], "fill_value": True}, "bool", True),
        ("full", {"size": [1], "fill_value": 0.1}, "float32", [0.10000000149011612]),
        ("full", {"size": [1], "fill_value": 2.9, "dtype": "int8"}, "int8", [2]),
        ("full", {"size": [1], "fill_value": -1, "dtype": "uint8"}, "uint8", [255]),
        ("full", {"size": [1], "fill_value": nan, "dtype": "bool"}, "bool", [True]),
        ("full", {"size": [1], "fill_value": -inf, "dtype": "float16"}, "float16", [-inf]),
        ("full", {"size": [1], "fill_value": 1 - 2j}, "complex64", [1 - 2j]),
        ("full", {"size": [0], "fill_value": 1}, "int64", []),
        ("full_like", {"self": tensor("int16", [1, 2]), "fill_value": 3.5}, "int16", [3, 3]),
        ("full_like", {"self": tensor("int16", 1), "fill_value": -0.0, "dtype": "float64"}, "float64", -0.0),
        ("scalar_tensor", {"s": 3}, "float32", 3.0),
        ("scalar_tensor", {"s": 3, "dtype": "int8"}, "int8", 3),
        ("ones", {"size": [2]}, "float32", [1.0, 1.0]),
        ("zeros", {"size": [2], "dtype": "bool"}, "bool", [False, False]),
        ("ones_like", {"self": tensor("complex64", [2j])}, "complex64", [1 + 0j]),
        ("zeros_like", {"self": tensor("bool", [True]), "dtype": "int8"}, "int8", [0]),
        ("new_full", {"self": tensor("int16", [1]), "size": [2], "fill_value": -2.9}, "int16", [-2, -2]),
        ("new_full", {"self": tensor("int16", 1), "size": [], "fill_value": nan, "dtype": "float16"}, "float16", nan),
        ("new_ones", {"self": tensor("bool", [False]), "size": [1]}, "bool", [True]),
        ("new_zeros", {"self": tensor("complex64", []), "size": [1]}, "complex64", [0j]),
        ("zero", {"self": tensor("float32", [nan, -0.0])}, "float32", [0.0, 0.0]),
        ("eye", {"n": 2, "dtype": "int8"}, "int8", [[1, 0], [0, 1]]),
        ("eye.m", {"n": 1, "m": 2}, "float32", [[1.0, 0.0]]),
        ("empty.memory_format", {"size": [2], "dtype": "int8"}, "int8", [OPEN, OPEN]),
        ("empty_strided", {"size": [2], "stride": [0]}, "float32", [OPEN, OPEN]),
        ("empty_permuted", {"size": [1, 2], "physical_layout": [1, 0]}, "float32", [[OPEN, OPEN]]),
        ("empty_like", {"self": tensor("int8", [1])}, "int8", [OPEN]),
        ("new_empty", {"self": tensor("int8", 1), "size": [1], "dtype": "int16"}, "int16", [OPEN]),
        ("new_empty_strided", {"self": tensor("int8", 1), "size": [1], "stride": [3]}, "int8", [OPEN]),
        ("tril_indices", {"row": 2, "col": 3, "offset": -1, "dtype": "int32"}, "int32", [[1], [0]]),
        ("tril_indices", {"row": 2, "col": 2}, "int64", [[0, 1, 1], [0, 0, 1]]),
        ("triu_indices", {"row": 3, "col": 2}, "int64", [[0, 0, 1], [0, 1, 1]]),
        ("triu_indices", {"row": 2, "col": 3, "offset": 1}, "int64", [[0, 0, 1], [1, 2, 2]]),
        ("linspace", {"start": 0, "end": 1, "steps": 3}, "float32", [0.0, 0.5, 1.0]),
        ("hann_window", {"window_length": 4}, "float32", [0.0, 0.5, 1.0, 0.5]),
        ("hann_window.periodic", {"window_length": 3, "periodic": False}, "float32", [0.0, 1.0, 0.0]),
        ("hamming_window.periodic_alpha_beta", {"window_length": 2, "periodic": True, "alpha": 0.75, "beta": 0.25},
         "float32", [0.5, 1.0]),
        ("blackman_window", {"window_length": 2, "dtype": "float64"}, "float64", [0.0, 1.0]),
        ("bartlett_window", {"window_length": 3, "dtype": "float64"}, "float64", [0.0, 2 / 3, 2 / 3]),
        ("bartlett_window", {"window_length": 1}, "float32", [1.0]),
        ("fft_fftfreq", {"n": 4, "d": 0.5}, "float32", [0.0, 0.5, -1.0, -0.5]),
        ("fft_rfftfreq", {"n": 5, "d": 1.0, "dtype": "float64"}, "float64", [0.0, 0.2, 0.4]),
        ("linspace", {"start": 5, "end": 1, "steps": 1}, "float32", [5.0]),
        ("linspace", {"start": 5, "end": 1, "steps": 0}, "float32", []),
        ("linspace", {"start": 0.0, "end": 1.0, "steps": 4, "dtype": "float16"}, "float16",
         [0.0, 0.333251953125, 0.66650390625, 1.0]),
        ("linspace", {"start": 0, "end": 3, "steps": 3, "dtype": "int8"}, "int8", [0, OPEN, 3]),
        ("linspace", {"start": 0, "end": -inf, "steps": 3}, "float32", [0.0, OPEN, -inf]),
        ("linspace", {"start": 0, "end": 2j, "steps": 3}, "complex64", [0j, 1j, 2j]),
        ("logspace", {"start": -1, "end": 2, "steps": 4}, "float32", [0.10000000149011612, 1.0, 10.0, 100.0]),
        ("logspace", {"start": 0, "end": 1, "steps": 3, "base": 4.0, "dtype": "float64"}, "float64", [1.0, 2.0, 4.0]),
        ("logspace", {"start": 0, "end": 1, "steps": 3, "base": 2.0, "dtype": "float64"}, "float64",
         [1.0, 1.4142135623730951, 2.0]),
        ("logspace", {"start": 5, "end": -8, "steps": 2, "dtype": "float16"}, "float16", [inf, 0.0]),
        ("logspace", {"start": -7.5, "end": 1, "steps": 1, "base": 0.25}, "float32", [32768.0]),
        ("rand", {"size": [2]}, "float32", [OPEN, OPEN]),
        ("randn", {"size": [1], "dtype": "complex64"}, "complex64", [OPEN]),
        ("rand_like", {"self": tensor("float16", [1.0])}, "float16", [OPEN]),
        ("randn_like", {"self": tensor("float16", [1.0]), "dtype": "complex64"}, "complex64", [OPEN]),
        ("uniform", {"self": tensor("float32", [1.0])}, "float32", [OPEN]),
        ("uniform", {"self": tensor("float32", [1.0]), "from": 2.0, "to": 2.0}, "float32", [2.0]),
        ("normal_functional", {"self": tensor("float32", [1.0]), "std": 0.0}, "float32", [0.0]),
        ("normal.float_float", {"mean": 0.1, "std": 0.0, "size": [1], "dtype": "float16"}, "float16",
         [0.0999755859375]),
        ("normal.Tensor_float", {"mean": tensor("float32", [1.0, inf, nan])}, "float32", [OPEN, inf, nan]),
        ("normal.float_Tensor", {"mean": 2.0, "std": tensor("float32", [0.0, 1.0])}, "float32", [2.0, OPEN]),
        ("normal.Tensor_Tensor", {"mean": tensor("float32", [inf, 3.0]), "std": tensor("float32", [inf, 0.0])},
         "float32", [OPEN, 3.0]),
        ("exponential", {"self": tensor("float64", [1.0])}, "float64", [OPEN]),
        ("log_normal", {"self": tensor("float64", [1.0])}, "float64", [OPEN]),
        ("cauchy", {"self": tensor("float64", [1.0])}, "float64", [OPEN]),
        ("geometric", {"self": tensor("int8", [1]), "p": 0.5}, "int8", [OPEN]),
        ("randint", {"high": 1, "size": [1]}, "int64", [0]),
        ("randint.low", {"low": -2, "high": 0, "size": [1], "dtype": "int8"}, "int8", [OPEN]),
        ("randint_like", {"self": tensor("bool", [True]), "high": 2}, "bool", [OPEN]),
        ("randint_like.low_dtype", {"self": tensor("int8", [1]), "low": 3, "high": 4}, "int8", [3]),
        ("random", {"self": tensor("int8", [1])}, "int8", [OPEN]),
        ("random.to", {"self": tensor("float16", [1.0]), "to": 1}, "float16", [0.0]),
        ("random.from", {"self": tensor("uint8", [1]), "from": 255, "to": None}, "uint8", [255]),
        ("bernoulli", {"self": tensor("float32", [0.0, 0.5, 1.0])}, "float32", [0.0, OPEN, 1.0]),
        ("bernoulli.p", {"self": tensor("int8", [7]), "p": 1.0}, "int8", [1]),
        ("bernoulli.Tensor", {"self": tensor("bool", [True, True]), "p": tensor("float32", [0.0, 0.5])}, "bool",
         [False, OPEN]),
        ("multinomial", {"self": tensor("float32", [[0.0, 2.0], [1.0, 2.0]]), "num_samples": 2, "replacement": True},
         "int64", [[1, 1], [OPEN, OPEN]]),
        ("multinomial", {"self": tensor("float32", [0.0, 2.0]), "num_samples": 2}, "int64", [OPEN, OPEN]),
        ("randperm", {"n": 2}, "int64", [OPEN, OPEN]),
        ("randperm", {"n": 1, "dtype": "float16"}, "float16", [0.0]),
        ("_local_scalar_dense", {"self": tensor("float16", [[0.5]])}, "float64", 0.5),
        ("_local_scalar_dense", {"self": tensor("uint8", 200)}, "int64", 200),
        ("_local_scalar_dense", {"self": tensor("complex64", 2j)}, "complex128", 2j),
    ],
)  # fmt: skip
def test_made(op: str, arguments: dict[str, Any], dtype: str, expected: object) -> None:
    same(call(op, **arguments), dtype, expected)


@pytest.mark.parametrize(
    ("p", "train", "output", "mask"),
    [
        (0.5, False, [-1.0, inf], [True, True]),
        (0.0, True, [-1.0, inf], [True, True]),
        (1.0, None, [0.0, OPEN], [False, False]),
        (0.5, True, [OPEN, OPEN], [OPEN, OPEN]),
    ],
)
def test_native_dropout(p: float, train: bool | None, output: list, mask: list) -> None:
    result = call("native_dropout", input=tensor("float32", [-1.0, inf]), p=p, train=train)
    same(result[0], "float32", output)
    same(result[1], "bool", mask)


def test_native_dropout_backward() -> None:
    grad, mask = tensor("float16", [3.0, -0.0, 40000.0, 3.0, inf]), tensor("bool", [True, True, True, False, False])
    same(call("native_dropout_backward", grad_output=grad, mask=mask, scale=2.0), "float16",
         [6.0, -0.0, inf, 0.0, OPEN])  # fmt: skip
    one, kept = tensor("float32", [3.0]), tensor("bool", [True])
    same(call("native_dropout_backward", grad_output=one, mask=kept, scale=1.1), "float32", [3.299999952316284])


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("full", {"size": [-1], "fill_value": 1}),
        ("full", {"size": [1], "fill_value": 1j, "dtype": "float32"}),
        ("full", {"size": [1], "fill_value": 300, "dtype": "uint8"}),
        ("full", {"size": [1], "fill_value": nan, "dtype": "int8"}),
        ("full", {"size": [1], "fill_value": 65505.0, "dtype": "float16"}),
        ("eye", {"n": -1}),
        ("empty_strided", {"size": [1], "stride": []}),
        ("empty_strided", {"size": [1], "stride": [-1]}),
        ("empty_permuted", {"size": [1, 2], "physical_layout": [0, 0]}),
        ("tril_indices", {"row": -1, "col": 1}),
        ("new_full", {"self": tensor("uint8", [1]), "size": [1], "fill_value": 256}),
        ("logspace", {"start": 0, "end": 1, "steps": -1}),
        ("native_dropout_backward",
         {"grad_output": tensor("float32", [1.0]), "mask": tensor("bool", True), "scale": 2.0}),
        ("linspace", {"start": 0, "end": 1, "steps": -1}),
        ("linspace", {"start": 0, "end": 1, "steps": 2, "dtype": "bool"}),
        ("linspace", {"start": 0, "end": 1j, "steps": 2, "dtype": "float32"}),
        ("rand", {"size": [1], "dtype": "int8"}),
        ("uniform", {"self": tensor("float32", [1.0]), "from": 2.0, "to": 1.0}),
        ("uniform", {"self": tensor("int8", [1])}),
        ("normal_functional", {"self": tensor("float32", []), "std": -1.0}),
        ("normal.Tensor_float", {"mean": tensor("complex64", [1j])}),
        ("normal.float_Tensor", {"mean": 0.0, "std": tensor("float32", [nan])}),
        ("exponential", {"self": tensor("float32", [1.0]), "lambd": 0.0}),
        ("log_normal", {"self": tensor("float32", [1.0]), "std": 0.0}),
        ("cauchy", {"self": tensor("float32", [1.0]), "sigma": -1.0}),
        ("geometric", {"self": tensor("float32", [1.0]), "p": 1.0}),
        ("randint", {"high": 0, "size": [1]}),
        ("randint", {"high": 300, "size": [1], "dtype": "uint8"}),
        ("randint.low", {"low": 1, "high": 1, "size": [1]}),
        ("randint_like", {"self": tensor("complex64", [1j]), "high": 1}),
        ("random", {"self": tensor("complex64", [1j])}),
        ("random.from", {"self": tensor("float32", [1.0]), "from": 0, "to": None}),
        ("bernoulli", {"self": tensor("float32", [1.5])}),
        ("bernoulli", {"self": tensor("int8", [1])}),
        ("bernoulli.p", {"self": tensor("int8", [1]), "p": -0.5}),
        ("bernoulli.Tensor", {"self": tensor("int8", [1]), "p": tensor("float32", 0.5)}),
        ("multinomial", {"self": tensor("float32", [-1.0]), "num_samples": 1}),
        ("multinomial", {"self": tensor("float32", [1.0]), "num_samples": 2}),
        ("multinomial", {"self": tensor("int8", [1]), "num_samples": 1}),
        ("randperm", {"n": -1}),
        ("randperm", {"n": 257, "dtype": "uint8"}),
        ("randperm", {"n": 3, "dtype": "bool"}),
        ("native_dropout", {"input": tensor("float32", [1.0]), "p": 1.5, "train": True}),
        ("native_dropout", {"input": tensor("int8", [1]), "p": 0.5, "train": True}),
        ("_local_scalar_dense", {"self": tensor("int8", [1, 2])}),
    ],
)
def test_refused(op: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)
