"""What tests of programs share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conform.call import schemas
from conform.interp import semantics


@pytest.fixture
def own_ops() -> Iterator[None]:
    """The ops that a test defines are forgotten behind it."""
    yield
    for name in list(semantics._own):
        del semantics._own[name]
        schemas._lines().pop(name.partition(".")[0], None)
    schemas.operator_names.cache_clear()
