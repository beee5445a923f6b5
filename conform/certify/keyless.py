"""A second signature, of somebody's name instead of a key: a sigstore bundle beside `certificate.json`, over the same
statement (https://docs.sigstore.dev, bundle v0.3).

An identity provider vouches for a name, a mail address or a workflow of a forge; a certificate authority certifies a
key of ten minutes for it, and a public log has the signature. All of that is the library's; here is what it is given.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from conform.certify import envelope
from conform.certify.found import Named, Report
from conform.errors import UsageError
from conform.foreign import line
from conform.report import write

if TYPE_CHECKING:
    from sigstore.models import ClientTrustConfig
    from sigstore.oidc import IdentityToken

BUNDLE = "certificate.sigstore.json"
_INSTALL = "signing by name needs sigstore; install conform[sigstore]"


def trust_of(path: Path | None, *, offline: bool) -> ClientTrustConfig:
    """The authority and the logs that are believed, and where they answer: a file's (as sigstore's own --trust-config),
    or sigstore.dev's, which are asked for anew unless `offline`. UsageError where there are none."""
    _require()
    from sigstore.models import ClientTrustConfig

    own = None if path is None else envelope.read_own(path)
    try:
        return ClientTrustConfig.production(offline=offline) if own is None else ClientTrustConfig.from_json(own)
    except Exception as error:  # whatever the library makes of a file, or of no network
        raise UsageError(f"{path or 'sigstore.dev'}: no roots of trust: {_told(error)}") from None


def require_name() -> None:
    """UsageError where nobody could be asked for a name later on: neither this machine has one, as in continuous
    integration, nor is somebody there who could log in."""
    if _ambient() is None and not sys.stdin.isatty():
        raise UsageError("--sigstore: this machine has no identity token, and there is no terminal to log in from")


def add(directory: Path, trust: ClientTrustConfig) -> str:
    """Signs the statement of a certificate that is there and writes the bundle beside it; in whose name.

    UsageError where there is a bundle already, the certificate's own signature does not hold, or the services refuse.
    """
    from sigstore.dsse import Statement
    from sigstore.sign import SigningContext

    path = directory / BUNDLE
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path}: is there already")
    opened = envelope.opened(directory / envelope.CERTIFICATE, None)
    if not opened.is_signed:
        raise UsageError(f"{directory / envelope.CERTIFICATE}: the signature is not that of its key")
    try:
        token = _token(trust)
        with SigningContext.from_trust_config(trust).signer(token) as signer:
            bundle = signer.sign_dsse(Statement(opened.payload))
    except Exception as error:  # of the network, and of four services
        again = f"the certificate is there without it; conform sign {directory} tries again"
        raise UsageError(f"sigstore gave no signature: {_told(error)}; {again}") from None
    write.put(path, f"{bundle.to_json()}\n")
    return f"{line(token.identity)} ({line(token.issuer)})"


def check(directory: Path, payload: bytes, named: Named, report: Report) -> None:
    """Finds what keeps the bundle from being the signature of the one who is named over this very statement; a note
    where nothing does. Asks no network."""
    from sigstore.models import Bundle
    from sigstore.verify import Verifier, policy

    trust = trust_of(named.trust, offline=True)
    try:
        text = envelope.read(directory / BUNDLE).decode()
        bundle = Bundle.from_json(text)
        verifier = Verifier(trusted_root=trust.trusted_root)
        kind, signed = verifier.verify_dsse(bundle, policy.Identity(identity=named.identity, issuer=named.issuer))
    except Exception as error:  # whatever the library makes of what somebody wrote there
        report.find(BUNDLE, f"is no signature of {line(named.identity)} ({line(named.issuer)}): {_told(error)}")
        return
    if (kind, signed) != (envelope.PAYLOAD_TYPE, payload):
        report.find(BUNDLE, f"signs another statement than that of {envelope.CERTIFICATE}")
    elif text != f"{bundle.to_json()}\n":  # base64 has bits that nobody reads, JSON blanks
        report.find(BUNDLE, "is not as conform writes it")
    else:
        report.notes.append(f"signed by {line(named.identity)}, for whom {line(named.issuer)} vouches (sigstore)")


def _token(trust: ClientTrustConfig) -> IdentityToken:
    """Of whoever signs: the token that this machine has, else of who logs in with a browser."""
    from sigstore.oidc import IdentityToken, Issuer

    ambient = _ambient()
    if ambient is not None:
        return IdentityToken(ambient)
    return Issuer(trust.signing_config.get_oidc_url()).identity_token()


def _ambient() -> str | None:
    from sigstore.errors import Error
    from sigstore.oidc import detect_credential

    try:
        return detect_credential()
    except Error as error:
        raise UsageError(f"this machine's identity token: {_told(error)}") from None


def _told(error: Exception) -> str:
    return line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, 300)


def _require() -> None:
    try:
        import sigstore.sign  # noqa: F401
    except ImportError:
        raise UsageError(_INSTALL) from None
