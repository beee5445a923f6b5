"""The entry point of `conform` and of `python -m conform`."""

import sys

from conform.interrupt import leave_at_once
from conform.streams import repair


def main() -> None:
    """Runs the command line; never returns."""
    leave_at_once()
    repair()
    from conform.cli import main as verbs

    verbs(prog_name="conform")


if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):  # -m put the working directory first, where foreign files may lie
        del sys.path[0]
    main()
