"""Real functions: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import FLOATS, NUMBERS, REAL, spec

OF_ALL_REALS = (
    "exp2 special_exp2 expm1 special_expm1 log log2 log10 log1p special_log1p rsqrt reciprocal cos tan asin acos atan "
    "sinc special_sinc sinh cosh tanh asinh acosh atanh sigmoid erf special_erf erfc special_erfc erfinv "
    "special_erfinv special_ndtr lgamma digamma special_digamma i0 special_i0 special_i1 atan2 xlogy special_xlogy"
)

for _name in OF_ALL_REALS.split():
    spec(f"aten::{_name}", dtypes=REAL)
for _name in ("silu", "mish", "softplus", "hypot", "logaddexp"):
    spec(f"aten::{_name}", dtypes=FLOATS)
spec("aten::special_ndtri", dtypes=("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"))
spec("aten::pow", dtypes=NUMBERS)
