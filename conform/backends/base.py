"""The interface that a backend implements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conform.errors import ConformError, Unsupported


class BackendUnavailable(ConformError):
    """A backend that cannot start: its device is missing, an import failed, its process died while loading."""

    exit_code = 3


class Backend:
    """Runs operators. A subclass sets `name` (and `version`, if it has one) and implements `run`.

    It is created without arguments, in a worker process of its own that never sees an expected value; an instance that
    is given in Python is pickled and sent there. `device` is the kind of hardware a test's `device` field is held
    against: a torch device string, by default "cpu". A backend that exports its calls to a runtime with tensor inputs
    alone sets `exports`: scalar nodes then arrive as tensors of shape (1,), scalar_tensor nodes as 0-d tensors.

    Two fields declare arithmetic that is not IEEE 754's; what is not declared is not allowed for. `compute` says how
    matrices are multiplied and images convolved: "ieee" (in the element type, half types in float32), "tf32" and
    "bf16x3" (float32 factors cut to TF32, or as products of bfloat16 halves), "f16acc" (float16 products added up in
    float16). `flushes_subnormals`: arithmetic, comparisons and conversions take subnormal operands, and give subnormal
    results, as zeros of their sign, all of them; moves and negations keep them (docs/policy.md, P7).

    Two more name ops ("aten::logsumexp", "aten::prod.dim_int") whose results of half types are off by more than a
    rounding. `rounds_intermediates`: what each step of the documented formula gives is rounded to the element type.
    `accumulates_in_element_type`: so are partial sums and products, which are float32 otherwise.

    `keeps_intermediates`: of a module every operator is a call of its own, whose result is rounded to its dtype and
    stored. Each of them is then asked for, and judged by itself on what the ones before it gave.

    `views_share_memory`: the result of an op that torch documents as a view ("aten::transpose.int") lies in the memory
    of its argument, in the CPU's as `run` gets it. What declares that is held to it.
    """

    name: str = ""
    version: str | None = None
    device: str = "cpu"
    exports: bool = False
    compute: str = "ieee"
    flushes_subnormals: bool = False
    rounds_intermediates: Sequence[str] = ()
    accumulates_in_element_type: Sequence[str] = ()
    keeps_intermediates: bool = False
    views_share_memory: bool = False

    def numerics(self) -> dict[str, str | int | bool]:
        """What decides, beside `version`, which kernels run and how they compute: by default the instruction sets,
        switches, threads and precisions of torch in this process.

        Runs that differ here are runs of different backends. It is asked once, when the backend has been created; a
        backend that uses another engine adds that (`{**super().numerics(), "engine": "3.1, fp16"}`) or tells it alone.
        """
        from conform.backends.torch_numerics import torch_numerics

        return torch_numerics(self.device)

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result of one call: a torch tensor on any device, a Python scalar, None, or a tuple or list of these.

        `op` is a resolved overload ("aten::add.Tensor", "aten::exp"); `args` and `kwargs` are what torch's operator
        takes: CPU tensors, Python scalars, lists, None, torch.dtype and its like. The tensors must not be written to,
        but for those into which the overload writes its results ("aten::add_.Tensor", "aten::add.out"), and returns.
        Raises `conform.Unsupported` with a reason for what the backend does not do; any other exception is an error.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement run(op, args, kwargs)")

    def gradients(
        self, op: str, args: list[Any], kwargs: dict[str, Any], cotangents: Sequence[Any], wanted: Sequence[int]
    ) -> Sequence[Any]:
        """The gradients of the tensors `wanted`, each a tensor of that one's shape and dtype, on any device: of the sum
        of cotangent * output over the outputs of `run`. `wanted` numbers the tensors among `args` and `kwargs`, lists
        flattened; `cotangents` has, for each output, a CPU tensor of its shape and dtype, or None of one that has no
        part in it (indices). Arguments and errors are as in `run`.

        By default torch's autograd goes back through what `run` returns; where that carries no graph, it is
        unsupported. A backend with kernels of its own for gradients calls them here.
        """
        from conform.backends.autograd import gradients_of, tensors_of

        tensors = tensors_of(args, kwargs)
        return gradients_of(lambda: self.run(op, args, kwargs), [tensors[number] for number in wanted], cotangents)

    def run_module(self, module: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a torch module, in evaluation mode or not as it was given, returns for the arguments: tensors on any
        device, in tuples, lists and dicts. The module is a copy for this call; arguments and errors are as in `run`.

        By default eager torch takes the module apart, and each operator that computes goes through `run`.
        """
        from conform.backends.eager import run_by_operators

        return run_by_operators(self, module, args, kwargs)

    def run_program(self, text: str, args: list[Any]) -> Sequence[Any]:
        """What the function `main` of a StableHLO program, the only public one, returns for the arguments: a tensor for
        each result, on any device, in the order of the text. Arguments and errors are as in `run`.

        By default none is run: an engine that compiles MLIR does so.
        """
        raise Unsupported(f"{self.name} runs no StableHLO programs")
