"""Ops that read or write where indices say: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import REAL, spec

spec("aten::gather", dtypes=REAL, index_arguments=["index"])
spec("aten::index_put", dtypes=REAL, index_arguments=["indices"])
