"""conv1d to conv3d and their transposes: convolution with a padding by name, and with or without a batch dim."""

from __future__ import annotations

from conform.refs.contraction.convolution import convolution
from conform.refs.exact.tensor import RefTensor, one_per_dim, positions, strides_of
from conform.refs.references import reference

Ints = list[int] | int


def _convolved(
    spatial: int, input: RefTensor, weight: RefTensor, bias: RefTensor | None, stride: Ints, padding: Ints,
    dilation: Ints, groups: int, output_padding: Ints | None = None,
) -> RefTensor:  # fmt: skip
    """The convolution of (N, C, *), or (C, *) without the batch dim in the result; transposed with output_padding."""
    if len(input.shape) not in (spatial + 1, spatial + 2):
        raise ValueError(f"input of (C, *) or (N, C, *) with {spatial} spatial dims, found {input.shape}")
    single = len(input.shape) == spatial + 1
    batch = RefTensor(input.dtype, (1, *input.shape), input.data) if single else input
    if len(weight.shape) != spatial + 2:
        raise ValueError(f"a weight of {spatial + 2} dims, found {weight.shape}")
    transposed = output_padding is not None
    added = output_padding if transposed else 0
    result = convolution(batch, weight, bias, stride, padding, dilation, transposed, added, groups)
    return RefTensor(result.dtype, result.shape[1:], result.data) if single else result


def _named_padding(
    spatial: int, input: RefTensor, weight: RefTensor, bias: RefTensor | None, stride: Ints, padding: str,
    dilation: Ints, groups: int,
) -> RefTensor:  # fmt: skip
    """padding "valid" is none; "same" (stride 1) gives the input's sizes: an odd total has one more at the end."""
    if padding == "valid":
        return _convolved(spatial, input, weight, bias, stride, 0, dilation, groups)
    if padding != "same" or set(one_per_dim(stride, spatial, "stride")) != {1}:
        raise ValueError(f"padding is 'valid', or 'same' with stride 1; found {padding!r} with stride {stride}")
    if len(weight.shape) != spatial + 2:
        raise ValueError(f"a weight of {spatial + 2} dims, found {weight.shape}")
    gaps = one_per_dim(dilation, spatial, "dilation")
    totals = [gap * (size - 1) for gap, size in zip(gaps, weight.shape[2:], strict=True)]
    # An end padding of (total + 1) // 2 on either side has, for an odd total, one window too many, the first.
    wide = _convolved(spatial, input, weight, bias, 1, [(total + 1) // 2 for total in totals], dilation, groups)
    return _without_first(wide, [total % 2 for total in totals])


def _without_first(tensor: RefTensor, dropped: list[int]) -> RefTensor:
    """The last dims without their first `dropped` elements each."""
    dropped = [0] * (len(tensor.shape) - len(dropped)) + dropped
    shape = tuple(size - less for size, less in zip(tensor.shape, dropped, strict=True))
    strides = strides_of(tensor.shape)
    start = sum(less * stride for less, stride in zip(dropped, strides, strict=True))
    return RefTensor(tensor.dtype, shape, [tensor.data[i] for i in positions(shape, strides, start)])


def _register(spatial: int, transposed_name: str) -> None:
    @reference(f"aten::conv{spatial}d")
    def forward(
        input: RefTensor, weight: RefTensor, bias: RefTensor | None = None, stride: Ints = 1, padding: Ints = 0,
        dilation: Ints = 1, groups: int = 1,
    ) -> RefTensor:  # fmt: skip
        """The convolution of (N, C, *) or (C, *), weight (C_out, C_in / groups, *)."""
        return _convolved(spatial, input, weight, bias, stride, padding, dilation, groups)

    @reference(f"aten::conv{spatial}d.padding")
    def named(
        input: RefTensor, weight: RefTensor, bias: RefTensor | None = None, stride: Ints = 1, padding: str = "valid",
        dilation: Ints = 1, groups: int = 1,
    ) -> RefTensor:  # fmt: skip
        """The convolution padded by name."""
        return _named_padding(spatial, input, weight, bias, stride, padding, dilation, groups)

    @reference(transposed_name)
    def transposed(
        input: RefTensor, weight: RefTensor, bias: RefTensor | None = None, stride: Ints = 1, padding: Ints = 0,
        output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
    ) -> RefTensor:  # fmt: skip
        """The transposed convolution of (N, C, *) or (C, *), weight (C_in, C_out / groups, *)."""
        return _convolved(spatial, input, weight, bias, stride, padding, dilation, groups, output_padding)


_register(1, "aten::conv_transpose1d")
_register(2, "aten::conv_transpose2d.input")
_register(3, "aten::conv_transpose3d.input")
