"""reduce_precision on the codes of IEEE 754's formats, bit by bit from the specification's text."""

from __future__ import annotations

from conform.refs.exact.rounding import FloatFormat


def reduce_precision(fmt: FloatFormat, code: int, exponent_bits: int, mantissa_bits: int) -> int:
    """The code of the element; NaN and infinities stay. Ties go to the even code."""
    own_mantissa = fmt.precision - 1
    own_exponent = fmt.bits - 1 - own_mantissa
    sign, size = divmod(code, 1 << (fmt.bits - 1))
    infinity = ((1 << own_exponent) - 1) << own_mantissa
    if size >= infinity:
        return code
    dropped = max(own_mantissa - mantissa_bits, 0)
    kept, rest = divmod(size, 1 << dropped)
    if 2 * rest > 1 << dropped or (2 * rest == 1 << dropped and kept % 2 == 1):
        kept += 1  # a carry out of the mantissa is one into the exponent, up to infinity
    size = kept << dropped
    if exponent_bits < own_exponent:
        largest = 2 ** (exponent_bits - 1) - 1
        exponent = (size >> own_mantissa) - fmt.emax
        size = infinity if exponent > largest else 0 if exponent < 1 - largest else size
    return (sign << (fmt.bits - 1)) | size
