"""Specification: "Module and constructor specifications", "Template modules", "Template compare pairs"."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conform.suites import ModuleSpec, Pair, load
from conform.suites.nodes import ClassPath, Const, Construct, Tensor

HEAD = """
dims: {B: 2, N: 4}
presets:
  x: {type: tensor, shape: [N, N], dtype: float32, init: normal}
  y: {type: tensor, shape: [B, 8], dtype: float32, init: normal}
tests:
"""


@pytest.fixture
def tests(loaded):
    return lambda text: loaded(HEAD + text)


@pytest.fixture
def problems(errors):
    """The error lines without positions."""
    return lambda text: [line.split(": ", 1)[1] for line in errors(HEAD + text)]


# --- Module -----------------------------------------------------------------------------------------------------------


def test_a_module_is_a_class_and_its_arguments(tests) -> None:
    (test,) = tests(
        "- {id: m, op: {type: module, path: torch.nn.Linear, args: [16, 8], kwargs: {bias: true}}, in: [{ref: x}]}"
    )
    assert test.op == ModuleSpec(ClassPath("torch.nn.Linear"), (Const(16), Const(8)), {"bias": Const(True)})
    assert test.op_name == "torch.nn.Linear"
    assert test.id == "m"


def test_arguments_are_nodes_or_literals(tests) -> None:
    (test,) = tests("""
- op: {type: module, path: a.B, args: [null, N, [1, 2], {k: v}, {ref: x}, {type: const, value: {type: 1}}]}
  in: []
""")
    assert test.op.args[:4] == (
        Const(None),
        Const("N"),
        Const([1, 2]),
        Const({"k": "v"}),
    )  # literals: N is no dimension
    assert isinstance(test.op.args[4], Tensor)
    assert test.op.args[5] == Const({"type": 1})


def test_a_file_path_is_beside_the_yaml_file_or_in_the_working_directory(tmp_path: Path, monkeypatch) -> None:
    suite = tmp_path / "suites" / "s.yaml"
    suite.parent.mkdir()
    suite.write_text("tests:\n- {op: {type: module, path: 'file:wrappers.py::Outer.Inner'}, in: []}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrappers.py").write_text("raise SystemExit('imported')")
    (test,) = load([suite]).tests
    assert test.op.path == ClassPath("file:wrappers.py::Outer.Inner", tmp_path / "wrappers.py", "Outer.Inner")
    (suite.parent / "wrappers.py").write_text("raise SystemExit('imported')")
    (test,) = load([suite]).tests
    assert test.op.path.file == suite.parent / "wrappers.py"


def test_loading_imports_nothing_that_a_file_names(tests) -> None:
    tests("- {op: {type: module, path: antigravity.Fly}, in: [{type: construct, path: this.Zen, args: []}]}")
    assert not {"antigravity", "this"} & sys.modules.keys()


@pytest.mark.parametrize("path", ["Linear", "torch..nn", "file:x.txt::A", "file:x.py", "a b.C", "os.system('x')", "''"])
def test_other_paths_are_errors(problems, path: str) -> None:
    (message,) = problems(f'- {{id: m, op: {{type: module, path: "{path}"}}, in: []}}')
    assert "op.path: expected an import path such as torch.nn.Linear, or file:path/to/file.py::Name; found" in message


def test_a_file_whose_name_is_too_long_is_a_missing_file(problems) -> None:
    (message,) = problems(f"- {{op: {{type: module, path: 'file:{'a' * 300}.py::X'}}, in: []}}")
    assert f"no file '{'a' * 57}...' beside the YAML file" in message


def test_a_missing_file_is_an_error(problems) -> None:
    assert problems("- {id: m, op: {type: module, path: 'file:none.py::A'}, in: []}") == [
        "test 'm' (file:none.py::A), op.path: no file 'none.py' beside the YAML file or in the working directory"
    ]


def test_an_unknown_type_of_op(problems) -> None:
    assert problems("- {id: m, op: {type: modul, path: a.B}, in: []}") == [
        "test 'm' (a.B), op: unknown type 'modul'; did you mean 'module'?"
    ]
    (message,) = problems("- {id: m, op: 3, in: []}")
    assert message.startswith("test 'm', op: expected an operator such as aten::add, or a mapping of type module")


# --- Construct --------------------------------------------------------------------------------------------------------


def test_constructs_nest(tests) -> None:
    (test,) = tests("""
- op:
    type: module
    path: a.B
    kwargs: {cfg: {type: construct, path: c.D, args: [{type: construct, path: e.F, args: []}]}}
  in: []
""")
    inner = Construct(ClassPath("e.F"), (), {})
    assert test.op.kwargs == {"cfg": Construct(ClassPath("c.D"), (inner,), {})}


# --- Template modules -------------------------------------------------------------------------------------------------


def test_the_example_of_the_product(tests) -> None:
    found = tests("""
- id: mod_linear_template
  op:
    type: template_module
    path: torch.nn.Linear
    vars: {in_features: [N], out_features: [3, 5, 7], bias: [true, false]}
    args: [{var: in_features}, {var: out_features}]
    kwargs: {bias: {var: bias}}
  in: [{type: tensor, shape: [B, N], dtype: float32, init: normal}]
""")
    assert len(found) == 6
    assert found[1].id == "mod_linear_template__in_features=N,out_features=3,bias=false"
    assert found[1].op == ModuleSpec(ClassPath("torch.nn.Linear"), (Const(4), Const(3)), {"bias": Const(False)})


CASES = """
- id: cases
  op:
    type: template_module
    path: torch.nn.Linear
    vars:
      in_features: [4, 8]
      input_preset: [x, y]
      out_features: [8, 16, 32]
      bias: [true, false]
    cases:
      - {in_features: 4, input_preset: x}
      - {in_features: 8, input_preset: y}
    args: [{var: in_features}, {var: out_features}]
    kwargs: {bias: {var: bias}}
  in: [{ref: {var: input_preset}}]
"""


def test_variables_that_a_case_leaves_out_range_over_their_values(tests) -> None:
    found = tests(CASES)
    assert len(found) == 12
    assert [test.inputs[0].shape for test in found] == [(4, 4)] * 6 + [(2, 8)] * 6
    assert [test.op.args[0].value for test in found] == [4] * 6 + [8] * 6
    assert found[-1].id == "cases__in_features=8,input_preset=y,out_features=32,bias=false"


def test_variables_stand_in_path_id_inputs_and_kwargs(tests) -> None:
    found = tests("""
- id: "pool_{name}_{k}"
  op: {type: template_module, path: "torch.nn.{name}", vars: {name: [MaxPool1d, AvgPool1d], k: [2]}, args: [{var: k}]}
  in: [{type: list, len: 1, elem: {var: k}}]
  kwargs: {size: {type: var, name: k}}
- id: by_variable
  op: {type: template_module, path: {var: cls}, vars: {cls: [torch.nn.ReLU]}}
  in: []
""")
    assert [test.id for test in found] == ["pool_MaxPool1d_2", "pool_AvgPool1d_2", "by_variable__cls=torch.nn.ReLU"]
    assert [test.op_name for test in found] == ["torch.nn.MaxPool1d", "torch.nn.AvgPool1d", "torch.nn.ReLU"]
    assert found[0].inputs[0].element == Const(2)
    assert found[0].kwargs == {"size": Const(2)}


def test_a_template_names_operators(tests) -> None:
    found = tests("""
- id: "{f}_near_zero"
  op: {type: template_op, name: "aten::{f}", vars: {f: [exp, sin]}}
  in: [{ref: x}]
- id: by_variable
  op: {type: template_op, name: {var: f}, vars: {f: [aten::add], y: [null]}, cases: [{y: {ref: x}}, {y: 2}]}
  in: [{ref: x}, {var: y}]
""")
    assert [(test.id, test.op) for test in found] == [
        ("exp_near_zero", "aten::exp"), ("sin_near_zero", "aten::sin"),
        ("by_variable__f=#0,y=#0", "aten::add"), ("by_variable__f=#0,y=2", "aten::add"),
    ]  # fmt: skip
    assert found[-1].inputs[1] == Const(2)


def test_an_operator_that_a_template_makes_up_is_an_error(problems) -> None:
    text = """- {id: t, op: {type: template_op, name: "aten::{f}", vars: {f: [expp]}}, in: [{ref: x}]}"""
    (message,) = problems(text)
    assert "op.name: unknown operator 'aten::expp'" in message
    assert "did you mean 'aten::exp'" in message
    keyword = text.replace("expp", "exp").replace("[{ref: x}]", "[{ref: x}], kwargs: {k: {ref: x}}")
    assert "aten::exp has no argument 'k'" in problems(keyword)[0]


def test_symbols_of_dimensions_are_bare(tests, problems) -> None:
    text = "- {{id: t, op: {{type: template_module, path: a.B, vars: {{v: [{}]}}, args: [{{var: v}}]}}, in: []}}"
    assert tests(text.format("N"))[0].op.args == (Const(4),)
    assert tests(text.format('"M"'))[0].op.args == (Const("M"),)  # a string that is no symbol
    assert tests(text.format("[N, 3, M]"))[0].op.args == (Const([4, 3, "M"]),)
    assert tests(text.format("{k: [N, M]}"))[0].op.args == (Const({"k": [4, "M"]}),)
    assert tests(text.format("{type: const, value: [N]}"))[0].op.args == (Const(["N"]),)  # a literal, passed unchanged
    quoted = "'N' is quoted; the symbol of a dimension is written bare: N"
    assert problems(text.format('"N"')) == [f"test 't' (a.B), op.vars.v[0]: {quoted}"]
    assert problems(text.format('1, {k: [3, "N"]}')) == [f"test 't' (a.B), op.vars.v[1].k[1]: {quoted}"]
    case = text.replace("}]}}, in", "}], cases: [{{v: 'N'}}]}}, in")
    assert problems(case.format(1)) == [f"test 't' (a.B), op.cases[0].v: {quoted}"]


def test_values_without_a_short_text_are_numbered_in_ids(tests) -> None:
    found = tests("- {id: t, op: {type: template_module, path: a.B, vars: {v: [[1, 2], [3], a b]}}, in: []}")
    assert [test.id for test in found] == ["t__v=#0", "t__v=#1", "t__v=#2"]


def test_values_without_a_short_text_are_numbered_within_their_variable(tests) -> None:
    (test,) = tests("- {id: t, op: {type: template_module, path: a.B, vars: {v: [&a [1]], w: [*a]}}, in: []}")
    assert test.id == "t__v=#0,w=#0"
    found = tests("""
- {id: t, op: {type: template_module, path: a.B, vars: {v: [&a a b]}}, in: []}
- {id: u, op: {type: template_module, path: a.B, vars: {v: [1, *a]}}, in: []}
""")
    assert [test.id for test in found] == ["t__v=#0", "u__v=1", "u__v=#1"]


@pytest.mark.parametrize("value", ['"a\\nb"', '"\\e[31m"', '"\\u202e"', '" x "'])
def test_an_id_stays_one_printable_line_with_its_variables_filled_in(problems, value: str) -> None:
    (found,) = problems(f'- {{id: "{{v}}", op: {{type: template_module, path: a.B, vars: {{v: [{value}]}}}}, in: []}}')
    assert "id: expected one line without blanks around it, found" in found


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("vars: {a: [1]}, args: [{var: b}]", "op.args[0]: unknown template variable 'b'; known: a"),
        ("vars: {}, args: [{var: b}]", "op.args[0]: unknown template variable 'b'; none is defined"),
        ("vars: {size: [1]}, cases: [{sise: 1}]", "op.cases[0].sise: undeclared template variable 'sise'; did"),
        ("vars: {a: []}", "op.vars.a: expected at least one item, found none"),
        ("vars: {a: [1]}, cases: []", "op.cases: expected at least one item, found none"),
        ("vars: {a: [1, 1]}", "id: the id 't__a=1' is already that of a test at"),
        ("cases: []", "op.vars: the key 'vars' is missing"),
        ("vars: {1a: [1]}", "op.vars.1a: '1a' is no name"),
    ],
)  # fmt: skip
def test_what_a_template_refuses(problems, op: str, message: str) -> None:
    found = problems(f"- {{id: t, op: {{type: template_module, path: a.B, {op}}}, in: []}}")
    assert any(line.startswith(f"test 't' (a.B), {message}") for line in found), found


def test_a_reference_through_a_variable_must_name_a_preset(problems) -> None:
    text = "- {{id: t, op: {{type: template_module, path: a.B, vars: {{v: [{}]}}}}, in: [{{ref: {{var: v}}}}]}}"
    assert problems(text.format("z")) == ["test 't' (a.B), in[0].ref: unknown preset 'z'; known: x, y"]
    assert problems(text.format("null")) == ["test 't' (a.B), in[0].ref: unknown preset null; known: x, y"]


def test_an_explosion_of_variables_is_refused(problems) -> None:
    values = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
    names = ", ".join(f"v{n}: {values}" for n in range(9))
    assert problems(f"- {{id: t, op: {{type: template_module, path: a.B, vars: {{{names}}}}}, in: []}}") == [
        "test 't' (a.B), op: 1000000000 tests; the limit is 200000 (raise it with CONFORM_MAX_TESTS)"
    ]
    more = ", ".join(f"v{n}: [0, 1]" for n in range(20_000))  # a number that Python does not write out
    (found,) = problems(f"- {{id: t, op: {{type: template_module, path: a.B, vars: {{{more}}}}}, in: []}}")
    assert "op: more than 10^20 tests" in found


# --- Template compare pairs -------------------------------------------------------------------------------------------

PAIR = """
- id: linear_vs_linear
  op:
    type: template_compare_pair
    vars: {in_features: [N], out_features: [8, 16]}
    a: {impl: impl1, type: module, path: torch.nn.Linear, args: [{var: in_features}, {var: out_features}]}
    b: {impl: impl2, type: module, path: my.Linear, args: [{var: in_features}, {var: out_features}]}
  in: [{ref: x}]
"""


def test_each_assignment_gives_both_sides(tests) -> None:
    found = tests(PAIR)
    assert [(test.id, test.impl, test.op_name) for test in found] == [
        ("linear_vs_linear__a__in_features=N,out_features=8", "impl1", "torch.nn.Linear"),
        ("linear_vs_linear__b__in_features=N,out_features=8", "impl2", "my.Linear"),
        ("linear_vs_linear__a__in_features=N,out_features=16", "impl1", "torch.nn.Linear"),
        ("linear_vs_linear__b__in_features=N,out_features=16", "impl2", "my.Linear"),
    ]
    group = "linear_vs_linear__in_features=N,out_features=8"
    assert [test.pair for test in found[:2]] == [Pair(group, "a"), Pair(group, "b")]
    assert found[0].draw_id == found[1].draw_id == group
    assert found[2].draw_id != group


def test_an_id_with_variables_gets_the_side_and_the_assignment_as_well(tests) -> None:
    a, b = tests(PAIR.replace("id: linear_vs_linear", 'id: "linear_{out_features}"').replace("8, 16", "8"))
    assert a.id == "linear_8__a__in_features=N,out_features=8"
    assert b.id == "linear_8__b__in_features=N,out_features=8"
    assert a.draw_id == b.draw_id == "linear_8__in_features=N,out_features=8"


def test_an_error_in_a_common_argument_is_located_there(problems) -> None:
    found = problems(PAIR.replace("    a:", "    common: {kwargs: {k: {ref: z}}}\n    a:"))
    unknown = "op.common.kwargs.k.ref: unknown preset 'z'; known: x, y"
    assert found == [f"test 'linear_vs_linear' (torch.nn.Linear | my.Linear), {unknown}"]


def test_common_arguments_hold_where_a_side_gives_none(tests) -> None:
    a, b = tests("""
- id: p
  op:
    type: template_compare_pair
    vars: {n: [3]}
    common: {args: [{var: n}], kwargs: {bias: true, eps: 0.5}}
    a: {impl: one, type: module, path: m.A, kwargs: {bias: false}}
    b: {impl: two, type: module, path: m.B, args: []}
  in: []
""")
    assert a.op == ModuleSpec(ClassPath("m.A"), (Const(3),), {"bias": Const(False), "eps": Const(0.5)})
    assert b.op == ModuleSpec(ClassPath("m.B"), (), {"bias": Const(True), "eps": Const(0.5)})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("impl: impl1, ", "", "op.a.impl: the key 'impl' is missing"),
        ("type: module, path: my", "path: my", "op.b.type: the key 'type' is missing"),
        ("impl: impl2, ", "impl: impl2, imp: x, ", "op.b.imp: unknown key 'imp'; did you mean 'impl'?"),
        ("  in:", "  impl: x\n  in:", "impl: the sides of a compare pair have their own 'impl'"),
        ("my.Linear", "Linear", "op.b.path: expected an import path"),
    ],
)
def test_what_a_pair_refuses(problems, old: str, new: str, message: str) -> None:
    found = problems(PAIR.replace(old, new))
    assert f", {message}" in found[0]
