"""Steps of honest implementations, in numpy's float32 or float64, and how their results are judged.

Half types are computed in float32 and rounded once at the end. Sums are sequential, the worst order.
"""

from __future__ import annotations

import numpy as np

from conform.contracts.judge import Elements, judge
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate
from conform.numerics.formats import FORMATS

DTYPES = ["float32", "float64", "bfloat16"]
OPENCL = contract_table("opencl")


def judged(op: str, args: list, actual: np.ndarray, output: int = 0, **keywords: object) -> Elements:
    """The judgement of `actual`, rounded to the golden's format, under the contract `opencl`."""
    golden = evaluate(op, args, keywords).goldens[output]
    assert actual.shape == golden.value.shape
    return judge(golden, actual.astype(golden.value.dtype), OPENCL.row(op, golden.format.name))


def is_inside(op: str, args: list, actual: np.ndarray, output: int = 0, **keywords: object) -> bool:
    elements = judged(op, args, actual, output, **keywords)
    assert elements.compared.all()
    return bool(elements.ok.all())


def in_compute(x: np.ndarray) -> np.ndarray:
    """The numbers in the type that an honest implementation computes in."""
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)


def tensor(dtype: str, values: np.ndarray) -> np.ndarray:
    return values.astype(FORMATS[dtype].storage)


def normal(dtype: str, *shape: int, mean: float = 0.0, std: float = 1.0, seed: int = 0) -> np.ndarray:
    return tensor(dtype, np.random.default_rng(seed).normal(mean, std, shape))


def total(x: np.ndarray) -> np.ndarray:
    """The sum over the last axis, one term after the other, in x's dtype."""
    return np.add.accumulate(x, axis=-1, dtype=x.dtype)[..., -1]


def mean_of(x: np.ndarray) -> np.ndarray:
    return total(x) / x.dtype.type(x.shape[-1])


def variance_of(x: np.ndarray, divisor: float) -> np.ndarray:
    centred = x - mean_of(x)[..., None]
    return total(centred * centred) / x.dtype.type(divisor)


def naive_variance_of(x: np.ndarray) -> np.ndarray:
    """E[x^2] - E[x]^2"""
    return mean_of(x * x) - mean_of(x) ** 2


def log_softmax(x: np.ndarray) -> np.ndarray:
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(total(np.exp(shifted)))[..., None]
