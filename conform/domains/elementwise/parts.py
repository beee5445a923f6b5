"""Parts of numbers: the domains of their arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import SAME
from conform.domains.engine.arguments import result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.dtypes import component
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    dtype_common_to,
    dtype_of,
    not_complex_here,
    real_dtype_common_to,
    shape_of,
    shaped,
)
from conform.domains.specs import COMPLEX, FLOATS, INTEGERS, REAL, spec

PART = result(Dtype.Eq(lambda self: component(self.dtype)), shape_of("self"))

COMPLEX_OF = {component(dtype): dtype for dtype in COMPLEX}
OF_ITSELF = "torch gives a real self itself, an alias that its schema does not name"
spec("aten::conj_physical", tensor("self", Dtype.In(COMPLEX).unjudged(OF_ITSELF)), SAME)
spec("aten::real", tensor("self"), PART)
spec("aten::imag", tensor("self", Dtype.In(COMPLEX)), PART)
spec(
    "aten::view_as_real",
    tensor("self", Dtype.In(COMPLEX)),
    result(Dtype.Eq(lambda self: component(self.dtype)), shaped(lambda self: (*self.shape, 2), "(*shape(self), 2)")),
)
HALVES = Dtype.In(("float32", "float64")).unjudged("torch makes complex32 of float16, which the kit has not")
spec(
    "aten::view_as_complex",
    tensor(
        "self",
        HALVES,
        Rank.Ge(1),
        Size.In(lambda rank, d: (2,) if d == rank - 1 else ANYTHING, text="{2} where d = rank(self) - 1"),
    ),
    result(Dtype.Eq(lambda self: COMPLEX_OF[self.dtype], text="the complex dtype of self"),
           shaped(lambda self: self.shape[:-1])),
)
spec(
    "aten::complex",
    tensor("real", HALVES),
    tensor("imag", dtype_of("real"), broadcastable_with("real")),
    result(
        Dtype.Eq(lambda real: COMPLEX_OF[real.dtype], text="the complex dtype of real"),
        broadcast_of("real", "imag"),
    ),
)
spec(
    "aten::polar",
    tensor("abs", Dtype.In(("float32", "float64"))),
    tensor("angle", dtype_of("abs"), broadcastable_with("abs")),
    result(Dtype.Eq(lambda abs: COMPLEX_OF[abs.dtype], text="the complex dtype of abs"), broadcast_of("abs", "angle")),
)
spec(
    "aten::copysign.Tensor",
    tensor("self", Dtype.In(REAL)),
    tensor("other", Dtype.In(REAL), broadcastable_with("self")),
    result(real_dtype_common_to("self", "other"), broadcast_of("self", "other")),
)
spec(
    "aten::copysign.Scalar",
    tensor("self", Dtype.In(REAL)),
    scalar("other", Dtype.Ne("complex")),
    result(real_dtype_common_to("self", "other"), shape_of("self")),
)
OF_ONE_DTYPE = "neighbours in one dtype are none in another"
spec(
    "aten::nextafter",
    tensor("self", Dtype.In(REAL), Dtype.NotIn(("bool", *INTEGERS)).unjudged(OF_ONE_DTYPE)),
    tensor("other", dtype_of("self").unjudged(OF_ONE_DTYPE), broadcastable_with("self")),
    result(dtype_common_to("self", "other"), broadcast_of("self", "other")),
)
spec("aten::frexp.Tensor", tensor("self", Dtype.In(FLOATS)), SAME, result(Dtype.Eq("int32"), shape_of("self")))
spec(
    "aten::ldexp.Tensor",
    tensor("self", not_complex_here()),
    tensor(
        "other",
        Dtype.In(INTEGERS).unjudged("torch takes powers that are no integers"),
        broadcastable_with("self"),
        Value.Be((-3, -2, -1, 0, 1, 2, 3, 5)),
    ),
    result(real_dtype_common_to("self", "other"), broadcast_of("self", "other")),
)
