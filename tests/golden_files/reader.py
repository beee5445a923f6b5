"""A reader of golden files, and a judge by the rules of docs/golden.md: made from that page, with none of the kit."""

from __future__ import annotations

import json
import math
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes  # the meaning of codes of small floats
import numpy as np

IN_FILE = {
    "BOOL": "?", "I8": "<i1", "U8": "<u1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4", "I64": "<i8",
    "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8", "BF16": "<u2", "F8_E4M3": "<u1", "F8_E5M2": "<u1",
}  # fmt: skip
FLOATS = {  # p, emin, emax, largest, has infinity, has -0
    "float16": (11, -14, 15, 65504.0, True, True),
    "bfloat16": (8, -126, 127, 255 * 2.0**120, True, True),
    "float32": (24, -126, 127, (2**24 - 1) * 2.0**104, True, True),
    "float64": (53, -1022, 1023, (2**53 - 1) * 2.0**971, True, True),
    "float8_e4m3fn": (4, -6, 8, 448.0, False, True),
    "float8_e5m2": (3, -14, 15, 57344.0, True, True),
    "float8_e4m3fnuz": (4, -7, 7, 240.0, False, False),
    "float8_e5m2fnuz": (3, -15, 15, 57344.0, False, False),
    "float8_e8m0fnu": (1, -127, 127, 2.0**127, False, False),
}


class Set:
    """A directory of golden files."""

    def __init__(self, directory: Path) -> None:
        self.manifest = json.loads((directory / "manifest.json").read_bytes())
        self._tensors: dict[str, dict[str, tuple[str, list[int], bytes]]] = {}
        for name in self.manifest["files"]:
            whole = (directory / name).read_bytes()
            (length,) = struct.unpack("<Q", whole[:8])
            header, data = json.loads(whole[8 : 8 + length]), whole[8 + length :]
            assert header.pop("__metadata__") == {"format": "conform.golden/1"}
            self._tensors[name] = {
                key: (told["dtype"], told["shape"], data[slice(*told["data_offsets"])]) for key, told in header.items()
            }

    def tensor(self, case: dict[str, Any], key: str, dtype: str) -> np.ndarray:
        """A tensor of the dtype of the kit; small floats as arrays of ml_dtypes."""
        written, shape, data = self._tensors[case["file"]][key]
        array = np.frombuffer(data, IN_FILE[written])
        if dtype.startswith("complex"):
            return array.reshape(shape).view(dtype).reshape(shape[:-1])
        if dtype in ("int4", "uint4"):
            return array.astype(getattr(ml_dtypes, dtype)).reshape(shape)
        if array.dtype.kind == "u" and dtype not in ("uint8", "uint16", "uint32", "uint64"):
            return array.view(getattr(ml_dtypes, dtype)).reshape(shape)
        return array.reshape(shape)

    def argument(self, case: dict[str, Any], told: Any) -> Any:
        if isinstance(told, list):
            return [self.argument(case, one) for one in told]
        if not isinstance(told, dict):
            return told
        if "float" in told:
            return float.fromhex(told["float"])
        if "complex" in told:
            return complex(*map(float.fromhex, told["complex"]))
        return int(told["int"]) if "int" in told else self.tensor(case, told["tensor"], told["dtype"])


def right(held: Set, case: dict[str, Any], output: dict[str, Any], actual: np.ndarray) -> np.ndarray:
    """Whether each element of a real output is right, by one of its readings."""
    return np.any([_by_one(held, case, one, actual) for one in (output, *output.get("or", []))], axis=0)


def _by_one(held: Set, case: dict[str, Any], told: dict[str, Any], actual: np.ndarray) -> np.ndarray:
    def beside(name: str, dtype: str, absent: Any) -> np.ndarray:
        if name not in told:
            return absent
        return held.tensor(case, told[name], dtype).reshape(-1)

    golden = held.tensor(case, told["tensor"], told["dtype"]).reshape(-1)
    bound = beside("bound", "float64", None)
    hi = beside("hi", "float64", [None] * golden.size)
    lo, rest = beside("lo", "float64", np.zeros(golden.size)), beside("rest", "float64", np.zeros(golden.size))
    free = beside("zero_sign_free", "bool", np.zeros(golden.size, bool))
    absolute = beside("absolute", "float64", np.zeros(golden.size))
    ranks = held.tensor(case, told["ties"]["ranks"], "int64") if "ties" in told else None
    assert ranks is None, "ties are for another test"
    pairs = zip(actual.reshape(-1), golden, bound, hi, lo, rest, absolute, free, strict=True)
    found = [_is_right(told["dtype"], told["kind"], *one) for one in pairs]
    return np.array(found, bool).reshape(actual.shape)


def _is_right(
    dtype: str, kind: str, a: Any, g: Any, b: float, hi: float | None, lo: float, rest: float, absolute: float,
    sign_is_free: bool,
) -> bool:  # fmt: skip
    if b == math.inf:
        return True
    if dtype not in FLOATS:
        return bool(a == g)
    _, _, _, largest, has_inf, has_negative_zero = FLOATS[dtype]
    a, g = float(a), float(g)
    hi = g if hi is None else float(hi)
    overflow_is_nan = not has_inf and math.isnan(g) and not math.isnan(hi)
    if (math.isnan(a) or math.isnan(g)) and not overflow_is_nan:
        return math.isnan(a) and math.isnan(g)
    if a == 0 and g == 0:
        return sign_is_free or not has_negative_zero or math.copysign(1, a) == math.copysign(1, g)
    if a == g or (math.isnan(a) and math.isnan(g)):
        return True
    if b == 0 or (kind in ("exact", "ulp") and b <= 0.5):
        return False
    if math.isnan(b):
        return abs((a - hi) - float(lo)) <= absolute
    p, _, emax, *_ = FLOATS[dtype]
    last = Fraction(largest)
    edge = last + Fraction(2) ** (emax - p + 1)  # the number after the largest
    x = edge * (1 if hi > 0 else -1) if math.isinf(hi) else Fraction(hi) + Fraction(float(lo))
    x += Fraction(float(rest)) * Fraction(2) ** -1074
    unit = _ulp(dtype, x)
    x = max(-edge, min(edge, x))
    if math.isnan(a) or math.isinf(a):
        counted = edge * (1 if (a > 0 if math.isinf(a) else x > 0) else -1)
    else:
        counted = Fraction(a)
    return abs(counted - x) / unit <= Fraction(float(b)) * (1 + Fraction(2) ** -40)  # bounds are computed in float64


def _ulp(dtype: str, x: Fraction) -> Fraction:
    p, emin, emax, *_ = FLOATS[dtype]
    size, e = abs(x), emin
    if size:
        e = size.numerator.bit_length() - size.denominator.bit_length()
        e -= Fraction(2) ** e > size
    return Fraction(2) ** (min(max(e, emin), emax) - p + 1)
