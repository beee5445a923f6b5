"""Tests of every argument spec, or of those of no alias, and of no op of lists that means another of each tensor: of a
share of them, without the long tests."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from conform.call.aliases import canonical
from conform.call.foreach import for_each
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import specs


def _of(several: Iterable[OpSpec]) -> pytest.MarkDecorator:
    marked = [pytest.param(one, marks=pytest.mark.rotating(24)) for one in several]
    return pytest.mark.parametrize("spec", marked, ids=lambda one: one.name)


every_spec = _of(specs())
every_spec_of_no_alias = _of(
    one for one in specs() if canonical(one.name) == one.name and for_each(one.name) is None
)
