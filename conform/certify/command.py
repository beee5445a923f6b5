"""`conform certify`, `conform sign` and `conform verify`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conform import interrupt
from conform.options import THREADS, several_backends

if TYPE_CHECKING:
    from conform.certify.found import Named


def _count(ctx: click.Context, parameter: click.Parameter, given: str) -> int | None:
    """A number, or None for `all`."""
    if given == "all":
        return None
    if not (given.isascii() and given.isdecimal()):
        raise click.BadParameter(f"expected a number or `all`, got {given!r}", ctx=ctx, param=parameter)
    return int(given)


def _trusting(command: click.decorators.FC) -> click.decorators.FC:
    """Whose certificates and logs sigstore believes."""
    return click.option("--trust-config", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
                        help="For sigstore: roots of trust and services, as its own option has them. Default: "
                        "those of sigstore.dev.")(command)  # fmt: skip


@click.command()
@click.argument("suites", metavar="[SUITE ...]", nargs=-1)
@click.option("--backend", "backends", metavar="NAME", multiple=True, required=True, callback=several_backends,
              help="What is certified; a second one is what its answers are compared to.")  # fmt: skip
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="An empty folder, where the certificate and its evidence go.")  # fmt: skip
@click.option("--resume", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="In its place: go on with what was begun there, by the same other options.")  # fmt: skip
@click.option("--nonce", metavar="TEXT", help="What the verifier gave; it seeds half of the draws. Default: the date.")
@click.option("--key", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="A private Ed25519 key in PEM. Default: a new one, which nobody keeps.")  # fmt: skip
@click.option("--sigstore", is_flag=True, help="Sign in a name, too: of who logs in, or the workflow that runs this.")
@_trusting
@click.option("--manifest", metavar="FILE", help="What the backend claims to do (docs/manifest.md).")
@click.option("--waivers", metavar="FILE|NAME", help="Failures that are known; the certificate lists them.")
@click.option("--keep", metavar="all|N", default="1000", show_default=True, callback=_count,
              help="How many passing answers of each draw are kept, for others to judge again.")  # fmt: skip
@click.option("--determinism", metavar="N", type=click.IntRange(min=1), default=1000, show_default=True,
              help="Equal calls of the canonical cases.")  # fmt: skip
@click.option("--op", "ops", metavar="GLOB", multiple=True, help="A part only: ops like this. Repeatable.")
@click.option("--dtype", "dtypes", metavar="NAME", multiple=True, help="A part only: this dtype. Repeatable.")
@click.option("--id", "ids", metavar="GLOB", multiple=True, help="A part only: cases like this. Repeatable.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="A part only: no ops and ids like this. Repeatable.")
@click.option("--timeout", "timeout_s", metavar="SECONDS", type=float, default=30.0, show_default=True,
              help="For one call of the backend.")  # fmt: skip
@click.option("--jail", is_flag=True, help="Confine the backend (docs/security.md).")
@click.option("--workers", metavar="N", type=click.IntRange(min=1), show_default="cores",
              help="Processes of the kit, each with a backend of its own.")  # fmt: skip
@THREADS
@click.option("--quiet", is_flag=True, help="Print the summary lines alone.")
@click.option("--no-progress", is_flag=True, help="No progress bar, or without a terminal no lines of progress.")
@click.pass_context
def certify(
    ctx: click.Context, suites: tuple[str, ...], backends: tuple[str, ...], out: Path | None, resume: Path | None,
    nonce: str | None, key: Path | None, keep: int | None, determinism: int, ops: tuple[str, ...],
    dtypes: tuple[str, ...], ids: tuple[str, ...], exclude: tuple[str, ...], manifest: str | None, sigstore: bool,
    trust_config: Path | None, quiet: bool, no_progress: bool, **options: object,
) -> None:  # fmt: skip
    """Run what a claim about a backend needs, and sign what came of it.

    The must-pass list is core, scale, generated and negative, and modules where the manifest claims them, with the
    seed 0 and once more with one that --nonce makes; SUITEs that are named, or a filter, make a certificate of a part.
    The folder holds certificate.json (an in-toto statement, signed), certificate.html to read, and of each draw the
    record and the answers. docs/certificate.html explains the levels.

    \b
    openssl genpkey -algorithm ed25519 -out key.pem
    conform certify --backend cuda --manifest cuda.yaml --nonce 8f3a27 --key key.pem --out certificate
    conform certify smoke --backend cpu --determinism 10 --out a-part

    Exit code: 0 PASSED or WARNED; 1 FAILED; 2 usage, or no signature of sigstore; 3 nothing could be judged; 130, 143:
    ended, no certificate, and --resume goes on.
    """
    from conform.certify import keyless
    from conform.certify.envelope import CERTIFICATE
    from conform.certify.issue import Order, issue
    from conform.certify.must_pass import suites_for
    from conform.verbs.checking import Shown

    if len(backends) > 2:
        raise click.UsageError(f"{len(backends)} backends are named; a certificate is of one, beside one other")
    if (out is None) == (resume is None):
        raise click.UsageError("expected one of --out DIR, for a new certificate, and --resume DIR")
    if trust_config is not None and not sigstore:
        raise click.UsageError("--trust-config: it is for --sigstore")
    if sigstore:
        keyless.trust_of(trust_config, offline=False)  # before an hour of work
        keyless.require_name()
    interrupt.raise_instead()
    selection = {"ops": ops, "dtypes": dtypes, "ids": ids, "exclude": exclude}
    order = Order(
        backends=backends, out=out or resume, is_resumed=resume is not None, suites=suites or suites_for(manifest),
        selection=selection, options=options | {"manifest": manifest}, nonce=nonce, key=key, keep=keep,
        determinism=determinism, shown=Shown(quiet=quiet, no_progress=no_progress),
    )  # fmt: skip
    code = issue(order)
    if sigstore and (order.out / CERTIFICATE).exists():
        interrupt.release()
        _sign(order.out, trust_config)
    ctx.exit(code)


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@_trusting
def sign(directory: Path, trust_config: Path | None) -> None:
    """Sign a certificate that is there in a name, by sigstore: certificate.sigstore.json, beside the key's signature.

    The name is that of who logs in with a browser, or of the workflow that runs this; it stands in a public log for
    good. Verify the certificate first: it is its statement that is signed.

    \b
    conform verify certificate --key key.pub
    conform sign certificate
    conform verify certificate --identity you@example.org --issuer https://github.com/login/oauth

    Exit code: 0 signed; 2 usage, no certificate, or sigstore gave no signature.
    """
    _sign(directory, trust_config)


def _sign(directory: Path, trust_config: Path | None) -> None:
    from conform.certify import keyless

    name = keyless.add(directory, keyless.trust_of(trust_config, offline=False))
    click.echo(f"signed as {name}: {directory / keyless.BUNDLE}")


def _named(identity: str | None, issuer: str | None, trust_config: Path | None) -> Named | None:
    """Who must have signed, if that is asked. click.UsageError for half of it."""
    from conform.certify.found import Named

    if identity and issuer:
        return Named(identity, issuer, trust_config)
    if (identity, issuer, trust_config) != (None, None, None):
        raise click.UsageError("--identity NAME and --issuer URL go together: a name says nothing without who vouches")
    return None


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--key", metavar="PUB", type=click.Path(path_type=Path, dir_okay=False),
              help="The public key, in PEM, of who must have signed; without it nobody vouches for that.")  # fmt: skip
@click.option("--identity", metavar="NAME", help="Who must have signed by sigstore: a mail address, a workflow's URL.")
@click.option("--issuer", metavar="URL", help="Who vouches for that name.")
@_trusting
@click.option("--nonce", metavar="TEXT", help="The nonce that was given to the certifier.")
@click.option("--rejudge", metavar="all|N", default="200", show_default=True, callback=_count,
              help="How many kept answers of each draw are judged again, others every time.")  # fmt: skip
@click.option("--rerun", is_flag=True, help="Ask the backend a sample of the calls again, and compare bytes.")
@click.option("--selftest", is_flag=True, help="Run the same share of the kit's self-test again.")
@click.option("--backend", metavar="NAME", help="For --rerun: the backend, which must be named if it is in a file.")
@click.pass_context
def verify(
    ctx: click.Context, directory: Path, key: Path | None, identity: str | None, issuer: str | None,
    trust_config: Path | None, nonce: str | None, rejudge: int | None, rerun: bool, selftest: bool, backend: str | None,
) -> None:  # fmt: skip
    """Check a certificate: signature, files, records, must-pass list, and a sample of the answers judged again.

    It needs the folder and the version of the kit that the certificate names, no network; nothing that the folder names
    is run. What does not add up is named with its place.

    \b
    openssl pkey -in key.pem -pubout -out key.pub
    conform verify certificate --key key.pub --nonce 8f3a27
    conform verify certificate --key key.pub --rejudge all
    conform verify certificate --identity you@example.org --issuer https://github.com/login/oauth

    Exit code: 0 verified, and nothing else is; 1 something does not add up, or the certificate says FAILED; 2 usage, or
    no certificate.
    """
    from tqdm import tqdm

    from conform.certify.found import Asked
    from conform.certify.verify import verify
    from conform.foreign import line

    asked = Asked(
        key=key, named=_named(identity, issuer, trust_config), nonce=nonce, rejudge=rejudge,
        rerun=rerun or backend is not None, backend=backend, selftest=selftest, sample_seed=os.urandom(16).hex(),
    )  # fmt: skip
    with tqdm(bar_format="{desc}", file=sys.stderr, disable=not sys.stderr.isatty()) as bar:
        report = verify(directory, asked, bar.set_description_str)
    for note in report.notes:
        click.echo(line(note, 400))
    for finding in report.findings:
        click.echo(f"{click.style('WRONG', fg='red', bold=True)} {finding}")
    if not report.is_verified:
        click.echo(f"{click.style('not verified', fg='red', bold=True)}: {len(report.findings)} findings")
        ctx.exit(1)
    held = ", ".join(report.levels) or "none"
    click.echo(f"{click.style('verified', fg='green', bold=True)}: {report.result}; levels held: {held}")
