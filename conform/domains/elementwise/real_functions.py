"""The exponential, the square root, the sine and gelu: the domains of their arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import REAL_RESULT, SAME
from conform.domains.engine.arguments import string, tensor
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.vocabulary import typically
from conform.domains.specs import FLOATS, spec

spec("aten::exp", tensor("self"), REAL_RESULT)
spec("aten::sqrt", tensor("self", typically(0, 40)), REAL_RESULT)
spec("aten::sin", tensor("self"), REAL_RESULT)
spec("aten::gelu", tensor("self", Dtype.In(FLOATS)), string("approximate", Value.In(("none", "tanh"))), SAME)
