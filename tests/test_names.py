"""Every core operator of torch, and every name that people write kernels for, can be judged: a release of torch that
has more shows here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import conform
from conform.call.aliases import canonical
from conform.errors import Unjudged
from conform.interp import semantics

NO_TENSOR = {
    "aten::sym_is_contiguous", "aten::sym_numel", "aten::sym_size.int", "aten::sym_storage_offset",
    "aten::sym_stride.int",
}  # fmt: skip
RESIZES = {"aten::resize_"}  # about memory: the tensor it is given gets another shape, and numbers that nobody wrote

OPERATORS = """
    abs absolute linear matmul einsum conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    softmax log_softmax layer_norm group_norm batch_norm instance_norm rms_norm relu6 hardswish hardsigmoid selu
    celu prelu glu log_sigmoid softshrink hardshrink threshold max_pool1d max_pool2d max_pool3d avg_pool1d
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d pad pixel_shuffle unfold one_hot embedding_bag dropout cosine_similarity pairwise_distance
    scaled_dot_product_attention _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_efficient_attention _scaled_dot_product_attention_math transpose reshape split chunk stack
    unbind tile roll rot90 masked_fill masked_select index_add index_copy index_fill take take_along_dim
    searchsorted bucketize histc bincount _unique2 cummax cummin cumprod logcumsumexp diff lerp addcmul addcdiv
    addmv addr baddbmm addbmm mv dot vdot inner outer kron cross trace tril triu diag_embed meshgrid std_mean
    var_mean median nanmedian quantile mode kthvalue nansum nanmean count_nonzero all isclose allclose equal
    isfinite signbit copysign nextafter frexp ldexp heaviside gcd lcm bitwise_left_shift bitwise_right_shift
    floor_divide true_divide square nan_to_num deg2rad real imag conj polar complex view_as_real view_as_complex
    _scaled_mm _int_mm _weight_int8pack_mm fake_quantize_per_tensor_affine fake_quantize_per_channel_affine
""".split()  # noqa: SIM905
QUANTIZED = [f"{way}_per_{what}" for way in ("quantize", "dequantize") for what in ("tensor", "channel", "token")]

LINE = torch.tensor([[[0.5, -1.0, 2.0, 1.5]]])
IMAGE = torch.arange(16.0).reshape(1, 1, 4, 4)
VOLUME = torch.arange(8.0).reshape(1, 1, 2, 2, 2)
ROWS = torch.tensor([[0.25, 0.5], [0.75, 0.125]])
OTHERS = ROWS.T.contiguous()
CLASSES = torch.tensor([1, 0])
LENGTHS = torch.tensor([3]), torch.tensor([1])
MODES = [
    (LINE, "nearest", False), (LINE, "nearest-exact", False), (LINE, "area", False), (LINE, "linear", False),
    (IMAGE, "nearest", False), (IMAGE, "nearest-exact", False), (IMAGE, "area", False), (IMAGE, "bilinear", False),
    (IMAGE, "bicubic", False), (IMAGE, "bilinear", True), (IMAGE, "bicubic", True), (VOLUME, "nearest", False),
    (VOLUME, "nearest-exact", False), (VOLUME, "area", False), (VOLUME, "trilinear", False),
]  # fmt: skip
LOSSES: dict[str, tuple[Any, ...]] = {
    "CosineEmbeddingLoss": (ROWS, ROWS, torch.tensor([1.0, -1.0])),
    "CrossEntropyLoss": (ROWS, CLASSES),
    "GaussianNLLLoss": (ROWS, OTHERS, ROWS),
    "LinearCrossEntropyLoss": (ROWS, CLASSES),
    "MarginRankingLoss": (ROWS[0], ROWS[1], torch.tensor([1.0, -1.0])),
    "MultiLabelMarginLoss": (ROWS, torch.tensor([[1, -1], [0, 1]])),
    "MultiMarginLoss": (ROWS, CLASSES),
    "NLLLoss": (ROWS, CLASSES),
    "TripletMarginLoss": (ROWS, OTHERS, ROWS),
    "TripletMarginWithDistanceLoss": (ROWS, OTHERS, ROWS),
}
SETTINGS = {"KLDivLoss": {"reduction": "batchmean"}, "LinearCrossEntropyLoss": {"in_features": 2, "num_classes": 2}}
NOT_EXPORTED = {"CTCLoss", "NLLLoss2d"}  # a function is judged, below; and an old name


def _core() -> Iterator[str]:
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        found = getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
        if namespace == "aten" and found is not None and torch.Tag.core in found.tags:
            yield name


def test_every_core_operator_has_a_meaning() -> None:
    core = set(_core())
    assert len(core) > 180
    assert core >= NO_TENSOR | RESIZES
    assert [one for one in sorted(core - NO_TENSOR - RESIZES) if semantics.find(canonical(one)) is None] == []


@pytest.fixture(scope="module")
def packets() -> set[str]:
    return {one.partition(".")[0] for one in semantics.names()}


def test_every_name_has_a_meaning(packets: set[str]) -> None:
    names = [*(f"aten::{one}" for one in OPERATORS), *(f"quantized_decomposed::{one}" for one in QUANTIZED)]
    assert [one for one in names if canonical(one) not in packets] == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("given", "mode", "antialias"), MODES)
def test_every_mode_of_interpolate_has_a_golden(given: torch.Tensor, mode: str, antialias: bool) -> None:
    size = [3] * (given.dim() - 2)
    golden = conform.golden(functional.interpolate, given, size, mode=mode, antialias=antialias)
    assert golden.value.shape == (1, 1, *size)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("given", [LINE, IMAGE, VOLUME], ids=["line", "image", "volume"])
def test_every_mode_of_pad_has_a_golden(given: torch.Tensor, mode: str) -> None:
    golden = conform.golden(functional.pad, given, [1, 0] * (given.dim() - 2), mode)
    assert golden.value.shape == (1, 1, *(size + 1 for size in given.shape[2:]))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", sorted(set(nn.modules.loss.__all__) - NOT_EXPORTED))
def test_every_loss_of_torch_has_a_golden(name: str) -> None:
    module = getattr(nn, name)(**SETTINGS.get(name, {}))
    given = LOSSES.get(name, (ROWS, OTHERS))
    conform.assert_close(module, module(*given), *given)
    with pytest.raises(AssertionError, match="FAIL"):
        conform.assert_close(module, module(*given) + 1, *given)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (functional.multi_head_attention_forward, None),
        (functional.normalize, (ROWS,)),
        (functional.tanhshrink, (ROWS,)),
        (functional.logsigmoid, (ROWS,)),
        (functional.fold, (IMAGE[0], (3, 3), (2, 2))),
        (functional.ctc_loss, (torch.zeros(3, 1, 2), torch.tensor([[1]]), *LENGTHS)),
        (torch.unique, (CLASSES,)),
        (torch.rot90, (ROWS,)),
        (functional.scaled_dot_product_attention, (ROWS, ROWS, ROWS)),
    ],
)
def test_functions_that_are_no_operators_have_goldens(function: Any, given: tuple[Any, ...] | None) -> None:
    if given is None:
        given = (ROWS[:, None],) * 3 + (2, 1, torch.ones(6, 2), None, None, None, False, 0.0, torch.ones(2, 2), None)
    assert conform.golden(function, *given) is not None


def test_what_chance_or_nothing_decides_is_told() -> None:
    with pytest.raises(Unjudged, match="chance has a part"):
        conform.golden(functional.dropout, ROWS)
