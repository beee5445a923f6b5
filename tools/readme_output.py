"""The output in README.md and docs/inputs.md is what the program prints: `python tools/readme_output.py` renews it.

A block that starts with `$ conform` is a command and its output. The first block of Python in README.md is
`kernels.py`, beside which the commands run. They run with the variables that README.md exports: those choose torch's
kernels, so the processor must have the instructions that they name.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = (README, ROOT / "docs" / "inputs.md")
BLOCK = re.compile(r"^```\n\$ (conform [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRESS = re.compile(r"^conform: \d+ of \d+ cases.*\n", re.MULTILINE)  # told of what takes longer than it should
TRUTH = re.compile(r"^truth: .*\n", re.MULTILINE)  # the digest is another one after each change of the interpreter
LIMIT_S = 300


def blocks(text: str) -> list[tuple[str, str]]:
    """Each command with the output that the text has of it."""
    return BLOCK.findall(text)


def kernels(text: str) -> str:
    """The text's example of a backend."""
    found = re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found, "README.md has no block of Python"
    return found[1]


def switches(text: str) -> dict[str, str]:
    """The variables of the environment that the text's commands run with."""
    found = re.search(r"^export (.*)$", text, re.MULTILINE)
    assert found, "README.md exports no variables"
    return dict(word.split("=", 1) for word in shlex.split(found[1]))


def output_of(command: str, kernels_py: str, variables: Mapping[str, str]) -> str:
    """What a command prints, with the backend `kernels.py` in the working directory and these variables."""
    words = [sys.executable, "-m", *shlex.split(command)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, **variables, "PYTHONPATH": path}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernels.py").write_text(kernels_py, encoding="utf-8")
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    return TRUTH.sub("", done.stdout) + PROGRESS.sub("", done.stderr)


def main() -> None:
    readme = README.read_text(encoding="utf-8")
    example, variables = kernels(readme), switches(readme)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        written = BLOCK.sub(lambda found: f"```\n$ {found[1]}\n{output_of(found[1], example, variables)}```", text)
        page.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
