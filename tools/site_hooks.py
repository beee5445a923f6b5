"""What mkdocs asks while it builds the site (`hooks` in mkdocs.yml): the made pages, links beyond docs/, anchors.

CONFORM_SITE_OPS, globs parted by commas, leaves out all other operators' pages; tests use it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from conform.running.pool import cores
from tools.op_pages import known_ops, pages

ROOT = Path(__file__).parents[1]
OPS = "ops/index.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The families below the operators' place in the navigation."""
    families = dict.fromkeys(known_ops(_globs()).values())
    for entry in config.nav or []:
        for title, target in entry.items():
            if target == OPS:
                entry[title] = [OPS, *({family: f"ops/{family}.md"} for family in families)]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the operators, and the examples as files to be read."""
    for page in pages(_globs(), processes=cores()):
        files.append(File.generated(config, page.path, content=page.markdown))
    for path in sorted(path for path in (ROOT / "examples").rglob("*.*") if path.suffix != ".pyc"):
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Examples lie within the site, and each rule of the policy has an anchor."""
    if page.file.src_uri == "policy.md":
        markdown = re.sub(r"^\| (P\d+) \|", r'| <span id="\1">\1</span> |', markdown, flags=re.MULTILINE)
    return re.sub(r"\]\(((?:\.\./)*)\.\./examples/", r"](\1examples/", markdown)


def _globs() -> tuple[str, ...]:
    return tuple(os.environ.get("CONFORM_SITE_OPS", "*").split(","))
