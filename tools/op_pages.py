"""A page of the documentation site for each op that the kit has a meaning for, and one for each family of them.

`pages()` makes their Markdown from what `conform explain` tells, the argument specs, the core suite, the shipped
waivers, docs/torch-cpu.md and docs/torch-cuda.md. tools/site_hooks.py hands them to mkdocs; nothing of them is kept in
the repository.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conform.call.aliases import canonical
from conform.call.families import FAMILIES
from conform.contracts import slack
from conform.contracts.tables import EXACT_SOURCE
from conform.domains.engine.arguments import Argument
from conform.domains.engine.constraints import Constraint
from conform.domains.specs import spec_of
from conform.explain.inventory import packet
from conform.explain.op_facts import Bounds, Meaning, OpFacts, op_facts
from conform.interp import semantics
from conform.suites import load
from conform.suites.test import Test
from tools.markup import code, codes, link, paragraphs, section, table, text
from tools.torch_deviations import NAMES, Told, Waived, told, waived

SUITE = "core"
SHOWN_TESTS = 10
SECTIONS = ("Meaning", "Domain", "Bounds", "Policy", "Tests", "What torch does otherwise")
ROOT = "../.."  # from an op's page to the pages of docs/
WRITTEN = "written, with a meaning of their own"
# What the targets of derived tests are about (docs/inputs.md), by their names; keywords are the rest of what has a `=`.
KINDS = {
    "each dtype": r"dtype_\w+",
    "ranks": r"(\w+_)?rank_\d+",
    "sizes and shapes": r"(\w+_)?size_\d+|shape_\w+|square",
    "tensors that may be left out": r"given_\w+",
    "broadcasting": r"broadcast_\w+",
    "type promotion": r"promotes_.+",
    "keywords, numbers, lists and dims": r".+=.*|of_\w+",
    "rows of one special value": r"rows_.+",
    "long accumulations": r"long_\w+",
    "long lines, many rows": r"line_\w+|many_rows_\w+|\w+_dim\d+_\d+",
    "refusals": r"refuses_.+",
}
OTHER_KIND = "other targets"


@dataclass(frozen=True)
class Page:
    """`path` is below docs/: ops/aten/exp.md."""

    path: str
    markdown: str


def pages(globs: Sequence[str] = ("*",), processes: int = 1) -> Iterator[Page]:
    """Those of the ops that a glob names (`aten::exp`), of their families, and the one that leads to them; so many
    `processes` make the tests."""
    ops = known_ops(globs)
    tests: dict[str, list[Test]] = {op: [] for op in ops}
    for test in load([SUITE], ops=() if "*" in globs else tuple(ops), processes=processes).tests:
        if isinstance(test.op, str) and packet(test.op) in tests:
            tests[packet(test.op)].append(test)
    by_family: dict[str, list[OpFacts]] = {}
    for op, family in ops.items():
        facts = op_facts(op)
        by_family.setdefault(family, []).append(facts)
        yield Page(path_of(op), op_page(facts, family, tests[op]))
    for family, members in by_family.items():
        yield Page(f"ops/{family}.md", family_page(family, members, tests))
    yield Page("ops/index.md", index_page(by_family))


def known_ops(globs: Sequence[str] = ("*",)) -> dict[str, str]:
    """The ops with a meaning that a glob names, by family, and in a family by name; with their families."""
    families = {packet(name): semantics.find(name).family for name in semantics.names()}
    chosen = {op: family for op, family in families.items() if any(fnmatchcase(op, glob) for glob in globs)}
    return dict(sorted(chosen.items(), key=lambda item: (FAMILIES.index(item[1]), item[0])))


def path_of(op: str) -> str:
    """Another path for every name, whatever signs it has, where case does not count, too."""
    folder, _, name = op.partition("::")
    return f"ops/{_slug(folder)}/{_slug(name)}.md"


def _slug(name: str) -> str:
    return re.sub(r"[^0-9a-z_]", lambda sign: f"-{ord(sign[0]):x}-", name)


# --- An op ------------------------------------------------------------------------------------------------------------


def op_page(facts: OpFacts, family: str, tests: Sequence[Test]) -> str:
    """The page of one op, `facts.op` without overload; tests: those that the suite has of it."""
    op = facts.op
    another = canonical(op)
    alias = f"Another name of {link(code(another), f'{ROOT}/{path_of(packet(another))}')}." if another != op else ""
    way = f"{link('Operators', '../index.md')} › {link(text(family), f'../{family}.md')}"
    bodies = (
        (alias, *dict.fromkeys(map(_meaning, facts.meanings))),
        (_dtypes(facts), *(_domain(name) for name in facts.overloads)),
        (*map(_bounds, facts.bounds), _slack(facts.slack), f"How to read them: [contracts]({ROOT}/contracts.md)."),
        (_policy(facts),),
        (_tests(op, tests),),
        (_told(told(op)), _waived(op, waived(op)), _undisturbed(op)),
    )
    sections = (section(f"## {heading}", *body) for heading, body in zip(SECTIONS, bodies, strict=True))
    terminal = f"On a terminal: {code(f'conform explain {op}')}."
    return "\n\n".join([f"# {text(op)}", way, *sections, terminal]) + "\n"


def _meaning(one: Meaning) -> str:
    meaning = one.text or "No semantics: cases of this overload end as unjudged."
    return f"{code(one.schema)}\n\n{paragraphs(meaning)}"


def _dtypes(facts: OpFacts) -> str:
    if facts.operands is None:
        return "No argument spec."
    return f"Operands: {codes(facts.operands)}\n\nResults: {codes(facts.results)}"


def _domain(name: str) -> str:
    """What holds for every valid call of an overload, argument by argument."""
    spec = spec_of(name)
    if spec is None:
        return ""
    rows = [_argument(one) for one in (*spec.arguments, *spec.results)]
    return f"### {code(name)}\n\n{table(['argument', 'is', 'what holds'], rows)}"


def _argument(one: Argument) -> list[str]:
    demands = [each for each in one.constraints if each.suffix not in ("Be", "Gen")]  # these guide the draws alone
    return [code(one.name), _kind(one), "<br>".join(map(_demand, demands)) or "any"]


def _kind(one: Argument) -> str:
    """`OptTensorList` as `opt tensor list`, in words."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", one.type.name).lower().replace("opt ", "optional ")
    return text(words + (", or None" if one.may_be_none else ""))


def _demand(one: Constraint) -> str:
    if one.lenience is None:
        return code(str(one))
    which = "some calls that break it" if one.lenient_where else "what breaks it"
    ends = "may be accepted" if one.is_judged else "is not judged"
    return f"{code(str(one))} ({which} {ends}: {text(one.lenience)})"


def _bounds(one: Bounds) -> str:
    head = f"Of {codes(one.overloads)}"
    if one.lender:
        head += f" of {codes(one.operands)}: those of {code(one.lender)}"
    exact = text(f"{EXACT_SOURCE}.") if one.has_exact else ""
    if not one.rows:
        return section(head, exact)
    headers, *lines = one.grid
    grid = table(list(map(text, headers)), [list(map(text, line)) for line in lines])
    sources = table(["table", "rule", "source"], [list(map(text, line)) for line in one.sources])
    return section(head, grid, exact, sources)


def _slack(found: Sequence[slack.Slack]) -> str:
    if not found:
        return ""
    rows = [
        [text(one.output), text(one.input), *map(_figure, (one.median, one.bound_ulp, one.root_sum_of_squares_ulp))]
        + [text("; ".join(slack.REASONS[reason] for reason in one.reasons))]
        for one in found
    ]
    headers = ["output", "input", "median slack", "median bound (ulp)", "its root sum of squares", "why above 50"]
    return f"Slack, bound over observed error, of {text(slack.MEASURED_ON)}:\n\n{table(headers, rows)}"


def _figure(number: float) -> str:
    return text(slack.shown(number))


def _policy(facts: OpFacts) -> str:
    rows = [
        [link(rule.number, f"{ROOT}/policy.md#{rule.number}")]
        + list(map(text, (rule.question, rule.default, rule.source)))
        for rule in facts.rules
    ]
    return table(["rule", "question", "default", "source"], rows) if rows else "No rule of the policy names it."


def _tests(op: str, tests: Sequence[Test]) -> str:
    """How many by kind, and the first."""
    counts = Counter(map(kind_of, tests))
    by_kind = [[text(kind), f"{counts[kind]}"] for kind in (WRITTEN, *KINDS, OTHER_KIND) if counts[kind]]
    shown = [[code(test.id), text(_about(test))] for test in tests[:SHOWN_TESTS]]
    if not tests:
        return f"No tests in {code(SUITE)}."
    return section(
        f"{len(tests):,} tests in {code(SUITE)}, each of which becomes a case for every dtype, class of values and "
        f"layout that it asks for ([inputs]({ROOT}/inputs.md#the-core-suite)).",
        f"To run them: {code(f'conform check {SUITE} --backend NAME --op {op}')}",
        table(["what they are about", "tests"], by_kind),
        f"The first {len(shown)}:" if len(tests) > len(shown) else "",
        table(["test", "about, or where it is written"], shown),
    )


def _about(test: Test) -> str:
    kind = kind_of(test)
    return test.location if kind == WRITTEN else kind


def kind_of(test: Test) -> str:
    """What a test is about."""
    found = re.match(r"target (\S+) of ", test.location)
    if found is None:
        return WRITTEN
    return next((kind for kind, names in KINDS.items() if re.fullmatch(names, found[1])), OTHER_KIND)


def _told(rows: Sequence[Told]) -> str:
    if not rows:
        return ""
    lines = [[text(row.cells[0]), *map(text, row.cells[1:4]), _where(row)] for row in rows]
    return table(["of", "dtypes", "what torch does", "cause", "kernels, and where it is told"], lines)


def _where(row: Told) -> str:
    """A row without instruction sets holds for all, or as the text around it says."""
    anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", row.heading).strip().lower())
    where = link(text(f"{row.page}: {row.heading}"), f"{ROOT}/{row.page}.md#{anchor}")
    return f"{text(' '.join(row.cells[4:]))} {where}".strip()


def _waived(op: str, rows: Sequence[Waived]) -> str:
    if not rows:
        return ""
    lines = [[codes(row.dtypes), text(" ".join(row.kernels)), "<br>".join(map(text, row.ends))] for row in rows]
    names = " or ".join(code(f"--waivers {name}") for name in NAMES)
    head = f"Failures of {code(SUITE)} that {link(names, f'{ROOT}/waivers.md')} expects:"
    return f"{head}\n\n{table(['dtypes', 'kernels for', 'how cases end'], lines)}"


def _undisturbed(op: str) -> str:
    if told(op) or waived(op):
        return ""
    pages = " and ".join(link(text(name), f"{ROOT}/{name}.md") for name in NAMES)
    return f"Nothing is known; what core finds in torch is listed whole: {pages}."


# --- Families ---------------------------------------------------------------------------------------------------------


def family_page(family: str, members: Sequence[OpFacts], tests: Mapping[str, Sequence[Test]]) -> str:
    """The ops of a family, each with its meaning in a line."""
    rows = [
        [link(code(one.op), path_of(one.op).removeprefix("ops/")), text(_first_line(one)), f"{len(tests[one.op])}"]
        + [text(_mark(told(one.op) or waived(one.op)))]
        for one in members
    ]
    headers = ["op", "meaning", f"tests in {SUITE}", "torch differs"]
    return f"# {text(family)}\n\n{link('Operators', 'index.md')}\n\n{table(headers, rows)}\n"


def _first_line(one: OpFacts) -> str:
    return next((each.text.strip().splitlines()[0] for each in one.meanings if each.text), "")


def _mark(holds: object) -> str:
    return "yes" if holds else ""


def index_page(by_family: Mapping[str, Sequence[OpFacts]]) -> str:
    """The families."""
    count = sum(map(len, by_family.values()))
    rows = [
        [link(text(family), f"{family}.md"), f"{len(members)}", " ".join(map(_linked, members))]
        for family, members in by_family.items()
    ]
    lead = (
        f"The {count} operators that the kit has a meaning for, other names of an operator among them, each on a page: "
        "what it means, which calls are valid, how far off a result may be and by which source, which policy rules "
        "hold, what the suite tests, and what torch on the CPU does otherwise. The pages are made from the kit itself."
    )
    return f"# Operators\n\n{lead}\n\n{table(['family', 'ops', 'which'], rows)}\n"


def _linked(one: OpFacts) -> str:
    return link(code(one.op.partition("::")[2]), path_of(one.op).removeprefix("ops/"))
