"""Python's collector of cycles: kept from looking for them where that takes long and finds none."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """No collection until the end: what is made meanwhile stays, for the most part, and to look through all of it again
    and again takes seconds of a large suite."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def resumed() -> Iterator[None]:
    """Collections as they come, within a pause: of what is made meanwhile much is large, and goes again."""
    was_enabled = gc.isenabled()
    gc.enable()
    try:
        yield
    finally:
        if not was_enabled:
            gc.disable()


@contextlib.contextmanager
def frozen() -> Iterator[None]:
    """Collections leave alone what there is by now: they need not look through it again and again, nor make the pages
    of a fork its own."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
