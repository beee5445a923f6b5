"""`conform.fold`: a program with its constants folded by the interpreter, of whatever kind the program is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conform.errors import UsageError
from conform.operators import in_terms_of_the_kit, is_module

MOST_ELEMENTS = 2**16  # of a result that becomes a constant, by default


def fold(program: Any, *inputs: Any, most_elements: int = MOST_ELEMENTS, **named: Any) -> Any:
    """A StableHLO program (its text, or the Path of a file), or a torch module, in which every op of constant operands
    is the constant that the interpreter gives for it.

    Of a program: the text of the folded one (docs/stablehlo.md). Of a module: a module of the operators that
    torch.export makes of it for `inputs` and keyword arguments `named`, with its parameters, buffers and what follows
    from them as constants (docs/modules.md); it takes inputs of these dtypes and shapes, and returns a tensor, or a
    tuple of them in the order of the module's. Each constant is correctly rounded, as its operands are.

    Results of more than `most_elements` elements are left. Raises UsageError for what cannot be read or parsed, and
    without jaxlib for programs; Unjudged for types without a meaning, and for a module that torch.export does not take.
    """
    if is_module(program):
        from conform.frontends.folding import fold_module

        args = [in_terms_of_the_kit(value, f"inputs[{at}]") for at, value in enumerate(inputs)]
        kwargs = {key: in_terms_of_the_kit(value, key) for key, value in named.items()}
        return fold_module(program, args, kwargs, most_elements)
    if inputs or named:
        raise UsageError("conform.fold: inputs are those of a torch module; a StableHLO program states its own")
    if not isinstance(program, str | Path):
        raise UsageError(f"conform.fold: found {type(program).__name__}, expected the text or Path of a StableHLO "
                         "program, or a torch module")  # fmt: skip
    from conform.frontends import stablehlo_fold

    if isinstance(program, Path):
        return stablehlo_fold.fold(program, most_elements).text
    return stablehlo_fold.fold_text(program, most_elements=most_elements).text
