"""A tiny suite, for tests that need some cases and care for no op: negatives of three numbers."""

from __future__ import annotations


def negatives(*ids: str, **dtypes: str) -> str:
    """The text of a suite of one test for each of `ids`, of float32, and for each id among `dtypes`, of that dtype."""
    wanted = dict.fromkeys(ids, "float32") | dtypes
    rows = [f"- {{id: {name}, op: aten::neg, in: [{{type: tensor, shape: [3], dtype: {dtype}}}]}}"
            for name, dtype in wanted.items()]  # fmt: skip
    return "\n".join(["tests:", *rows, ""])
