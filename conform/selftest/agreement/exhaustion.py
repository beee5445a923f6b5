"""All 65,536 inputs of the unary functions in the 16-bit formats, and every cast that ends at a midpoint of one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conform.numerics.formats import FORMATS
from conform.selftest.agreement.agreement import Agreement, agree_on
from conform.selftest.agreement.witness.elementwise import every_code
from conform.selftest.agreement.witness.functions import UNARY
from conform.selftest.agreement.witness.values import COMPLEX, HALVES, REAL, SMALL_FLOATS
from conform.selftest.agreement.witnesses import Call

# Real functions of one number, each under one of its names (erf, not special_erf).
_SECOND_NAMES = {f"special_{name}" for name in UNARY.split()}
_REAL_FUNCTIONS = [name for name in UNARY.split() if name not in _SECOND_NAMES]

# The keywords with which each op sees every input.
KEYWORDS: dict[str, tuple[Call, ...]] = {
    "aten::exp": ({},),
    "aten::sqrt": ({},),
    "aten::sin": ({},),
    "aten::gelu": ({"approximate": "none"}, {"approximate": "tanh"}),
    "aten::neg": ({},),
    "aten::abs": ({},),
    "aten::round": ({},),
    "aten::_to_copy": tuple({"dtype": target} for target in REAL + COMPLEX + SMALL_FLOATS),
    **{f"aten::{name}": ({},) for name in [*_REAL_FUNCTIONS, "softplus"]},
}


def agree_on_all_inputs(op: str, dtype: str) -> Agreement:
    """The 65,536 codes of the 16-bit `dtype` with each of the op's KEYWORDS."""
    codes = np.arange(2**16, dtype=np.uint16).view(FORMATS[dtype].storage)
    return agree_on(Agreement(op, dtype), ({"self": codes, **keywords} for keywords in KEYWORDS[op]))


def agree_on_all_codes(small: str) -> Agreement:
    """Casts of the 256 codes of an 8-bit float to every dtype."""
    calls = ({"self": every_code(small), "dtype": target} for target in REAL + COMPLEX + SMALL_FLOATS)
    return agree_on(Agreement("aten::_to_copy", small), calls)


def agree_on_all_midpoints(source: str) -> Agreement:
    """Casts from the float `source` to each 16-bit format: of every midpoint, and the numbers of `source` beside it."""
    return agree_on(Agreement("aten::_to_copy", source), _midpoints(source))


def _midpoints(source: str) -> Iterator[Call]:
    storage = FORMATS[source].storage
    for target in HALVES:
        codes = np.arange(2**16, dtype=np.uint16).view(FORMATS[target].storage)
        with np.errstate(invalid="ignore"):  # signalling NaNs
            every = codes.astype(storage)
        values = np.unique(every[np.isfinite(every)])
        midpoints = values[:-1] / 2 + values[1:] / 2
        for beside in (
            midpoints,
            np.nextafter(midpoints, storage.type(np.inf)),
            np.nextafter(midpoints, storage.type(-np.inf)),
        ):
            yield {"self": beside, "dtype": target}
