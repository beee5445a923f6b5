"""Code of others that runs in the kit's own process: modules that are constructed and exported, model files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_exit() -> Iterator[None]:
    """An exit within is an error of that code like any other, RuntimeError: it must not end the kit, nor choose its
    exit code."""
    try:
        yield
    except SystemExit as end:
        raise RuntimeError(f"it calls sys.exit({'' if end.code is None else repr(end.code)})") from end
