"""The classes of real backend bugs, as public issue trackers tell of them, that a planted defect can have.

Not among them: huge tensors (M08); NaN payloads and integer division by zero, which the policy leaves open (M19, M23);
resizing (M40); run-to-run differences (M42); chains of ops (M36, M44); what no result shows: reading the harness's
memory, fallbacks, known seeds, empty suites (H3, H5, H7, H8).
"""

from __future__ import annotations

from collections.abc import Mapping

BUGS: Mapping[str, str] = {
    "M01": "strides ignored",
    "M02": "storage offset dropped",
    "M03": "expanded tensors",
    "M04": "layout of the output",
    "M05": "writes to its inputs, or outside",
    "M06": "output not written",
    "M07": "result of an earlier call",
    "M09": "rank and shape",
    "M10": "dims of size 0",
    "M11": "sizes at the edge of a block",
    "M12": "NaN and infinities lost",
    "M13": "order of NaN",
    "M14": "ties",
    "M15": "sentinel indices",
    "M16": "sign of zero",
    "M17": "subnormals flushed",
    "M18": "unstable softmax",
    "M20": "integers through floats",
    "M21": "casts that saturate",
    "M22": "uint8 as int8",
    "M24": "sign of a remainder",
    "M25": "inexact division before rounding",
    "M26": "halfway cases",
    "M27": "powers",
    "M28": "dtype of the result",
    "M29": "short accumulators",
    "M30": "short factors",
    "M31": "cancellation in variances and norms",
    "M32": "naive formulas, lost tails",
    "M33": "overflow on the way",
    "M34": "wrong approximant",
    "M35": "too little precision between steps",
    "M37": "arguments ignored or altered",
    "M38": "invalid arguments accepted",
    "M39": "divisor of a pool",
    "M41": "repeated indices",
    "M43": "operands, heights and widths mixed up",
    "M45": "complex branch cuts and conjugates",
    "R1": "random numbers of another distribution",
    "H1": "cheats: zeros, nearly right",
    "H2": "cheats: NaN everywhere",
    "H4": "cheats: returns its input",
    "H6": "cheats: drifts after some calls",
}
