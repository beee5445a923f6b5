"""What elementwise ops take and give: dtypes, and the dtypes and shapes of results."""

from __future__ import annotations

from conform.domains.engine.arguments import result
from conform.domains.engine.constraints import Dtype
from conform.domains.engine.vocabulary import broadcast_of, dtype_common_to, dtype_of, real_dtype_common_to, shape_of
from conform.domains.specs import INTEGERS

BITS = ("bool", *INTEGERS)

# The result of two operands, in their common dtype; of a tensor and a number, too.
PAIR = result(dtype_common_to("self", "other"), broadcast_of("self", "other"))
SCALED = result(dtype_common_to("self", "other"), shape_of("self"))
SCALED_OTHER = result(dtype_common_to("self", "other"), shape_of("other"))
SAME = result(dtype_of("self"), shape_of("self"))
REAL_RESULT = result(real_dtype_common_to("self"), shape_of("self"))
TRUTH = result(Dtype.Eq("bool"), shape_of("self"))
TRUTH_OF_PAIR = result(Dtype.Eq("bool"), broadcast_of("self", "other"))
