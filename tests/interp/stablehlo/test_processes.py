"""Grids of processes that go wrong: what is told of each, and that all of its processes end."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import ConformError
from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.values import Tensor

TOKEN = "!stablehlo.token"
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
SEND = f"""  func.func @send() -> {TOKEN} {{
    %a = stablehlo.constant dense<1.0> : tensor<f32>
    %t = stablehlo.create_token : {TOKEN}
    %r = "stablehlo.send"(%a, %t) {{{CHANNEL}}} : (tensor<f32>, {TOKEN}) -> {TOKEN}
    return %r : {TOKEN}
  }}
"""
RECEIVE = f"""  func.func @receive() -> tensor<f32> {{
    %t = stablehlo.create_token : {TOKEN}
    %r:2 = "stablehlo.recv"(%t) {{{CHANNEL}}} : ({TOKEN}) -> (tensor<f32>, {TOKEN})
    return %r#0 : tensor<f32>
  }}
"""
INFEED = f"""  func.func @infeed() -> tensor<f32> {{
    %t = stablehlo.create_token : {TOKEN}
    %r:2 = "stablehlo.infeed"(%t) : ({TOKEN}) -> (tensor<f32>, {TOKEN})
    return %r#0 : tensor<f32>
  }}
  func.func @fed() -> tensor<f32> {{
    %a = stablehlo.constant dense<1.0> : tensor<f32>
    return %a : tensor<f32>
  }}
  func.func @other() -> tensor<f64> {{
    %a = stablehlo.constant dense<1.0> : tensor<f64>
    return %a : tensor<f64>
  }}
"""


def gather(name: str, type_: str = "tensor<1xf32>", wide: str = "tensor<2xf32>", groups: str = "[[0, 1]]") -> str:
    return f"""  func.func @{name}() -> {wide} {{
    %a = stablehlo.constant dense<1.0> : {type_}
    %r = "stablehlo.all_gather"(%a) {{all_gather_dim = 0 : i64, replica_groups = dense<{groups}> : tensor<1x2xi64>}} :
        ({type_}) -> {wide}
    return %r : {wide}
  }}
"""


def told(functions: str, programs: str, results: str, infeed: str = "") -> str:
    """What is said of a grid that cannot run; none of its threads is left."""
    before = threading.active_count()
    text = f"""module {{
{functions}  func.func @main() {{
    %r:{results.count("tensor") + results.count("token")} = "interpreter.run_parallel"() {{programs = {programs}{infeed}}} : () -> ({results})
    return
  }}
}}"""  # noqa: E501
    with pytest.raises(ConformError) as found:
        evaluate(Program(parse(text, "x.mlir").functions["main"]), StableHLO(), [])
    assert threading.active_count() == before
    return f"{found.value.exit_code} {found.value}"


F, T = "tensor<f32>", TOKEN
W = "tensor<2xf32>"
CASES = {
    "recv without send": (RECEIVE, "[[@receive]]", F, "",
                          "2 deadlock: (0, 0) waits at stablehlo.recv (x.mlir:4) for channel 1"),
    "send without recv": (SEND, "[[@send]]", T, "",
                          ("2 interpreter.run_parallel: nobody received what was sent by stablehlo.send (x.mlir:5) of "
                          "process (0, 0) into channel 1")),
    "two senders": (SEND + RECEIVE, "[[@send], [@send], [@receive]]", f"{T}, {T}, {F}", "",
                    "3 the processes (0, 0) and (1, 0) both send to: nothing says in which order"),
    "two receivers": (SEND + RECEIVE, "[[@send], [@receive], [@receive]]", f"{T}, {F}, {F}", "",
                      "3 the processes (1, 0) and (2, 0) both receive from"),
    "a collective and a message": (gather("gather") + RECEIVE, "[[@gather], [@receive]]", f"{W}, {F}", "",
                                   ("deadlock: (0, 0) waits at stablehlo.all_gather (x.mlir:4) for (1, 0); (1, 0) "
                                   "waits at stablehlo.recv (x.mlir:10) for channel 1")),
    "groups that are not each other's": (gather("gather") + gather("other", groups="[[1, 0]]"), "[[@gather], [@other]]",
                                         f"{W}, {W}", "", "2 deadlock: (0, 0) waits"),
    "operands of two types": (gather("gather") + gather("other", "tensor<2xf32>", "tensor<4xf32>"),
                              "[[@gather], [@other]]", f"{W}, tensor<4xf32>", "",
                              ("2 stablehlo.all_gather: the operand of process (1, 0) is tensor<2xf32>, that of (0, 0) "
                              "tensor<1xf32>")),
    "a group beyond the grid": (gather("gather"), "[[@gather]]", W, "",
                                ("2 stablehlo.all_gather: replica_groups [[0, 1]] in a grid of 1 replicas, against "
                                "constraint (C3)")),
    "a dry infeed": (INFEED, "[[@infeed]]", F, "", "2 stablehlo.infeed: the infeed has run dry: it had 0 functions"),
    "an infeed of another type": (INFEED, "[[@infeed]]", F, ", infeed = [@other]",
                                  "2 stablehlo.infeed: the infeed gives tensor<f64>, the results are float32[]"),
    "two readers of one infeed": (INFEED, "[[@infeed, @infeed]]", f"{F}, {F}", ", infeed = [@fed, @fed]",
                                  "3 the processes (0, 0) and (0, 1) both read"),
    "rows of two lengths": (INFEED, "[[@fed, @fed], [@fed]]", F, "",
                            "2 interpreter.run_parallel: programs are rows of [2, 1]"),
    "no programs": (INFEED, "[]", F, "", "2 interpreter.run_parallel: programs are rows of []"),
    "a function that is not there": (INFEED, "[[@nobody]]", F, "", "2 x.mlir: function @nobody is not there"),
    "too many processes": (INFEED, f"[[{', '.join(['@fed'] * 1025)}]]", ", ".join([F] * 1025), "",
                           "3 a grid of 1025 processes"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_grid_that_cannot_run_is_told(name: str) -> None:
    *given, expected = CASES[name]
    assert expected in told(*given)


HOST = """func.func @main() {
  %t = stablehlo.create_token : !stablehlo.token
  %r:2 = "stablehlo.recv"(%t) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true
  } : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  return
}"""


def test_a_host_is_not_invented() -> None:
    with pytest.raises(ConformError, match="a transfer from the host") as found:
        evaluate(Program(parse(HOST, "x.mlir").functions["main"]), StableHLO(), [])
    assert found.value.exit_code == 3


LOOP = """module {
  func.func @process(%x: tensor<i32>) -> tensor<i32> {
    %limit = stablehlo.constant dense<100> : tensor<i32>
    %r = stablehlo.while(%s = %x) : tensor<i32>
    cond {
      %go = stablehlo.compare LT, %s, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = "stablehlo.all_reduce"(%s) ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %sum = stablehlo.add %a, %b : tensor<i32>
          stablehlo.return %sum : tensor<i32>
      }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<i32>) -> tensor<i32>
      stablehlo.return %next : tensor<i32>
    }
    return %r : tensor<i32>
  }
  func.func @main() -> (tensor<i32>, tensor<i32>, tensor<i32>) {
    %a = stablehlo.constant dense<1> : tensor<i32>
    %b = stablehlo.constant dense<2> : tensor<i32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %r:3 = "interpreter.run_parallel"(%a, %b, %c) {programs = [[@process], [@process], [@process]]} :
        (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>)
    return %r#0, %r#1, %r#2 : tensor<i32>, tensor<i32>, tensor<i32>
  }
}"""


def test_an_op_meets_itself_again_in_a_loop() -> None:
    """6, 18, 54, 162: each round is one of its own."""
    results = evaluate(Program(parse(LOOP, "x.mlir").functions["main"]), StableHLO(), [])
    assert [int(one.array) for one in results if isinstance(one, Tensor)] == [162, 162, 162]


PROBES = """module {
  func.func @process(%x: tensor<i32>) {
    %y = interpreter.probe %x, probe_id = "of both" : tensor<i32>
    return
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i32>
    %b = stablehlo.constant dense<2> : tensor<i32>
    "interpreter.run_parallel"(%b, %a) {programs = [[@process], [@process]]} : (tensor<i32>, tensor<i32>) -> ()
    check.expect_serialized_eq %b, probe_id = "of both" : tensor<i32>
    check.expect_serialized_eq %b, probe_id = "of both", iter = 1 : tensor<i32>
    interpreter.print %a : tensor<i32>
    return
  }
}"""


def test_what_processes_say_is_kept_in_their_order() -> None:
    op_set = StableHLO()
    evaluate(Program(parse(PROBES, "x.mlir").functions["main"]), op_set, [])
    assert [one.failure is None for one in op_set.checks] == [True, False]
    assert [int(one.array) for one in op_set.process.told.probed["of both"]] == [2, 1]
    assert [where for where, _ in op_set.process.told.printed] == ["x.mlir:12"]


@pytest.mark.parametrize(("probe", "number"), [('"nobody"', 0), ('"of both"', 2)])
def test_what_no_probe_kept_is_told(probe: str, number: int) -> None:
    text = PROBES.replace('"of both", iter = 1', f"{probe}, iter = {number}")
    with pytest.raises(ConformError, match=r"kept [02] values") as found:
        evaluate(Program(parse(text, "x.mlir").functions["main"]), StableHLO(), [])
    assert found.value.exit_code == 2
