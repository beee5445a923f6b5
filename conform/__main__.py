"""The entry point of `conform` and of `python -m conform`."""

from conform.interrupt import leave_at_once
from conform.streams import repair


def main() -> None:
    """Runs the command line; never returns."""
    leave_at_once()
    repair()
    from conform.cli import main as verbs

    verbs(prog_name="conform")


if __name__ == "__main__":
    main()
