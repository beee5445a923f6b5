"""torch.compile, a call at a time: the backends `inductor` and `aot_eager`."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from conform.backends.torch_device import TorchDevice, overload
from conform.errors import Fallback

# In the program that Inductor writes, calls of operators for which it has no code. Kernels of libraries that it chooses
# (`extern_kernels.mm`) are its own doing.
_EAGER = re.compile(r"\btorch\.ops\.(\w+\.\w+\.\w+)\(")
# And its own code, with those kernels.
_OWN = re.compile(r"\bextern_kernels\.|\bcpp_fused_|\btriton_")


class Compiled(TorchDevice):
    """Compiles every call by torch.compile in `mode` "inductor" or "aot_eager", for `device`.

    A call raises Fallback where the compiler hands it back: dynamo breaks the graph, or Inductor has no code for the
    operators and calls those of eager torch, with no code of its own beside them. Fast paths of torch's layers, each
    one operator of eager torch, are switched off. `recurrent`: dynamo takes RNN, GRU and LSTM as well, which it leaves
    to eager torch by default. `math_attention`: scaled_dot_product_attention is taken as products and a softmax, and
    not as one kernel of eager torch. `onednn=False`: nothing is handed to oneDNN, which takes an LSTM in bfloat16
    and has a kernel for it on some processors alone.
    """

    def __init__(
        self,
        mode: str,
        device: str = "cpu",
        *,
        recurrent: bool = False,
        math_attention: bool = False,
        onednn: bool = True,
    ) -> None:
        import torch._dynamo.config
        import torch._inductor.config

        torch._inductor.config.compile_threads = 1  # else it starts processes that outlive a call
        torch._dynamo.config.allow_rnn = recurrent
        # Compiled programs are kept on disk by their graphs, whatever attention or an LSTM was compiled as.
        torch._inductor.config.force_disable_caches = math_attention or not onednn
        if not onednn:
            torch.backends.mkldnn.set_flags(False)
        torch.backends.mha.set_fastpath_enabled(False)
        super().__init__(device)
        self.mode, self.math_attention = mode, math_attention
        self.name = mode if device == "cpu" else f"{mode} on {device}"

    def kernel(self, op: str) -> Callable[..., Any]:
        """The operator, to be compiled for the arguments of its call."""
        return partial(self._compiled, overload(op))

    def of_module(self, module: torch.nn.Module) -> Callable[..., Any]:
        """The module, to be compiled as a whole for the arguments of its call."""
        return partial(self._compiled, module)

    def _compiled(self, called: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        from torch._inductor.utils import run_and_get_code

        def program(*args: Any, **kwargs: Any) -> Any:
            return called(*args, **kwargs)

        torch._dynamo.reset()  # dynamo gives up a function that was compiled for many shapes
        try:
            compiled = torch.compile(program, backend=self.mode, fullgraph=True, dynamic=False)
            with sdpa_kernel(SDPBackend.MATH) if self.math_attention else nullcontext():
                result, sources = run_and_get_code(compiled, *args, **kwargs)
        except torch._dynamo.exc.Unsupported as error:
            raise Fallback(f"a graph break: {error}") from None
        called_eagerly = sorted({name for source in sources for name in _EAGER.findall(source)})
        if called_eagerly and not any(map(_OWN.search, sources)):
            raise Fallback(f"no code for it; eager torch was called: {', '.join(called_eagerly)}")
        return result
