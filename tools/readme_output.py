"""The output in README.md, docs/inputs.md and docs/tutorials is what the program prints; `python
tools/readme_output.py` renews it.

A block that starts with `$ conform` or `$ python` is a line for the shell and its output. The lines of a page run one
after the other in one folder, with its files: a block whose first line is a comment with a name (`# kernels.py`) is the
file of that name. The first block of Python in README.md is `kernels.py` there. They run with the variables that
README.md exports: those choose torch's kernels, so the processor must have the instructions that they name.
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
PAGES = (README, ROOT / "docs" / "inputs.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md")))
BLOCK = re.compile(r"^```\n\$ ((?:conform|python) [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+\n# (\S+\.\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRESS = re.compile(r"^conform: \d+ of \d+ cases.*\n", re.MULTILINE)  # told of what takes longer than it should
TRUTH = re.compile(r"^truth: .*\n", re.MULTILINE)  # the digest is another one after each change of the interpreter
LIMIT_S = 300


def blocks(text: str) -> list[tuple[str, str]]:
    """Each command with the output that the text has of it."""
    return BLOCK.findall(text)


def files(page: Path) -> dict[str, str]:
    """What the page's commands find in their folder, by name."""
    text = page.read_text(encoding="utf-8")
    if page == README:
        return {"kernels.py": kernels(text)}
    return {name: f"# {name}\n{rest}" for name, rest in FILE.findall(text)}


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


def outputs(page: Path, variables: Mapping[str, str]) -> list[str]:
    """What the page's commands print, in their order, with these variables."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as programs:
        for name, content in files(page).items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(content, encoding="utf-8")
        for name, arguments in (("conform", "-m conform "), ("python", "")):
            program = Path(programs, name)
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n')
            program.chmod(0o755)
        environment = {
            **os.environ, **variables,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
        }  # fmt: skip
        lines = [command for command, _ in blocks(page.read_text(encoding="utf-8"))]
        return [_output(line, folder, environment) for line in lines]


def _output(line: str, folder: str, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    return TRUTH.sub("", done.stdout) + PROGRESS.sub("", done.stderr)


def main() -> None:
    variables = switches(README.read_text(encoding="utf-8"))
    for page in PAGES:
        text, printed = page.read_text(encoding="utf-8"), iter(outputs(page, variables))
        renewed = BLOCK.sub(lambda found, printed=printed: f"```\n$ {found[1]}\n{next(printed)}```", text)
        page.write_text(renewed, encoding="utf-8")


if __name__ == "__main__":
    main()
