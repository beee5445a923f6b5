"""Coins, and one of several places: shape and dtype are determined, elements only where chance has no choice."""

from __future__ import annotations

from conform.refs.creation.distributions import checked
from conform.refs.exact.promotion import COMPLEX, FLOAT, category, convert
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference


def _coins(dtype: str, shape: tuple[int, ...], probabilities: list[float]) -> RefTensor:
    """1 with its probability, else 0."""
    checked(all(0 <= p <= 1 for p in probabilities), "a probability outside [0, 1]")
    sure = {0.0: convert(0, dtype), 1.0: convert(1, dtype)}
    return RefTensor(dtype, shape, [sure.get(p, UNSPECIFIED) for p in probabilities])


@reference("aten::bernoulli")
def bernoulli(self: RefTensor, generator: object = None) -> RefTensor:
    """Coins of the probabilities in self."""
    checked(category(self.dtype) == FLOAT, f"no probabilities of {self.dtype}")
    return _coins(self.dtype, self.shape, self.data)


@reference("aten::bernoulli.p")
def bernoulli_of_number(self: RefTensor, p: float, generator: object = None) -> RefTensor:
    """Coins of probability p in the shape and the dtype of self."""
    checked(category(self.dtype) != COMPLEX and 0 <= p <= 1, f"no coins of {self.dtype} and probability {p}")
    return _coins(self.dtype, self.shape, [float(p)] * len(self.data))


@reference("aten::bernoulli.Tensor")
def bernoulli_of_tensor(self: RefTensor, p: RefTensor, generator: object = None) -> RefTensor:
    """Coins of the probabilities in p, in the dtype of self."""
    checked(category(self.dtype) != COMPLEX and category(p.dtype) == FLOAT, f"no coins of {self.dtype} and {p.dtype}")
    checked(self.shape == p.shape, "probabilities of another shape")
    return _coins(self.dtype, self.shape, p.data)


@reference("aten::multinomial")
def multinomial(
    self: RefTensor, num_samples: int, replacement: bool = False, generator: object = None
) -> RefTensor:
    """Places of every row, chosen by the weights in it: where one alone has a weight, that place."""
    checked(category(self.dtype) == FLOAT and len(self.shape) in (1, 2), "weights are floats of one or two dims")
    count = self.shape[-1]
    checked(count >= 1 and num_samples >= 1 and (replacement or num_samples <= count), "too many or too few places")
    checked(all(0 <= weight <= 100 for weight in self.data), "a weight outside [0, 100]")
    rows = [self.data[start : start + count] for start in range(0, len(self.data), count)]
    with_weight = [[place for place, weight in enumerate(row) if weight] for row in rows]
    are_enough = all(len(places) >= (1 if replacement else num_samples) for places in with_weight)
    chosen = [places[0] if are_enough and len(places) == 1 else UNSPECIFIED for places in with_weight]
    return RefTensor("int64", (*self.shape[:-1], num_samples), [one for one in chosen for _ in range(num_samples)])
