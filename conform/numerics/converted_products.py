"""How products are made and added up where a backend converts their factors first.

Within `converted_products(...)` the steps of a program that add up products lose what is declared. An op by itself is
held to its declared mode where it is judged (`judging/products.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import NamedTuple

from conform.numerics.formats import Format, compute_format


class Products(NamedTuple):
    """How products of an element type are made and added up.

    error       |computed - a b| <= error |a b|, before anything is added up
    parts       how many products stand for a b in the sum, and `growth`: their magnitudes add up to growth |a b|
    lost        what a factor may lose absolutely, below the normal range
    accumulator the format that they are added up in
    """

    error: float
    parts: int
    growth: float
    lost: float
    accumulator: Format


_PRODUCTS: ContextVar[Mapping[str, Products]] = ContextVar("_PRODUCTS", default=MappingProxyType({}))


@contextmanager
def converted_products(of_formats: Mapping[str, Products]) -> Iterator[None]:
    """Within, products of these element types, by name, that a program adds up are made so."""
    before = _PRODUCTS.set(of_formats)
    try:
        yield
    finally:
        _PRODUCTS.reset(before)


def products_of(fmt: Format) -> Products:
    """How products of `fmt` are made: exactly, and added up in the compute type, if nothing else is declared."""
    return _PRODUCTS.get().get(fmt.name) or Products(0.0, 1, 1.0, 0.0, compute_format(fmt))
