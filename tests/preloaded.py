"""What the template of the tests imports once: what many of their workers import, some for seconds."""

from __future__ import annotations

import torch._dynamo
import torch.fx.experimental.symbolic_shapes  # noqa: F401

import conform.backends.interpreter
import conform.backends.worker
import conform.frontends.construction  # noqa: F401
from conform.interp import semantics

semantics.names()
