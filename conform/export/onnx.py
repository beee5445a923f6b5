"""A case as a model in ONNX: for each output it gives how many elements are wrong.

torch.onnx writes the op; what may come out is the kit's. The inputs are inputs of the graph with defaults, which a
runtime must not compute with before it runs, and which need not be fed. Between an output and what is compared its
elements are gathered by such an input as well: onnxruntime leaves out a rounding to float16 that a conversion follows.
Compared are they in float64, which holds all their numbers; -0 and +0 by the infinities that they are the reciprocals
of.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.call.schemas import schema
from conform.errors import UsageError
from conform.export.allowed import Allowed
from conform.export.case import Exported
from conform.foreign import line
from conform.numerics.formats import format_of

MISSING = "ONNX needs its packages: pip install 'conform[onnx]'"


def model(exported: Exported) -> bytes:
    """The model. UsageError for what torch.onnx has no form of, and where its packages are missing."""
    try:
        import onnx
    except ImportError:
        raise UsageError(MISSING) from None
    if exported.program is not None:
        raise UsageError(f"{exported.case.id}: a StableHLO program has no form in ONNX here")
    made = _by_torch(exported)
    _give_defaults(made.graph, exported)
    outputs = [one.name for one in made.graph.output]
    if len(outputs) != len(exported.outputs):
        raise UsageError(f"{exported.case.op}: its form in ONNX has {len(outputs)} outputs, expected "
                         f"{len(exported.outputs)}")  # fmt: skip
    counts = [_Compared(made.graph, at, name, may).count()
              for at, (name, may) in enumerate(zip(outputs, exported.outputs, strict=True))]  # fmt: skip
    del made.graph.output[:]
    made.graph.output.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, []) for name in counts)
    made.doc_string = f"{exported.case.id}: {exported.case.op}, contract {exported.contract}, seed {exported.seed}"
    try:
        onnx.checker.check_model(made, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise UsageError(f"{exported.case.op} has no form in ONNX on these dtypes: {line(error, 200)}") from None
    return made.SerializeToString()


def _by_torch(exported: Exported) -> Any:
    """The op as torch.onnx has it."""
    import torch

    from conform.backends.interpreter import to_torch
    from conform.backends.one_op import OneOp

    op = exported.case.op
    given = {name: _torch_value(value, to_torch) for name, value in exported.arguments.items()}
    keywords = {one.name for one in schema(op).arguments if one.kwarg_only}
    args = tuple(value for name, value in given.items() if name not in keywords)
    kwargs = {name: value for name, value in given.items() if name in keywords and value is not None}
    try:
        with _quiet():
            made = torch.onnx.export(OneOp(op).eval(), args, kwargs=kwargs, dynamo=True, verbose=False, optimize=False)
    except ImportError:
        raise UsageError(MISSING) from None
    except Exception as error:  # whatever the exporter meets
        raise UsageError(f"{op} has no form in ONNX by torch {torch.__version__}: {line(error, 200)}") from None
    return made.model_proto


def _torch_value(value: Any, to_torch: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return to_torch(np.asarray(value))
    return [_torch_value(one, to_torch) for one in value] if isinstance(value, list | tuple) else value


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter says of packages that it would like to have."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _give_defaults(graph: Any, exported: Exported) -> None:
    arrays = list(exported.tensors.values())
    if len(graph.input) != len(arrays):
        raise UsageError(f"{exported.case.op}: its form in ONNX takes {len(graph.input)} tensors of {len(arrays)}")
    graph.initializer.extend(_tensor(one.name, array) for one, array in zip(graph.input, arrays, strict=True))


def _tensor(name: str, array: np.ndarray) -> Any:
    """A constant, its elements as bytes."""
    import onnx

    types = {"bool": "BOOL", "float32": "FLOAT", "float64": "DOUBLE"}
    fmt = format_of(array).name
    kind = types.get(fmt, fmt.upper())
    if kind not in onnx.TensorProto.DataType.keys():  # noqa: SIM118  (an enum of protobuf)
        raise UsageError(f"ONNX has no tensors of {fmt}")
    number = onnx.TensorProto.DataType.Value(kind)
    return onnx.helper.make_tensor(name, number, array.shape, array.tobytes(), raw=True)


class _Compared:
    """The nodes that compare an output."""

    def __init__(self, graph: Any, number: int, actual: str, may: Allowed) -> None:
        flat = {name: getattr(may, name).reshape(-1) for name in ("low", "high", "nan", "free")}
        self.graph, self.number, self.may, self.made = graph, number, replace(may, **flat), 0
        self.actual = self._apart(actual)

    def _apart(self, actual: str) -> str:
        """[n] the elements of an output, which nothing that is done with them may change."""
        import onnx

        places = self.constant(np.arange(self.may.low.size))
        self.graph.input.append(onnx.helper.make_tensor_value_info(places, onnx.TensorProto.INT64, [self.may.low.size]))
        row = self.node("Reshape", [actual, self.constant(np.array([-1]))])
        return self.node("Gather", [row, places])

    def node(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        import onnx

        self.made += 1
        name = f"conform.{self.number}.{self.made}"
        self.graph.node.append(onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, array: np.ndarray) -> str:
        self.made += 1
        name = f"conform.{self.number}.{self.made}"
        self.graph.initializer.append(_tensor(name, np.asarray(array)))
        return name

    def cast(self, name: str, to: str) -> str:
        import onnx

        return self.node("Cast", [name], to=onnx.TensorProto.DataType.Value(to))

    def count(self) -> str:
        """The name of an output: how many elements are wrong, int64."""
        right = self.node("Or", [self._right(), self.constant(self.may.free)])
        wrong = self.cast(self.node("Not", [right]), "INT64")
        return self.node("ReduceSum", [wrong], keepdims=0)

    def _right(self) -> str:
        fmt = self.may.format
        if fmt.kind == "bool":
            return self.node("Equal", [self.actual, self.constant(self.may.low)])
        if not fmt.is_float:
            if fmt.name == "uint64":
                raise UsageError("uint64 is compared by no op of ONNX without loss")
            expected = self.constant(self.may.low.astype(np.int64))
            return self.node("Equal", [self.cast(self.actual, "INT64"), expected])
        return self._within()

    def _within(self) -> str:
        may, wide = self.may, self.cast(self.actual, "DOUBLE")
        low, high = (np.where(may.nan | may.free, 0.0, one.astype(np.float64)) for one in (may.low, may.high))
        above = self.node("LessOrEqual", [self.constant(low), wide])
        below = self.node("LessOrEqual", [wide, self.constant(high)])
        within = self.node("And", [self.node("And", [above, below]), self.constant(~may.nan)])
        within = self.node("And", [within, self._signed_rightly(wide, low, high)])
        is_nan = self.node("And", [self.node("IsNaN", [wide]), self.constant(may.nan)])
        return self.node("Or", [within, is_nan])

    def _signed_rightly(self, wide: str, low: np.ndarray, high: np.ndarray) -> str:
        """Whether a zero is one that may be: -0 not where +0 is the first number, +0 not where -0 is the last."""
        reciprocal = self.node("Div", [self.constant(np.ones((), np.float64)), wide])
        wrong = []
        for sign, barred in ((-np.inf, (low == 0) & ~np.signbit(low)), (np.inf, (high == 0) & np.signbit(high))):
            is_such = self.node("Equal", [reciprocal, self.constant(np.array(sign))])
            wrong.append(self.node("And", [is_such, self.constant(barred)]))
        return self.node("Not", [self.node("Or", wrong)])
