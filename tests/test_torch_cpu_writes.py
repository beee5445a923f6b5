"""What torch's CPU writes into arguments fails for the reasons that docs/torch-cpu.md lists and no others."""

from __future__ import annotations

import pytest

import conform
from conform.call.variants import plain_name
from conform.domains.specs import variant_specs
from conform.judging.verdict import FAILURES
from conform.selftest.instruction_sets import PINS, supported
from tests.conftest import ON_CORE, share_of, shares


@pytest.mark.skipif("avx2" not in supported(), reason="this processor has no AVX2")
@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.long)])
def test_only_known_failures(is_whole: bool, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in PINS["avx2"].items():
        monkeypatch.setenv(variable, value)
    ops = {one.name: plain_name(one.name).partition(".")[0] for one in variant_specs()}
    share = share_of(set(ops.values()), shares(ON_CORE), pytestconfig.getoption("--seed"))
    names = [name for name, op in ops.items() if is_whole or op in share]
    assert names
    run = conform.check("writes", backend="cpu", ops=names, waivers="torch-cpu-writes")
    assert [(case["id"], case["reason"]) for case in run.cases if case["status"] in FAILURES] == []
    assert run.summary["pass"] > len(names)
