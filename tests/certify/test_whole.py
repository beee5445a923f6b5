"""A certificate of the whole must-pass list, here of two ops that are said to be all of it: the self-test of the kit is
part of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from conform.certify import must_pass, proof, statement
from tests.certify.support import keys, run, statement_in

pytestmark = pytest.mark.one_in(6)

SHARE = {
    "planted": 22_000, "tried": 400, "caught": 380, "explained": 20, "pairs": 24, "elements": 400_000, "disagreeing": 0,
    "problems": [],
}  # fmt: skip
Certified = Callable[..., Result]


@pytest.fixture
def certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Certified:
    """Makes a certificate, where the self-test finds this."""
    monkeypatch.setattr(must_pass, "is_whole", lambda record, selection: True)
    private, _ = keys(tmp_path)

    def certify(*words: object, **found: Any) -> Result:
        finds(monkeypatch, **found)
        ops = [word for op in ("aten::add", "aten::sort") for word in ("--op", op)]
        usual = ("--determinism", "2", "--workers", "1", "--no-progress", "--quiet", "--nonce", "8f3a27")
        where = ("--backend", "cpu", "--key", private, "--out", tmp_path / "it")
        return run("certify", "smoke", *ops, *usual, *where, *words)

    return certify


def finds(monkeypatch: pytest.MonkeyPatch, **found: Any) -> None:
    monkeypatch.setattr(proof, "run", lambda seed: {"seed": seed, **SHARE, **found})


def test_it_has_levels_and_the_share_that_the_nonce_chooses(
    certified: Certified, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = certified()
    assert result.exit_code == 0, result.output
    assert "PASSED; levels held: exact, ieee, accurate, correctly rounded\n" in result.output
    assert "not deterministic: 2 equal calls were made, not 1000" in result.output
    conform = statement_in(tmp_path / "it")["predicate"]["conform"]
    assert conform["selftest"] == {"seed": conform["draws"][1]["seed"], **SHARE}
    told = "self-test: 380 of 400 planted defects caught, 20 explained; I8 on 24 pairs of op and dtype"
    result = run("verify", tmp_path / "it", "--rejudge", "5")
    assert (result.exit_code, f"{told}; --selftest runs it again" in result.output) == (0, True), result.output
    result = run("verify", tmp_path / "it", "--rejudge", "0", "--selftest")
    assert (result.exit_code, f"{told}\n" in result.output) == (0, True)
    finds(monkeypatch, caught=379)
    result = run("verify", tmp_path / "it", "--rejudge", "0", "--selftest")
    assert (result.exit_code, "selftest: caught 379 now, 380 then" in result.output) == (1, True)


def test_a_kit_that_does_not_prove_itself_certifies_nothing(certified: Certified, tmp_path: Path) -> None:
    result = certified(problems=["survives without a reason: aten::exp: zeros (H1)"])
    assert (result.exit_code, "FAILED" in result.output) == (1, True)
    assert "self-test: survives without a reason: aten::exp: zeros (H1)" in result.output
    assert statement_in(tmp_path / "it")["predicate"]["result"] == "FAILED"


def test_a_waiver_that_no_draw_needs_fails_the_whole(certified: Certified, tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text("waivers:\n- {op: aten::sort, dtype: float32, reason: once}\n")
    result = certified("--waivers", tmp_path / "w.yaml")
    assert (result.exit_code, "FAILED" in result.output) == (1, True)
    told = "waiver at w.yaml:2 (aten::sort float32): every case that it is for passes: take it out (once)"
    assert result.output.count(told) == 1  # by the certificate, and by neither draw
    result = run("verify", tmp_path / "it", "--rejudge", "5")
    assert (result.exit_code, result.output.count("WRONG")) == (1, 1)
    assert "result: FAILED: the certificate itself says that not everything passed" in result.output


def test_the_self_test_tells_a_program_what_a_certificate_holds() -> None:
    result = run("selftest", "--json", "--no-progress", "--op", "aten::ge.Scalar")
    told = json.loads(result.stdout)
    assert result.exit_code == 0
    assert {"seed", *told} == set(statement.SelfTest.model_fields)
    assert told["tried"] == told["planted"] == told["caught"] + told["explained"] > 0
    assert (told["pairs"] > 0, told["disagreeing"], told["problems"]) == (True, 0, [])
