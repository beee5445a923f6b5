"""Elementwise ops: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL, spec

spec("aten::add", dtypes=(*REAL, *COMPLEX))
spec("aten::mul", dtypes=(*REAL, *COMPLEX))
spec("aten::div", dtypes=REAL)
spec("aten::div.Tensor_mode", dtypes=NUMBERS, nonzero_integers=["other"])
spec("aten::div.Scalar_mode", dtypes=REAL, nonzero_integers=["other"])  # bool with an int is int64
spec("aten::maximum", dtypes=REAL)
spec("aten::remainder", dtypes=NUMBERS, nonzero_integers=["other"])
spec("aten::remainder.Scalar", dtypes=REAL, nonzero_integers=["other"])
spec("aten::remainder.Scalar_Tensor", dtypes=REAL, nonzero_integers=["other"])
spec("aten::eq", dtypes=REAL)
spec("aten::where", dtypes=REAL, index_arguments=["condition"])
spec("aten::bitwise_and", dtypes=("bool", *INTEGERS))
spec("aten::neg", dtypes=NUMBERS)
spec("aten::abs", dtypes=NUMBERS)
spec("aten::round", dtypes=NUMBERS)
spec("aten::round.decimals", dtypes=FLOATS)
spec("aten::exp", dtypes=REAL)
spec("aten::sqrt", dtypes=REAL)
spec("aten::sin", dtypes=REAL)
spec("aten::gelu", dtypes=FLOATS)
spec("aten::_to_copy", dtypes=REAL)
