"""How numbers are written: shortest decimals of a format, hex of bits, and what JSON cannot hold as strings."""

from __future__ import annotations

import math

from conform.foreign import escaped

# Precision (bits) and smallest normal exponent, IEEE 754-2019 table 3.5; bfloat16: float32's exponents, 8 bits.
FLOAT_FORMATS = {"float16": (11, -14), "bfloat16": (8, -126), "float32": (24, -126)}
PRECISIONS = {**FLOAT_FORMATS, "float64": (53, -1022)}
COMPONENTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
NEXT_TO_NOTHING_ULP = 1e-6  # what is left of an exact result that is written as a hi + lo
INTEGER_BITS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (4, 8, 16, 32, 64)}


def in_ulps(written: object, dtype: str) -> float | None:
    """The size of a finite float, as `element_json` wrote it, in ulps of itself, a complex one's larger part; None of
    what is none, or of a format below 16 bits."""
    if isinstance(written, dict) and "real" in written:
        parts = [in_ulps(written[part], COMPONENTS.get(dtype, "")) for part in ("real", "imag")]
        return max((part for part in parts if part is not None), default=None)
    if not isinstance(written, dict) or dtype not in PRECISIONS:
        return None
    value, (precision, emin) = abs(float.fromhex(written["hex"])), PRECISIONS[dtype]
    if not math.isfinite(value):
        return None
    floor_log2 = max(math.frexp(value)[1] - 1, emin) if value else emin
    return math.ldexp(value, precision - 1 - floor_log2)


def decimal(value: int | float, dtype: str) -> str:
    """The shortest decimal that reads back as `value` in `dtype`; value is exactly an element of dtype."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value) or value == 0 or dtype not in FLOAT_FORMATS:
        return repr(float(value))
    below, above = _rounding_distance(abs(value), *FLOAT_FORMATS[dtype])
    for digits in range(1, 10):  # 9 digits always suffice for float32
        text = f"{value:.{digits}g}"
        error = abs(float(text)) - abs(value)
        if -below < error < above:
            return repr(float(text))
    return repr(float(value))


def _rounding_distance(magnitude: float, precision: int, emin: int) -> tuple[float, float]:
    """Half the distance to the next smaller and the next larger element of the format."""
    mantissa, exponent = math.frexp(magnitude)
    floor_log2 = max(exponent - 1, emin)
    ulp = math.ldexp(1.0, floor_log2 - precision + 1)
    at_power_of_two = mantissa == 0.5 and floor_log2 > emin
    return (ulp / 4 if at_power_of_two else ulp / 2), ulp / 2


def hexadecimal(value: int | float, dtype: str) -> str:
    """`0x1.8p+1` for a float (C99, no trailing zeros); two's complement in the dtype's width for an integer."""
    if isinstance(value, int):
        bits = INTEGER_BITS.get(dtype, 64)
        return f"{value % (1 << bits):#0{bits // 4 + 2}x}"
    if not math.isfinite(value):
        return repr(float(value))
    mantissa, exponent = float(value).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}p{exponent}"


def element_json(value: object, dtype: str | None) -> object:
    """A number as {"decimal": ..., "hex": ...}, a complex one as its two parts; all else as `json_value` has it."""
    if isinstance(value, complex):
        component = COMPONENTS.get(dtype or "", "float64")
        return {"real": element_json(value.real, component), "imag": element_json(value.imag, component)}
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return json_value(value)
    return {"decimal": decimal(value, dtype or "float64"), "hex": hexadecimal(value, dtype or "int64")}


def element_text(written: object) -> str:
    """What `element_json` wrote, for a person: `0.1 = 0x1.99999ap-4`, `(1.0 = 0x1p+0) + (2.0 = 0x1p+1)j`."""
    if isinstance(written, dict) and "real" in written:
        return f"({element_text(written['real'])}) + ({element_text(written['imag'])})j"
    if isinstance(written, dict):
        same = written["decimal"] == written["hex"]  # inf and nan
        return written["decimal"] if same else f"{written['decimal']} = {written['hex']}"
    return str(written)


def json_value(value: object) -> object:
    """`value` with every non-finite float as a string (`inf`, `-inf`, `nan`), tuples as lists, and text with what is
    not printable escaped; the rest as it is.

    Raises TypeError for what has no JSON form, rather than writing its repr.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return escaped(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {escaped(str(key)): json_value(item) for key, item in value.items()}
    raise TypeError(f"no JSON form of {value!r} ({type(value).__name__})")


def ulps(value: object) -> str:
    """A number of ulps at a glance: three significant digits, `0.50`, `12.3`, `1.2e+05`, `inf`; `0` of next to nothing.

    `value` is a float, or what `json_value` made of one.
    """
    if value is None:
        return "-"
    number = float(value)  # type: ignore[arg-type]  # `inf` and `nan` come as strings
    if not math.isfinite(number):
        return str(number)
    if abs(number) < NEXT_TO_NOTHING_ULP:
        return "0"
    if number == int(number) and abs(number) < 1e5:
        return str(int(number))
    return f"{number:.2f}" if abs(number) >= 0.01 and abs(number) < 100 else f"{number:.3g}"


def percent(part: int, whole: int) -> str:
    """`99.99 %`, rounded down so that only all of it is 100 %; `-` of nothing."""
    if whole == 0:
        return "-"
    hundredths = part * 10_000 // whole
    return f"{hundredths // 100}.{hundredths % 100:02d} %" if part < whole else "100 %"
