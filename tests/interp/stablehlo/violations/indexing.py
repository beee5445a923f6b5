"""gather and scatter."""

from __future__ import annotations

from tests.interp.stablehlo.violations.violation import ADD, PAIRS, SELECT, violate

_GATHER = (
    "dimension_numbers = #stablehlo.gather<offset_dims = [{offset}], collapsed_slice_dims = [{collapsed}], "
    "operand_batching_dims = [{batching}], start_indices_batching_dims = [{of_indices}], start_index_map = [{map}], "
    "index_vector_dim = {vector}>, slice_sizes = array<i64: {sizes}>"
)


def _gather(constraint: str, operands: str, result: str, **changed: object) -> None:
    numbers = {
        "offset": "1",
        "collapsed": "0",
        "batching": "",
        "of_indices": "",
        "map": "0",
        "vector": 1,
        "sizes": "1, 3",
    }
    violate("gather", constraint, operands, _GATHER.format(**(numbers | changed)), result)


_gather("I2", "4x3xf32 2x1xf32", "2x3xf32")
_gather("C1", "4x3xf32 2x1xi32", "2x3xf32", offset="1, 2")
_gather("C2", "4x3xf32 2x1xi32", "2x3xf32", vector=3)
_gather("C3", "4x3xf32 2x1xi32", "2x3xf32", map="0, 1")
_gather("C4", "4x3x2xf32 2x1xi32", "2x3x2xf32", offset="2, 1", sizes="1, 3, 2")
_gather("C5", "4x3xf32 2x1xi32", "2x3xf32", offset="2")
_gather("C6", "4x3xf32 2x1xi32", "2xf32", offset="", collapsed="0, 0")
_gather("C7", "4x3xf32 2x1xi32", "2xf32", offset="", collapsed="1, 0", sizes="1, 1")
_gather("C8", "4x3xf32 2x1xi32", "2x3xf32", collapsed="2")
_gather("C9", "4x3xf32 2x1xi32", "2x3xf32", sizes="2, 3")
_TWO = {"offset": "", "collapsed": "0", "sizes": "1, 1, 1"}
_gather("C10", "4x2x2xf32 2x2x1xi32", "2x2xf32", **_TWO, batching="2, 1", of_indices="0, 1", vector=2)
_gather("C11", "4x3xf32 2x1xi32", "2xf32", offset="", batching="2", of_indices="0", sizes="1, 1")
_gather("C12", "4x2xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="0", sizes="1, 2")
_gather("C13", "4x2x2xf32 2x2x1xi32", "2x2xf32", **_TWO, batching="1, 2", of_indices="0, 0", vector=2)
_gather("C14", "4x2xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="3", sizes="1, 1")
_gather("C15", "4x1xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="1", sizes="1, 1")
_gather("C16", "4x2xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="", sizes="1, 1")
_gather("C17", "4x3xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="0", sizes="1, 1")
_gather("C18", "4x2xf32 2x1xi32", "2xf32", offset="", batching="1", of_indices="0", map="1", sizes="1, 1")
_gather("C19", "4x3xf32 2x1xi32", "2x3xf32", map="2")
_gather("C20", "4x3xf32 2x1xi32", "2x3xf32", sizes="1, 3, 1")
_gather("C21", "4x3xf32 2x1xi32", "2x4xf32", sizes="1, 4")
_gather("C22", "4x3xf32 2x1xi32", "2x4xf32")
_gather("C23", "4x3xf32 2x1xi32", "2x3xf64")

_SCATTER = (
    "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [{window}], inserted_window_dims = "
    "[{inserted}], input_batching_dims = [{batching}], scatter_indices_batching_dims = [{of_indices}], "
    "scatter_dims_to_operand_dims = [{map}], index_vector_dim = {vector}>"
)


def _scatter(constraint: str, operands: str, results: str, regions: str = ADD, **changed: object) -> None:
    numbers = {"window": "1", "inserted": "0", "batching": "", "of_indices": "", "map": "0", "vector": 1}
    violate("scatter", constraint, operands, _SCATTER.format(**(numbers | changed)), results, regions)


_scatter("I2", "4x3xf32 2x1xf32 2x3xf32", "4x3xf32")
_scatter("C1", "4x3xf32 4x4xf32 2x1xi32 2x3xf32 2x3xf32", "4x3xf32 4x4xf32", PAIRS)
_scatter("C2", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", inserted="")
_scatter("C3", "4x3xf32 4x3xf32 2x1xi32 2x3xf32 2x2xf32", "4x3xf32 4x3xf32", PAIRS)
_scatter("C4", "4x3xf32 2x1xi32 5x3xf32", "4x3xf32")
_scatter("C5", "4x3xf32 2x1xi32 2x3xf32 2x3xf32", "4x3xf32")
_scatter("C6", "4x3xf32 2x1xi32 2x3xf64", "4x3xf32")
_scatter("C7", "4x3x2xf32 2x1xi32 2x3x2xf32", "4x3x2xf32", window="2, 1")
_scatter("C8", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", window="2")
_scatter("C9", "4x3xf32 2x1xi32 2xf32", "4x3xf32", window="", inserted="0, 0")
_scatter("C10", "4x3xf32 2x1xi32 2xf32", "4x3xf32", window="", inserted="1, 0")
_scatter("C11", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", inserted="2")
_scatter("C12", "4x2x2xf32 2x2x1xi32 2x2xf32", "4x2x2xf32", window="", batching="2, 1", of_indices="0, 1", vector=2)
_scatter("C13", "4x3xf32 2x1xi32 2xf32", "4x3xf32", window="", batching="2", of_indices="0")
_scatter("C14", "4x2x2xf32 2x2x1xi32 2x2xf32", "4x2x2xf32", window="", batching="1, 2", of_indices="0, 0", vector=2)
_scatter("C15", "4x2xf32 2x1xi32 2xf32", "4x2xf32", window="", batching="1", of_indices="3")
_scatter("C16", "4x1xf32 2x1xi32 2xf32", "4x1xf32", window="", batching="1", of_indices="1")
_scatter("C17", "4x2xf32 2x1xi32 2xf32", "4x2xf32", window="", batching="1")
_scatter("C18", "4x3xf32 2x1xi32 2xf32", "4x3xf32", window="", batching="1", of_indices="0")
_scatter("C19", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", map="0, 1")
_scatter("C20", "4x2xf32 2x1xi32 2xf32", "4x2xf32", window="", batching="1", of_indices="0", map="1")
_scatter("C21", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", map="2")
_scatter("C22", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", vector=3)
_scatter("C23", "4x3xf32 2x1xi32 2x3xf32", "4x3xf32", SELECT)
_scatter("C24", "4x3xf32 2x1xi32 2x3xf32", "4x4xf32")
_scatter("C25", "4x3xf32 2x1xi32 2x3xf32", "4x3xf64")
