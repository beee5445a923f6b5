"""What tests of certificates share: making keys, reading what is signed, and signing what was changed."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

from click.testing import CliRunner, Result

from conform.certify import envelope, leaves, levels, merkle, must_pass, outputs, page, statement
from conform.certify.found import Asked
from conform.certify.verify import verify
from conform.cli import main
from conform.errors import UsageError
from conform.report import junit
from conform.report import record as records_of
from conform.report.html import page as report
from conform.report.html.records import of_text
from conform.report.run_json import expanded
from conform.report.schema import read_dict

ASKED = Asked(rejudge=0)
BACKENDS = Path(__file__).with_name("backends.py")
DRAWS = ("public", "nonce")


def run(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def keys(folder: Path) -> tuple[Path, Path]:
    """A private key and its public one, as openssl would write them."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key, private, public = Ed25519PrivateKey.generate(), folder / "key.pem", folder / "key.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def statement_in(folder: Path) -> dict:
    return json.loads(base64.b64decode(json.loads((folder / "certificate.json").read_text())["payload"]))


def found_in(folder: Path, asked: Asked = ASKED) -> list[str]:
    """What is found; an error that ends the reading is a finding, too."""
    try:
        return list(map(str, verify(folder, asked).findings))
    except UsageError as error:
        return [str(error)]


def signed_anew(folder: Path, private: Path, change: Callable[[dict], object] = lambda _: None) -> None:
    """The certificate of what stands in the folder now, as far as digests, leaves, root and its own page go."""
    told = statement_in(folder)
    conform = told["predicate"]["conform"]
    made: list[bytes] = []
    for draw in DRAWS:
        made += leaves.hashes(draw, expanded(read_dict(folder / draw))["cases"], outputs.read(folder / draw))
    leaves.write(folder, made)
    conform["merkle"] = {"leaves": len(made), "root": merkle.root(made).hex()}
    change(told)
    (folder / "certificate.html").write_text(page.render(told["predicate"]["result"], told["predicate"]["conform"]))
    files_signed_anew(folder, private, told)


def files_signed_anew(folder: Path, private: Path, told: dict | None = None) -> None:
    """The same, where the digests of the files alone are made to agree."""
    told, signer = told or statement_in(folder), envelope.signer_of(private)
    conform = told["predicate"]["conform"]
    for name in conform["files"]:
        content = (folder / name).read_bytes()
        conform["files"][name] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    conform["public_key"] = signer.public_key
    (folder / "certificate.json").write_text(envelope.sealed(told, signer))


def counted_anew(folder: Path) -> None:
    """The records say of their cases what these give now."""
    for draw in DRAWS:
        found = read_dict(folder / draw)
        cases = [SimpleNamespace(**case) for case in expanded(found)["cases"]]
        found["summary"] = records_of.summarize([case.status for case in cases], len(cases))
        required = records_of.required_json(
            records_of.Required(of_judged_ops="ops" in found["required"]["of"]), cases, len(cases), found["manifest"]
        )
        (folder / draw / "run.json").write_text(json.dumps({**found, "required": required}))


def signed_by_who_lies_well(
    folder: Path, private: Path, change: Callable[[dict], object] = lambda _: None, result: str = "PASSED"
) -> None:
    """Signed anew, where statement, pages and all that is worked out of the records agree with what these say now."""
    records = [expanded(read_dict(folder / draw)) for draw in DRAWS]
    cases, first = [case for record in records for case in record["cases"]], records[0]
    for draw in DRAWS:
        record = of_text((folder / draw / "run.json").read_text())
        (folder / draw / "report.html").write_text(report.render([record]))
        (folder / draw / "junit.xml").write_text(junit.render(record))

    def agree(told: dict) -> None:
        change(told)
        conform = told["predicate"]["conform"]
        listed = must_pass.told(first, conform["must_pass"]["selection"])
        asked = levels.Asked(first["contract"], conform["draws"][0]["determinism"], listed["is_whole"])
        conform |= {
            "kit": first["kit"], "truth": first["truth"], "backend": first["backend"], "must_pass": listed,
            "summary": {draw: record["summary"] for draw, record in zip(DRAWS, records, strict=True)},
            "ops": statement.ops_of(cases), "levels": levels.standing(cases, asked),
        }  # fmt: skip
        told.update(json.loads(json.dumps(statement.statement_of(statement.predicate_of(result, conform)))))

    signed_anew(folder, private, agree)


def of_each_answer(folder: Path, change: Callable[[dict], object]) -> None:
    for draw in ("public", "nonce"):
        index = folder / draw / "outputs.jsonl"
        lines = [json.loads(line) for line in index.read_text().splitlines()]
        for line in lines:
            change(line)
        index.write_text("".join(json.dumps(line) + "\n" for line in lines))


def outputs_in(line: dict) -> list[dict]:
    """The outputs of the first call of a line of the index."""
    return (line["replies"][0].get("outputs") or []) if line["replies"] else []
