"""Contract tables: which row holds for an op and element type. The rows are data, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conform.call.aliases import canonical
from conform.contracts import tosa
from conform.contracts.almost_eq import Tolerance
from conform.contracts.table_file import ANY_OP, Entry, TableFile, by_dtype, of_dtype, read
from conform.errors import UsageError, did_you_mean
from conform.foreign import line
from conform.interp.golden import Golden
from conform.interp.gradients import OF
from conform.interp.program.goldens import FACTOR
from conform.interp.semantics import traits_of
from conform.numerics.formats import FORMATS

DATA = Path(__file__).parent / "data"
# From strict to wide, for most ops: of tables that allow a result the same error, the first is called the tightest.
SHIPPED = ("cr", "cuda", "opencl", "tosa", "torch", "stablehlo")
EXACT_SOURCE = "integers and bools are exact: no rounding takes place"
NO_ROW_SOURCE = (
    "no row: the running error of the op's documented formula (Higham, Accuracy and Stability of Numerical Algorithms, "
    "2nd ed., section 3.3), or for a sum gamma_k times the sum of magnitudes (theorem 3.1)"
)

MODULE_SOURCE = (
    "of a module: the running errors of the operators that it consists of, one after the other (Higham, Accuracy and "
    "Stability of Numerical Algorithms, 2nd ed., section 3.3)"
)
GRADIENT_SOURCE = (
    "of a gradient: the running errors of the steps of its formula, each perhaps rounded to the element type (Higham, "
    "Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.3; docs/gradients.md)"
)
STATISTICAL_SOURCE = (
    "where the running error bound exceeds 1e-2 of the output's root mean square: Higham and Mary, SIAM J. Sci. "
    "Comput. 41, 2019, theorem 3.1, for independent errors"
)

RULES = {
    "exact": "equal",
    "ulp": "ulps of the exact result, from it",
    "ulp_of_rounded": "ulps of the correctly rounded result, from it",
    "accumulation": "accumulation",
    "derived": "derived",
    "statistical": "derived, of independent errors",
    "almost_eq": "|actual - y| within the tolerance, y the correctly rounded result",
    "tosa": "TOSA",
    "unbounded": "none: not judged but for NaN and infinities",
}


@dataclass(frozen=True)
class Row:
    """What a table demands of one op and element type.

    kind        exact; ulp (from the exact result); ulp_of_rounded (from the correctly rounded one); accumulation;
                derived, or statistical where that says nothing; almost_eq; tosa; unbounded, where the source gives no
                bound
    bound       ulps, of the two kinds that count them, else None
    formula     the bound in words; of kind tosa the budget's name there
    tolerance   of kind almost_eq
    excluded    the source gives no bound where the first operand is in this closed interval
    inside      the kind that bounds the error there (`derived`), None where nothing does
    """

    kind: str
    bound: float | None
    formula: str | None
    source: str
    tolerance: Tolerance | None = None
    excluded: tuple[float, float] | None = None
    inside: str | None = None

    def of(self, golden: Golden) -> Row:
        """The row for a golden whose budget holds of independent errors alone: of kind statistical, if derived."""
        if not golden.statistical or self.kind != "derived":
            return self
        return Row("statistical", None, f"{FACTOR:g} times the root of the sum of squares", STATISTICAL_SOURCE)

    @property
    def limit(self) -> float | str | None:
        """The bound as a record has it: a number of ulps, or text."""
        if self.kind == "tosa":
            return f"{self.formula}: {tosa.BUDGETS[self.formula or ''][1]}"
        if self.tolerance is not None:
            return str(self.tolerance)
        return self.bound if self.bound is not None else self.formula

    @property
    def short(self) -> str:
        """The bound at a glance: `3 ulp`, `1e-05 + 0.001|y|`, the name of a budget or of a kind."""
        if self.source == NO_ROW_SOURCE:
            told = "no row"
        elif self.bound is not None:
            told = f"{self.bound:g} ulp"
        elif self.tolerance is not None:
            told = self.tolerance.short
        else:
            told = self.formula if self.kind == "tosa" else self.kind
        return f"{told}, partly" if self.excluded and not self.inside else str(told)

    @property
    def rule(self) -> str:
        """The kind of bound in words, with the formula if there is one."""
        if self.excluded is not None:
            told = RULES[self.inside] if self.inside else "none"
            return f"{RULES[self.kind]}; {told} for operands in [{self.excluded[0]:g}, {self.excluded[1]:g}]"
        formula = self.limit if self.kind == "tosa" else self.formula
        return f"{RULES[self.kind]}: {formula}" if formula else RULES[self.kind]


NO_ROW = Row("derived", None, None, NO_ROW_SOURCE)
OF_GRADIENT = Row("derived", None, None, GRADIENT_SOURCE)
OF_MODULE = Row("derived", None, None, MODULE_SOURCE)
SELECTED = Row("exact", None, None, "comparison, selection and data movement round nothing")


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of one contract, in order. The row of an overload goes before its op's, that before one of `*`, and what
    the table does not name is `base`'s."""

    name: str
    rows: Mapping[str, tuple[Entry, ...]]
    base: Table | None = None

    @cache  # noqa: B019  (tables are few, and live as long as the process)
    def row(self, op: str, format_name: str) -> Row:
        """The row for an output of `format_name` of `op`. Ops without one are exact where they only select, otherwise
        `derived` from their documented formula."""
        fmt = FORMATS[format_name]
        if not (fmt.is_float or fmt.is_complex):
            return Row("exact", None, None, EXACT_SOURCE)
        no_row = OF_GRADIENT if op.startswith(OF) else NO_ROW if "::" in op else OF_MODULE
        return self._find(op, format_name) or (SELECTED if traits_of(op).selects else no_row)

    def row_of(self, op: str, golden: Golden) -> Row:
        """The row for an output of `op`, or of what the output is bounded as."""
        return self.row(golden.bounded_as or op, golden.format.name).of(golden)

    def _find(self, op: str, format_name: str) -> Row | None:
        own = canonical(op)
        for name in (op, own, own.partition(".")[0], ANY_OP):
            for entry in self.rows.get(name, ()):
                if _covers(entry, format_name):
                    return _row(entry, format_name)
        return self.base._find(op, format_name) if self.base else None


def _covers(entry: Entry, format_name: str) -> bool:
    bound = entry.get("bound")
    if by_dtype(bound) and format_name not in bound:
        return False
    return format_name in entry.get("dtypes", (format_name,))


def _row(entry: Entry, format_name: str) -> Row:
    kind, source, bound = entry["kind"], line(entry["source"]), of_dtype(entry.get("bound"), format_name)
    excluded = of_dtype(entry.get("excluded"), format_name)
    if excluded is not None:
        excluded = (float(excluded[0]), float(excluded[1]))
    if kind in ("ulp", "ulp_of_rounded"):
        return Row(kind, float(bound), None, source, excluded=excluded, inside=entry.get("inside"))
    if kind == "almost_eq":
        return Row(kind, None, formula=None, source=source, tolerance=Tolerance(**bound), excluded=excluded)
    return Row(kind, None, None if bound is None else line(bound), source, excluded=excluded)


def names() -> list[str]:
    """The shipped tables, from strict to wide."""
    return list(SHIPPED)


@cache
def contract_table(name: str) -> Table:
    """The shipped table `name`, or the one in the YAML file of that path; UsageError if there is none or it is
    invalid."""
    if not isinstance(name, str):
        raise UsageError(f"contract: expected the name of a table or of a YAML file, got {name!r}")
    if name in SHIPPED:
        return _table(read(DATA / f"{name}.yaml", SHIPPED))
    if not Path(name).is_file():
        known = f"expected one of {', '.join(SHIPPED)} or a YAML file{did_you_mean(name, SHIPPED)}"
        raise UsageError(f"no contract table {name!r}: {known}")
    found = read(Path(name), SHIPPED)
    if found.name in SHIPPED:
        raise UsageError(
            f"{name}: `name` is {found.name!r}, a shipped table's; choose another, which records will show"
        )
    return _table(found)


def _table(found: TableFile) -> Table:
    return Table(line(found.name), found.rows, contract_table(found.base) if found.base else None)
