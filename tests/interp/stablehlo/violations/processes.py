"""Processes: main is the one process of a grid of one; and random numbers."""

from __future__ import annotations

from tests.interp.stablehlo.violations.violation import ADD, violate

_ONE_GROUP = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
_TWO = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
_TWICE = "replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>"
_BEYOND = "replica_groups = dense<[[1]]> : tensor<1x1xi64>"
_DEVICES = f"{_ONE_GROUP}, use_global_device_ids"

violate("all_gather", "C1", "2xf32", f"all_gather_dim = 1 : i64, {_ONE_GROUP}", "2xf32")
violate("all_gather", "C2", "2xf32", f"all_gather_dim = 0 : i64, {_TWICE}", "4xf32")
violate("all_gather", "C3", "2xf32", f"all_gather_dim = 0 : i64, {_TWO}", "4xf32")
violate("all_gather", "C4", "2xf32", f"all_gather_dim = 0 : i64, {_BEYOND}", "2xf32")
violate("all_gather", "C5", "2xf32", f"all_gather_dim = 0 : i64, {_DEVICES}", "2xf32")
violate("all_gather", "C6", "2xf32", f"all_gather_dim = 0 : i64, {_ONE_GROUP}", "3xf32")
violate("all_reduce", "C1", "2xf32", _TWICE, "2xf32", ADD)
violate("all_reduce", "C2", "2xf32", _TWO, "2xf32", ADD)
violate("all_reduce", "C3", "2xf32", _BEYOND, "2xf32", ADD)
violate("all_reduce", "C4", "2xf32", _DEVICES, "2xf32", ADD)
violate("all_reduce", "C5", "2xf64", _ONE_GROUP, "2xf64", ADD)
violate("all_reduce", "C6", "2xf32", _ONE_GROUP, "3xf32", ADD)
violate("all_reduce", "C7", "2xf32", _ONE_GROUP, "2xf64", ADD)
violate("reduce_scatter", "C1", "3xf32", f"scatter_dimension = 0 : i64, {_TWO}", "1xf32", ADD)
violate("reduce_scatter", "C2", "2xf32", f"scatter_dimension = 1 : i64, {_ONE_GROUP}", "2xf32", ADD)
violate("reduce_scatter", "C3", "2xf32", f"scatter_dimension = 0 : i64, {_TWICE}", "1xf32", ADD)
violate("reduce_scatter", "C4", "2xf32", f"scatter_dimension = 0 : i64, {_TWO}", "1xf32", ADD)
violate("reduce_scatter", "C5", "2xf32", f"scatter_dimension = 0 : i64, {_BEYOND}", "2xf32", ADD)
violate("reduce_scatter", "C6", "2xf32", f"scatter_dimension = 0 : i64, {_DEVICES}", "2xf32", ADD)
violate("reduce_scatter", "C7", "2xf64", f"scatter_dimension = 0 : i64, {_ONE_GROUP}", "2xf64", ADD)
violate("reduce_scatter", "C8", "2xf32", f"scatter_dimension = 0 : i64, {_ONE_GROUP}", "1xf32", ADD)
violate("reduce_scatter", "C9", "2xf32", f"scatter_dimension = 0 : i64, {_ONE_GROUP}", "2xf64", ADD)


def _exchange(constraint: str, split: int, concat: int, count: int, groups: str, result: str) -> None:
    attributes = f"split_dimension = {split} : i64, concat_dimension = {concat} : i64, split_count = {count} : i64"
    violate("all_to_all", constraint, "2x2xf32", f"{attributes}, {groups}", result)


_exchange("C1", 2, 0, 1, _ONE_GROUP, "2x2xf32")
_exchange("C2", 0, 0, 3, "replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>", "2x2xf32")
_exchange("C3", 0, 2, 1, _ONE_GROUP, "2x2xf32")
_exchange("C4", 0, 0, 0, _ONE_GROUP, "2x2xf32")
_exchange("C5", 0, 0, 2, _TWICE, "2x2xf32")
_exchange("C6", 0, 0, 2, _TWO, "2x2xf32")
_exchange("C7", 0, 0, 1, _BEYOND, "2x2xf32")
_exchange("C8", 0, 0, 2, "replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>", "2x2xf32")
_exchange("C9", 0, 1, 1, _ONE_GROUP, "2x3xf32")
violate("collective_broadcast", "C1", "2xf32", _TWICE, "2xf32")
violate("collective_broadcast", "C2", "2xf32", _BEYOND, "2xf32")
violate("collective_broadcast", "C3", "2xf32", _ONE_GROUP, "3xf32")


def _pairs(numbers: str, shape: str) -> str:
    return f"source_target_pairs = dense<{numbers}> : tensor<{shape}xi64>"


_TO_ITSELF = _pairs("[[0, 0]]", "1x2")
for _constraint, _given in (("C1", _pairs("[[0, 0, 0]]", "1x3")), ("C2", _pairs("[[0, 0], [0, 1]]", "2x2")),
                            ("C3", _pairs("[[0, 0], [1, 0]]", "2x2")), ("C4", _pairs("[[0, 1]]", "1x2"))):  # fmt: skip
    _CHANNEL = f"channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, {_given}"
    violate("collective_permute", _constraint, "2xf32", _given, "2xf32")
    violate("send", _constraint, "2xf32 token", _CHANNEL, "token")
    violate("recv", _constraint, "token", _CHANNEL, "2xf32 token")
violate("collective_permute", "C5", "2xf32", _TO_ITSELF, "3xf32")
_HOST = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true"
violate("send", "C5", "2xf32 token", _HOST, "token")
violate("recv", "C5", "token", _HOST, "2xf32 token")
_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
violate("recv", "C6", "token", _CHANNEL, "")
violate("recv", "C7", "token", _CHANNEL, "token token")
violate("recv", "C8", "token", _CHANNEL, "2xf32")
violate("infeed", "C1", "token", "", "")
violate("infeed", "C2", "token", "", "token token")
violate("infeed", "C3", "token", "", "2xf32")
_UNIFORM = "rng_distribution = #stablehlo<rng_distribution UNIFORM>"
_NORMAL = "rng_distribution = #stablehlo<rng_distribution NORMAL>"
violate("rng", "C1", "f32 f64 1xi64", _UNIFORM, "0xf32")
violate("rng", "C2", "i32 i32 1xi64", _NORMAL, "0xi32")
violate("rng", "C3", "f32 f32 1xi64", _UNIFORM, "1xf32")
_BITS = "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>"
violate("rng_bit_generator", "I2", "2xi64", _BITS, "2xi64 4xui32")
violate("rng_bit_generator", "C1", "2xui64", _BITS, "3xui64 4xui32")
violate("rng_bit_generator", "C2", "3xui64", _BITS, "3xui64 4xui32")
violate("rng_bit_generator", "O2", "2xui64", _BITS, "2xui64 4xi1")
# Inputs without a token behind them
violate("send", "I2", "2xf32", _CHANNEL, "token")
violate("recv", "I1", "2xf32", _CHANNEL, "2xf32 token")
violate("outfeed", "I2", "2xf32", "", "token")
