"""Windows that taper a signal, and the frequencies of a transform: the domains of their arguments."""

from __future__ import annotations

from conform.domains.creation.constants import dtype_argument, dtype_or
from conform.domains.creation.ranges import HOW_MANY
from conform.domains.engine.arguments import Argument, boolean, length, real, result
from conform.domains.engine.constraints import Value
from conform.domains.engine.dtypes import DEFAULT_FLOAT, FLOATS
from conform.domains.engine.spaces import REALS
from conform.domains.engine.vocabulary import NO_COMPLEX_SEMANTICS, shaped
from conform.domains.specs import COMPLEX, spec

OF_FLOATS = dtype_argument(Value.In((*FLOATS, *COMPLEX)), Value.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS))
SAME = dtype_or(DEFAULT_FLOAT)
WINDOW = (
    length("window_length", *HOW_MANY),
    OF_FLOATS,
    result(SAME, shaped(lambda window_length: (window_length,))),
)
PERIODIC = boolean("periodic")


def _factor(name: str) -> Argument:
    size = Value.In(REALS.within(-16.0, 16.0)).unjudged("half types may not hold larger ones, or their sums")
    return real(name, size, Value.Be((0.5, 0.54, 0.46)))


def _window(name: str, *more: Argument) -> None:
    spec(name, WINDOW[0], *more, *WINDOW[1:])


for _name in ("hann", "hamming", "blackman", "bartlett"):
    _window(f"aten::{_name}_window")
    _window(f"aten::{_name}_window.periodic", PERIODIC)
_window("aten::hamming_window.periodic_alpha", PERIODIC, _factor("alpha"))
_window("aten::hamming_window.periodic_alpha_beta", PERIODIC, _factor("alpha"), _factor("beta"))

INTEGRAL = "torch makes them of integers, too, and documents floats"
FREQUENCIES = (
    length("n", Value.Ge(1).unjudged("torch divides by n, and has no frequency of no sample"), *HOW_MANY[1:]),
    real("d", Value.In(REALS.within(2.0**-10, 2.0**10)).unjudged("P251"), Value.Be((1.0, 0.5, 0.1))),
    dtype_argument(Value.In(FLOATS).unjudged(INTEGRAL)),
)
spec("aten::fft_fftfreq", *FREQUENCIES, result(SAME, shaped(lambda n: (n,))))
spec("aten::fft_rfftfreq", *FREQUENCIES, result(SAME, shaped(lambda n: (n // 2 + 1,))))
