"""What `conform repro` writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from conform.errors import UsageError
from conform.golden_files.container import Writer
from conform.golden_files.encoding import encoded

BESIDE = ".safetensors"


@dataclass(frozen=True)
class Written:
    """A script or suite file, and the large tensors that it reads from a file beside it, by their names there."""

    text: str
    beside: dict[str, np.ndarray] = field(default_factory=dict)

    def write(self, path: Path) -> list[Path]:
        """Writes the text to `path`, and the tensors beside it, in the place of files that are there; which they are.
        UsageError where that cannot be done."""
        beside = path.with_suffix(BESIDE)
        try:
            path.write_text(self.text, encoding="utf-8")
            if not self.beside:
                return [path]
            beside.unlink(missing_ok=True)
            writer = Writer(beside)
            for name, array in self.beside.items():
                writer.add(name, encoded(array))
            writer.close({})
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
        return [path, beside]
