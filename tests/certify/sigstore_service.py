"""A sigstore of the tests' own on this machine: tokens of an identity provider, a certificate authority (Fulcio), its
log of certificates and a transparency log (Rekor 1); and the trust configuration that names them.

The library signs and verifies with it as with any other. Forms: RFC 6962 for signed certificate timestamps and trees,
https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md for the extension of the issuer, openapi.yaml of Rekor.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

MAIL, ISSUER = "vendor@example.org", "https://accounts.example.org"
_OIDC_ISSUER = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_SINCE = {"start": "2020-01-01T00:00:00Z"}
_NO_USE = dict.fromkeys(
    ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
     "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"), False,
)  # fmt: skip


def token(mail: str = MAIL, issuer: str = ISSUER) -> str:
    """An identity token; whose signature nobody looks at here."""
    import jwt

    now = int(datetime.now(timezone.utc).timestamp())
    claims = {"iss": issuer, "sub": mail, "aud": "sigstore", "iat": now, "nbf": now, "exp": now + 600}
    return jwt.encode(claims, "k" * 32, algorithm="HS256")


def _der(key: EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _signed(key: EllipticCurvePrivateKey, content: bytes) -> bytes:
    return key.sign(content, ECDSA(SHA256()))


def _b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


@dataclass
class Service:
    """The keys of an instance. url: where it answers."""

    url: str = ""
    ca_key: EllipticCurvePrivateKey = field(default_factory=_key)
    ct_key: EllipticCurvePrivateKey = field(default_factory=_key)
    log_key: EllipticCurvePrivateKey = field(default_factory=_key)
    root: x509.Certificate = field(init=False)

    def __post_init__(self) -> None:
        name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "example.org")])
        public, now = self.ca_key.public_key(), datetime.now(timezone.utc)
        self.root = (
            x509.CertificateBuilder(name, name, public, x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=365))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(**_NO_USE | {"key_cert_sign": True}), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self.ca_key, SHA256())
        )  # fmt: skip

    def config(self) -> str:
        """The trust configuration, as `--trust-config` takes it."""
        service = {"url": self.url, "majorApiVersion": 1, "validFor": _SINCE, "operator": "example.org"}
        subject = {"organization": "example.org", "commonName": "tests"}
        chain = {"certificates": [{"rawBytes": _b64(self.root.public_bytes(Encoding.DER))}]}
        authority = {"subject": subject, "uri": self.url, "certChain": chain, "validFor": _SINCE}
        return json.dumps({
            "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
            "trustedRoot": {
                "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [self._log(self.log_key)], "ctlogs": [self._log(self.ct_key)], "timestampAuthorities": [],
                "certificateAuthorities": [authority],
            },
            "signingConfig": {
                "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json", "caUrls": [service],
                "oidcUrls": [service], "rekorTlogUrls": [service], "rekorTlogConfig": {"selector": "ANY"},
                "tsaUrls": [], "tsaConfig": {"selector": "ANY"},
            },
        })  # fmt: skip

    def _log(self, key: EllipticCurvePrivateKey) -> dict[str, Any]:
        public = {"rawBytes": _b64(_der(key)), "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": _SINCE}
        log_id = {"keyId": _b64(sha256(_der(key)).digest())}
        return {"baseUrl": self.url, "hashAlgorithm": "SHA2_256", "publicKey": public, "logId": log_id}

    # --- The certificate authority ------------------------------------------------------------------------------------

    def certified(self, request: dict[str, Any], bearer: str) -> dict[str, Any]:
        """A certificate of ten minutes for the key of a request, in the name that the token tells."""
        csr = x509.load_pem_x509_csr(base64.b64decode(request["certificateSigningRequest"]))
        payload = bearer.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        leaf = self.leaf(csr.public_key(), claims["sub"], claims["iss"])
        chain = [one.public_bytes(Encoding.PEM).decode() for one in (leaf, self.root)]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": chain}}}

    def leaf(self, public: Any, mail: str, issuer: str) -> x509.Certificate:
        now = datetime.now(timezone.utc)
        builder = (
            x509.CertificateBuilder(self.root.subject, x509.Name([]), public, x509.random_serial_number())
            .not_valid_before(now - timedelta(seconds=5)).not_valid_after(now + timedelta(minutes=10))
            .add_extension(x509.KeyUsage(**_NO_USE | {"digital_signature": True}), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.ca_key.public_key()), critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.RFC822Name(mail)]), critical=True)
            .add_extension(x509.UnrecognizedExtension(_OIDC_ISSUER, issuer.encode()), critical=False)
        )  # fmt: skip
        stamp = self._timestamp(builder.sign(self.ca_key, SHA256()).tbs_certificate_bytes)
        extension = x509.UnrecognizedExtension(ExtensionOID.PRECERT_SIGNED_CERTIFICATE_TIMESTAMPS, stamp)
        return builder.add_extension(extension, critical=False).sign(self.ca_key, SHA256())

    def _timestamp(self, tbs: bytes) -> bytes:
        """The list of one signed certificate timestamp: RFC 6962, sections 3.2 and 3.3."""
        now = int(datetime.now(timezone.utc).timestamp()) * 1000
        entry = sha256(_der(self.ca_key)).digest() + struct.pack("!I", len(tbs))[1:] + tbs
        signature = _signed(self.ct_key, struct.pack("!BBQH", 0, 0, now, 1) + entry + struct.pack("!H", 0))
        stamp = (
            struct.pack("!B32sQHBBH", 0, sha256(_der(self.ct_key)).digest(), now, 0, 4, 3, len(signature)) + signature
        )
        listed = struct.pack("!HH", len(stamp) + 2, len(stamp)) + stamp
        return bytes([0x04, len(listed)]) + listed if len(listed) < 128 else bytes([0x04, 0x81, len(listed)]) + listed

    # --- The transparency log -----------------------------------------------------------------------------------------

    def logged(self, proposed: dict[str, Any]) -> dict[str, Any]:
        """The entry of a proposed envelope, the second of a tree of two."""
        content = proposed["spec"]["proposedContent"]
        envelope = json.loads(content["envelope"])
        body = _canonical({
            "apiVersion": "0.0.1", "kind": "dsse",
            "spec": {
                "envelopeHash": {"algorithm": "sha256", "value": sha256(content["envelope"].encode()).hexdigest()},
                "payloadHash": {"algorithm": "sha256",
                                "value": sha256(base64.b64decode(envelope["payload"])).hexdigest()},
                "signatures": [{"signature": envelope["signatures"][0]["sig"], "verifier": content["verifiers"][0]}],
            },
        })  # fmt: skip
        return {"00": self.entry(body)}

    def entry(self, body: bytes) -> dict[str, Any]:
        log_id = sha256(_der(self.log_key)).digest()
        first, leaf = (sha256(b"\0" + one).digest() for one in (b"an older entry", body))
        root = sha256(b"\1" + first + leaf).digest()
        note = f"example.org - 1\n2\n{_b64(root)}\n"
        checkpoint = f"{note}\n— example.org {_b64(log_id[:4] + _signed(self.log_key, note.encode()))}\n"
        told = {"body": _b64(body), "integratedTime": int(datetime.now(timezone.utc).timestamp()),
                "logID": log_id.hex(), "logIndex": 1}  # fmt: skip
        proof = {
            "checkpoint": checkpoint,
            "hashes": [first.hex()],
            "logIndex": 1,
            "rootHash": root.hex(),
            "treeSize": 2,
        }
        promise = _b64(_signed(self.log_key, _canonical(told)))
        return told | {"verification": {"inclusionProof": proof, "signedEntryTimestamp": promise}}


def _canonical(value: object) -> bytes:
    """RFC 8785, of what has no numbers but integers and no text but ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@contextmanager
def running() -> Iterator[Service]:
    """An instance that answers on this machine."""
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/api/v2/signingCert":
                told = service.certified(request, self.headers["Authorization"].removeprefix("Bearer "))
            else:
                told = service.logged(request)
            content = json.dumps(told).encode()
            self.send_response(201)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *told: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        yield service
        server.shutdown()
