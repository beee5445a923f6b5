"""Products with quantized weights: the domain of the arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import index_tensor, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import dtype_of, shaped, sized
from conform.domains.specs import spec

TILED = "nothing is documented; some of torch's kernels read beyond the end of what their tiles do not divide"
INNER = tuple(range(32, 2**15 + 1, 32))

spec(
    "aten::_weight_int8pack_mm",
    tensor(
        "self",
        Dtype.In(("float16", "bfloat16", "float32")).unjudged("a matter of the backend"),
        Rank.Eq(2),
        Size.Ge(1).unjudged("nothing to multiply"),
        Size.In(lambda d: INNER if d == 1 else ANYTHING, text="{32, 64, ..., 32768} if d = 1").unjudged(TILED),
    ),
    index_tensor(
        "mat2",
        Dtype.Eq("int8"),
        Rank.Eq(2).unjudged("some of torch's kernels look at the first sizes alone"),
        Size.Ge(1).unjudged("nothing to multiply"),
        sized(lambda self: (None, self.size(1)), "{size(self, 1)} where d = 1"),
    ),
    tensor("scales", dtype_of("self").unjudged("a matter of the backend"), shaped(lambda mat2: mat2.shape[:1])),
    result(dtype_of("self"), shaped(lambda self, mat2: (self.shape[0], mat2.shape[0]))),
)
