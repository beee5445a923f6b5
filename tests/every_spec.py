"""Tests of every argument spec: of a share of them, without the long tests."""

from __future__ import annotations

import pytest

from conform.domains.specs import specs

every_spec = pytest.mark.parametrize(
    "spec", [pytest.param(one, marks=pytest.mark.rotating(24)) for one in specs()], ids=lambda one: one.name
)
