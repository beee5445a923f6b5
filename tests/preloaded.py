"""What the template of the tests imports once: what many of their workers import, some for seconds."""

from __future__ import annotations

import contextlib

import pytest  # noqa: F401
import torch._dynamo
import torch._functorch.aot_autograd
import torch.fx.experimental.symbolic_shapes  # noqa: F401

import conform.backends.interpreter
import conform.backends.worker
import conform.frontends.construction
import conform.straight_line
from conform.domains.specs import specs
from conform.interp import semantics

with contextlib.suppress(ImportError):  # the extra conform[stablehlo]
    import conform.frontends.stablehlo_called  # noqa: F401

semantics.names()
specs()
