"""A certificate that is signed in a name, by the library sigstore, whose real signer and verifier run against services
and roots of trust of the tests' own."""

from __future__ import annotations

import json
import random
import shutil
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("sigstore")

from conform.certify import keyless
from conform.certify.envelope import CERTIFICATE, opened
from conform.certify.found import Named, Report
from conform.certify.keyless import BUNDLE
from tests.certify import sigstore_service
from tests.certify.sigstore_service import ISSUER, MAIL, Service, token
from tests.certify.support import ASKED, found_in, run, signed_anew, statement_in

pytestmark = pytest.mark.one_in(6, together=True)

SMALL = ("smoke", "--op", "aten::exp", "--dtype", "float32", "--determinism", "1", "--workers", "1", "--no-progress",
         "--quiet")  # fmt: skip
FLIPS = 400


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with sigstore_service.running() as service:
        yield service


@pytest.fixture
def trust(service: Service, tmp_path: Path) -> Path:
    path = tmp_path / "trust.json"
    path.write_text(service.config())
    return path


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of continuous integration, which has a token; sigstore's services are on this machine."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("SIGSTORE_ID_TOKEN", token())


@pytest.fixture
def signed(copy: Path, trust: Path) -> Path:
    result = run("sign", copy, "--trust-config", trust)
    assert result.exit_code == 0, result.output
    assert result.output == f"signed as {MAIL} ({ISSUER}): {copy / BUNDLE}\n"
    return copy


def named(trust: Path, identity: str = MAIL, issuer: str = ISSUER) -> list[str]:
    return ["--identity", identity, "--issuer", issuer, "--trust-config", str(trust)]


def found(folder: Path, trust: Path) -> list[str]:
    return found_in(folder, replace(ASKED, named=Named(MAIL, ISSUER, trust)))


def test_certify_signs_the_statement_in_a_name_and_verify_asks_for_it(tmp_path: Path, trust: Path) -> None:
    words = (*SMALL, "--backend", "cpu", "--sigstore", "--trust-config", trust, "--out", tmp_path / "it")
    result = run("certify", *words)
    assert result.exit_code == 0, result.output
    assert f"signed as {MAIL} ({ISSUER}): {tmp_path / 'it' / BUNDLE}" in result.output
    result = run("verify", tmp_path / "it", *named(trust))
    assert result.exit_code == 0, result.output
    assert f"signed by {MAIL}, for whom {ISSUER} vouches (sigstore)\n" in result.output
    result = run("verify", tmp_path / "it", "--rejudge", "0")
    assert result.exit_code == 0
    assert f"{BUNDLE} was not looked at: name who must have signed by --identity and --issuer" in result.output


def test_it_is_an_envelope_of_the_very_statement(signed: Path) -> None:
    bundle, own = (json.loads((signed / name).read_text()) for name in (BUNDLE, "certificate.json"))
    assert bundle["mediaType"] == "application/vnd.dev.sigstore.bundle.v0.3+json"
    assert bundle["dsseEnvelope"]["payload"] == own["payload"]
    assert bundle["dsseEnvelope"]["payloadType"] == own["payloadType"] == "application/vnd.in-toto+json"


@pytest.mark.parametrize(
    ("identity", "issuer", "told"),
    [
        ("somebody@example.org", ISSUER, "SANs do not match somebody@example.org"),
        (MAIL, "https://accounts.example.com", "OIDCIssuer does not match"),
    ],
)
def test_another_name_or_issuer(signed: Path, trust: Path, identity: str, issuer: str, told: str) -> None:
    result = run("verify", signed, "--rejudge", "0", *named(trust, identity, issuer))
    assert result.exit_code == 1
    assert f"WRONG {BUNDLE}: is no signature of {identity} ({issuer}): " in result.output
    assert told in result.output


def test_an_instance_that_nobody_trusts(signed: Path, tmp_path: Path) -> None:
    (tmp_path / "others.json").write_text(Service("https://example.org").config())
    (told,) = found(signed, tmp_path / "others.json")
    assert "CertValidationError" in told


def test_a_bundle_of_another_certificate(signed: Path, trust: Path, own: Path) -> None:
    """The key's holder says something else later on; the name signed what stood there before."""
    signed_anew(signed, own, lambda told: told["predicate"]["conform"].update(date="2020-01-31"))
    assert f"{BUNDLE}: signs another statement than that of certificate.json" in found(signed, trust)


def test_no_bundle_a_link_and_a_bundle_that_is_there_already(signed: Path, copy: Path, trust: Path) -> None:
    result = run("sign", signed, "--trust-config", trust)
    assert (result.exit_code, "is there already" in result.stderr) == (2, True)
    (signed / BUNDLE).rename(signed.parent / "elsewhere")
    assert [one.partition(": ")[0] for one in found(signed, trust)] == [BUNDLE]
    (signed / BUNDLE).symlink_to(signed.parent / "elsewhere")
    assert f"{BUNDLE}: is a link" in found(signed, trust)
    assert f"{BUNDLE}: is a link" in found_in(signed)


@pytest.mark.parametrize("text", ["", "{}", "null", "[" * 100_000, '{"mediaType": "x"}', "\udcff"])
def test_what_is_no_bundle(signed: Path, trust: Path, text: str) -> None:
    (signed / BUNDLE).write_bytes(text.encode(errors="surrogateescape"))
    (told,) = found(signed, trust)
    assert told.startswith(f"{BUNDLE}: is no signature of {MAIL}")


def test_every_changed_bit_is_found(signed: Path, trust: Path) -> None:
    """But for the name that the log writes before its signature of a checkpoint, which nobody signs."""
    content, draw = (signed / BUNDLE).read_bytes(), random.Random(0)
    payload = opened(signed / CERTIFICATE, None).payload
    signer = "— example.org ".encode()
    unsigned = range(content.index(signer), content.index(signer) + len(signer))
    for _ in range(FLIPS):
        place = draw.choice([place for place in range(len(content)) if place not in unsigned])
        flipped = content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]
        (signed / BUNDLE).write_bytes(flipped)
        report = Report()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what stands in certificates that were changed
            keyless.check(signed, payload, Named(MAIL, ISSUER, trust), report)
        assert report.findings, place


# --- Who signs --------------------------------------------------------------------------------------------------------


def test_services_that_refuse_leave_the_certificate(
    service: Service, copy: Path, trust: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "ct_key", sigstore_service.Service().ct_key)
    result = run("sign", copy, "--trust-config", trust)
    assert (result.exit_code, (copy / BUNDLE).exists()) == (2, False)
    assert "sigstore gave no signature: VerificationError: " in result.stderr
    assert f"conform sign {copy} tries again" in result.stderr
    assert found_in(copy) == []


def test_nobody_is_there_to_log_in(tmp_path: Path, trust: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is told before anything is run."""
    monkeypatch.delenv("GITLAB_CI")
    words = (*SMALL, "--backend", "cpu", "--sigstore", "--trust-config", trust, "--out", tmp_path / "it")
    result = run("certify", *words)
    assert (result.exit_code, (tmp_path / "it").exists()) == (2, False)
    assert "no identity token, and there is no terminal to log in from" in result.stderr


def test_a_machine_without_the_library_is_told_what_to_install(
    copy: Path, trust: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sigstore.sign", None)
    for words in (["sign", copy], ["verify", copy, *named(trust)]):
        result = run(*words)
        assert (result.exit_code, "install conform[sigstore]" in result.stderr) == (2, True)


@pytest.mark.parametrize("text", ["", "{}", "null", "no JSON"])
def test_roots_of_trust_that_are_none(copy: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "trust.json"
    path.write_text(text)
    for words in (["sign", copy, "--trust-config", path], ["verify", copy, *named(path)]):
        result = run(*words)
        assert (result.exit_code, "trust.json: no roots of trust: " in result.stderr) == (2, True)


def test_half_of_a_name_is_none(copy: Path, trust: Path) -> None:
    """sigstore itself takes an empty issuer for any."""
    for words in (["--identity", MAIL], ["--issuer", ISSUER], ["--identity", MAIL, "--issuer", ""],
                  ["--identity", "", "--issuer", ISSUER], ["--trust-config", trust]):  # fmt: skip
        result = run("verify", copy, *words)
        assert (result.exit_code, "--identity NAME and --issuer URL go together" in result.stderr) == (2, True)


def test_a_certificate_that_was_changed_is_not_signed(copy: Path, trust: Path, made: tuple[Path, Path, Path]) -> None:
    envelope = json.loads((copy / "certificate.json").read_text())
    envelope["signatures"][0]["sig"] = "AAAA" + envelope["signatures"][0]["sig"][4:]
    (copy / "certificate.json").write_text(json.dumps(envelope) + "\n")
    result = run("sign", copy, "--trust-config", trust)
    assert (result.exit_code, "the signature is not that of its key" in result.stderr) == (2, True)
    shutil.copy(made[0] / "certificate.json", copy)
    assert statement_in(copy)["predicate"]["result"] == "PASSED"
    assert run("sign", copy, "--trust-config", trust).exit_code == 0
