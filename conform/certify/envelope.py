"""The signature: a DSSE envelope (https://github.com/secure-systems-lab/dsse) with an Ed25519 key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conform.errors import UsageError
from conform.foreign import line
from conform.golden_files.container import open_regular

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from securesystemslib.signer import CryptoSigner, SSlibKey

CERTIFICATE = "certificate.json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
MOST_BYTES = 2**27  # of a certificate: it lists what stands in its folder, not what that holds
_INSTALL = "certificates need securesystemslib; install conform[certify]"


@dataclass(frozen=True)
class Signer:
    """Who signs, and its public key in PEM."""

    of_library: CryptoSigner
    public_key: str


def signer_of(path: Path | None) -> Signer:
    """The signer of a private key in PEM (`openssl genpkey -algorithm ed25519`), without one that of a new key, which
    nobody keeps. UsageError for what is no such key."""
    _require()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from securesystemslib.signer import CryptoSigner

    key = Ed25519PrivateKey.generate() if path is None else _private_key(path)
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return Signer(CryptoSigner(key), pem.decode())


def _private_key(path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(read_own(path), password=None)
    except (ValueError, TypeError) as error:  # TypeError: it is encrypted
        raise UsageError(f"--key {path}: no private key in PEM without a password: {line(error)}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"--key {path}: expected an Ed25519 key; openssl genpkey -algorithm ed25519 makes one")
    return key


def public_key_of(path: Path) -> SSlibKey:
    """A public key in PEM (`openssl pkey -pubout`). UsageError for what is none."""
    _require()
    return _public_key(read_own(path), f"--key {path}")


def _public_key(pem: bytes, where: str) -> SSlibKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.signer import SSlibKey

    try:
        key = load_pem_public_key(pem)
    except ValueError as error:
        raise UsageError(f"{where}: no public key in PEM: {line(error)}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{where}: expected an Ed25519 key")
    return SSlibKey.from_crypto(key)


def sealed(statement: dict[str, Any], signer: Signer) -> str:
    """The envelope of a statement, signed, as JSON."""
    from securesystemslib.dsse import Envelope

    envelope = Envelope(_bytes(statement), PAYLOAD_TYPE, {})
    envelope.sign(signer.of_library)
    return _text(envelope)


def _bytes(statement: Any) -> bytes:
    return json.dumps(statement, indent=1).encode()


def _text(envelope: Any) -> str:
    return json.dumps(envelope.to_dict()) + "\n"


@dataclass(frozen=True)
class Opened:
    """An envelope of somebody else's: the statement, not looked at yet, and its bytes; whether the signature is that of
    `key_id`."""

    statement: Any
    payload: bytes
    key_id: str
    is_signed: bool


def opened(path: Path, key: SSlibKey | None) -> Opened:
    """The envelope in a file, and whether `key`, or without one the key that the statement names, has signed it.

    UsageError for what is no envelope.
    """
    _require()
    from securesystemslib.dsse import Envelope

    try:
        text = read(path).decode()
        envelope = Envelope.from_dict(json.loads(text))
        if text != _text(envelope):  # base64 has bits that nobody reads, JSON blanks
            raise ValueError("it is not as conform writes it")
        if envelope.payload_type != PAYLOAD_TYPE:
            raise ValueError(f"payload type {envelope.payload_type!r}")
        statement = json.loads(envelope.payload)
        if envelope.payload != _bytes(statement):  # a key that stands twice is read otherwise by others
            raise ValueError("the statement is not as conform writes it")
        key = key or _public_key(_named_key(statement), f"{path}, public_key")
    except UsageError:
        raise
    except (RecursionError, Exception) as error:  # whatever the library makes of what somebody wrote there
        raise UsageError(f"{path}: no DSSE envelope of a statement: {line(repr(error))}") from None
    return Opened(statement, envelope.payload, key.keyid, _is_signed(envelope, key))


def _named_key(statement: Any) -> bytes:
    return str(statement["predicate"]["conform"]["public_key"]).encode()


def _is_signed(envelope: Any, key: SSlibKey) -> bool:
    """Whether the one signature is the key's; its `keyid` is a hint that nobody has signed (DSSE, protocol)."""
    from securesystemslib.exceptions import UnverifiedSignatureError

    if len(envelope.signatures) != 1:
        return False
    (signature,) = envelope.signatures.values()
    try:
        key.verify_signature(signature, envelope.pae())
    except UnverifiedSignatureError:
        return False
    return signature.keyid == key.keyid


def read(path: Path) -> bytes:
    """A file of somebody else's folder: no link, no pipe, and not too large. UsageError."""
    with open_regular(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path}: more than {MOST_BYTES} bytes")
    return content


def read_own(path: Path) -> bytes:
    """A file that the user names. UsageError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _require() -> None:
    try:
        import securesystemslib.signer  # noqa: F401
    except ImportError:
        raise UsageError(_INSTALL) from None
