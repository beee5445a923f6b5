"""Constant folding of StableHLO programs: an op whose operands are all constants becomes the constant that the
interpreter gives for it.

What is folded is what the specification determines, correctly rounded: no engine computes it again, and all get the
same. Left alone are ops that have an effect or depend on more than their operands (`EFFECTS`), loops, which may not
end, results of more than `MOST_ELEMENTS` elements, which would make a short program long, and what has no meaning here
or is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from conform.errors import ConformError
from conform.frontends.stablehlo import RETURNS, Reader, parsed, text_of, texts_of
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Function, Op, Program
from conform.interp.stablehlo.dense import text as dense_text
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.quantization import quantization_of
from conform.interp.stablehlo.two_complement import reread
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import FORMATS

MOST_ELEMENTS = 2**16
CONSTANT = "stablehlo.constant"
EFFECTS = frozenset(
    f"stablehlo.{name}"
    for name in (
        "after_all", "all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute",
        "create_token", "cross-replica-sum", "custom_call", "infeed", "optimization_barrier", "outfeed", "partition_id",
        "recv", "reduce_scatter", "replica_id", "rng", "rng_bit_generator", "send", "while",
    )
)  # fmt: skip
DIALECTS = ("stablehlo.", "chlo.", "func.call")


@dataclass
class Folded:
    """What was made of a file: its new text, how many ops became constants, and why others with constant operands did
    not, each with its place."""

    text: str = ""
    folded: int = 0
    left: list[str] = field(default_factory=list)


def fold(path: Path, most_elements: int = MOST_ELEMENTS) -> Folded:
    """The programs of a file with their constants folded. UsageError, with file and line, for one that cannot be read
    or parsed."""
    return fold_text(text_of(path), str(path), most_elements)


def fold_text(text: str, file: str = "program", most_elements: int = MOST_ELEMENTS) -> Folded:
    """The same of a text; places in it are called by `file`."""
    found, texts = Folded(), []
    for one in texts_of(text, file):
        module = parsed(one, file)
        _Folder(Reader(file), found, most_elements).module(module)
        texts.append(str(module))
    found.text = "\n// -----\n\n".join(texts)
    return found


@dataclass
class _Folder:
    """One module; `known` are the values that are constants, as the kit has them."""

    reader: Reader
    found: Folded
    most_elements: int
    known: dict[Any, np.ndarray] = field(default_factory=dict)

    def module(self, module: Any) -> None:
        self.reader.functions(module)  # a module that the kit cannot read is refused as a whole
        for function in module.body.operations:
            if function.operation.name == "func.func":
                self._region(function.operation.regions[0])

    def _region(self, region: Any) -> None:
        for block in region.blocks:
            for op in [one.operation for one in block.operations]:
                if op.name not in RETURNS:
                    self._op(op)
            for op in reversed([one.operation for one in block.operations]):
                if op.name == CONSTANT and not any(True for _ in op.results[0].uses):
                    op.erase()

    def _op(self, op: Any) -> None:
        if op.name == CONSTANT:
            self.known[op.results[0]] = self.reader.op(op).attributes["value"]
            return
        read = self.reader.op(op)
        constants = self._constants(op, read)
        values = None if constants is None else self._values(read, constants)
        if values is None:
            for region in op.regions:
                self._region(region)
            return
        self._replace(op, values)

    def _constants(self, op: Any, read: Op) -> Mapping[str, np.ndarray] | None:
        """The constants that an op uses, by name; None where it uses more than these, or is none to be folded."""
        if not op.name.startswith(DIALECTS) or _has_effect(read) or not len(op.results):
            return None
        names = {self.reader.names[value]: array for value, array in self.known.items()}
        used = set(read.used())
        return {name: names[name] for name in used} if used <= names.keys() else None

    def _values(self, read: Op, constants: Mapping[str, np.ndarray]) -> list[np.ndarray] | None:
        """The results; None where there is none to be had, or they are none that a constant holds."""
        sizes = [None if None in value.shape else int(np.prod(value.shape)) for value in read.results]
        if any(size is None or size > self.most_elements for size in sizes):
            self._leave(read, f"a result of more than {self.most_elements} elements, or of a size that is not stated")
            return None
        typed = {value.name: value for value in self._typed(constants)}
        given = tuple(Op(CONSTANT, (), {"value": array}, (typed[name],)) for name, array in constants.items())
        function = Function((), (*given, read), tuple(value.name for value in read.results))
        try:
            results = evaluate(Program(function), StableHLO(), ())
        except ConformError as error:
            self._leave(read, str(error))
            return None
        return [one.array for one in results] if all(isinstance(one, Tensor) for one in results) else None

    def _typed(self, constants: Mapping[str, np.ndarray]) -> list[Any]:
        return [self.reader.value(value) for value in self.known if self.reader.names[value] in constants]

    def _leave(self, read: Op, why: str) -> None:
        self.found.left.append(f"{read.location}: {read.name} is left: {why}")

    def _replace(self, op: Any, values: list[np.ndarray]) -> None:
        from jaxlib.mlir import ir

        for result, array in zip(op.results, values, strict=True):
            # As text: the bindings have no class for constants of complex numbers.
            text = f'"{CONSTANT}"() {{value = {self._value(result, array)}}} : () -> {result.type}'
            with op.context, op.location:
                made = ir.Operation.parse(text)
            ir.InsertionPoint(op).insert(made)
            result.replace_all_uses_with(made.results[0])
            self.known[made.results[0]] = array
            self.reader.value(made.results[0])
        op.erase()
        self.found.folded += 1

    def _value(self, result: Any, array: np.ndarray) -> str:
        """A constant as MLIR writes it; the integers of a quantized one without a sign, which is `i8` and not `si8`."""
        quantization = quantization_of(self.reader.value(result).dtype)
        if quantization is not None:
            array = reread(array, quantization.storage, FORMATS[f"int{quantization.storage.bits}"])
        return dense_text(Tensor(array))


def _has_effect(op: Op) -> bool:
    """Whether it, or an op of a region or function that it runs, does more than to give results."""
    inner = (one for region in op.regions for one in region.ops)
    return op.name in EFFECTS or any(_has_effect(one) or not one.name.startswith(DIALECTS) for one in inner)
