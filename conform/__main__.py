"""`python -m conform`."""

from conform.cli import main

main(prog_name="conform")
