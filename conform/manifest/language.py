"""A capability manifest: which calls a backend claims to compute, and in which arithmetic. docs/manifest.md has it.

A claim covers calls by op, dtype, layout, rank and size; a limit takes calls away again, with a reason. What is not
claimed is not asked. Neither can name values or case ids: a claim is of an interface, and not of the cases that pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from conform.call.schemas import operator_names, unknown_operator
from conform.contracts.arithmetic import COMPUTE_MODES, arithmetic_of
from conform.documents.form import Text, Texts, read_form
from conform.errors import UsageError, did_you_mean
from conform.foreign import line
from conform.numerics.formats import FORMATS
from conform.suites.filters import matches_op

NO_DTYPE = "none"  # of a case that has no tensor and no number
Shapes = Callable[[], Iterable[tuple[int, ...]]]  # of the tensors of a call, made when they are asked for


def _of_torch(globs: list[str]) -> list[str]:
    for glob in globs:
        if glob.startswith("aten::") and not any(_names(op, glob) for op in operator_names()):
            raise ValueError(str(unknown_operator(glob)))
    return globs


@cache
def _names(op: str, glob: str) -> bool:
    return matches_op(op, glob)


def _known(names: list[str]) -> list[str]:
    for name in names:
        if name not in FORMATS and name != NO_DTYPE:
            raise ValueError(f"unknown dtype {name!r}{did_you_mean(name, FORMATS)}")
    return names


Ops = Annotated[Texts, AfterValidator(_of_torch)]
Dtypes = Annotated[Texts, AfterValidator(_known)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class _Covering(_Strict):
    """op, layout: globs; dtype: names, as a case's `dtype` has them; of what is not given, all."""

    op: Ops
    dtype: Dtypes | None = None
    layout: Texts | None = None

    def covers(self, op: str, dtype: str, layout: str) -> bool:
        """Whether it is about a call of this op, dtype and layout."""
        return (
            dtype in (self.dtype or [dtype])
            and any(_names(op, glob) for glob in self.op)
            and any(fnmatchcase(layout, glob) for glob in self.layout or ["*"])
        )


class WrittenClaim(_Covering):
    """Calls that the backend computes: max_rank, max_elements: of every tensor that goes in or comes out."""

    max_rank: Annotated[int, Field(ge=0)] | None = None
    max_elements: Annotated[int, Field(ge=0)] | None = None

    def exceeded(self, shapes: Shapes) -> str | None:
        """The limit of size that a call of tensors of these shapes exceeds, if one does."""
        if self.max_rank is None and self.max_elements is None:
            return None
        for shape in shapes():
            if self.max_rank is not None and len(shape) > self.max_rank:
                return f"beyond max_rank {self.max_rank}"
            if self.max_elements is not None and prod(shape) > self.max_elements:
                return f"beyond max_elements {self.max_elements}"
        return None


class WrittenLimit(_Covering):
    """Calls that the backend is known not to compute, though they are claimed otherwise."""

    reason: Text


class WrittenArithmetic(_Strict):
    """Arithmetic that is not IEEE 754's, as the attributes of a Backend class declare it; None: the manifest is silent.
    """

    compute: Literal[tuple(COMPUTE_MODES)] | None = None  # type: ignore[valid-type]
    flushes_subnormals: bool | None = None
    rounds_intermediates: Texts | None = None
    accumulates_in_element_type: Texts | None = None
    keeps_intermediates: bool | None = None


class ManifestFile(_Strict):
    """Which calls a backend claims to compute, and in which arithmetic (docs/manifest.md)."""

    claims: Annotated[list[WrittenClaim], Field(min_length=1)]
    limits: list[WrittenLimit] = []
    arithmetic: WrittenArithmetic = WrittenArithmetic()


class _Placed(_Strict):
    """line: where it stands in its file, from 1 on."""

    line: int


class Claim(WrittenClaim, _Placed):
    """A claim, with its place."""


class Limit(WrittenLimit, _Placed):
    """A limit, with its place."""


class Arithmetic(WrittenArithmetic, _Placed):
    """What is declared, with its place."""


class Manifest(_Strict):
    """The content of a file; source: its name, without the folder; digest: of its text."""

    source: str
    digest: str
    claims: list[Claim]
    limits: list[Limit]
    arithmetic: Arithmetic

    def claim_of(self, op: str, dtype: str, layout: str) -> Claim | None:
        """The first claim that covers such calls, whatever their size."""
        return next((one for one in self.claims if one.covers(op, dtype, layout)), None)

    def unclaimed(self, op: str, dtype: str, layout: str, shapes: Shapes) -> str | None:
        """Why a call is not claimed: `not claimed by m.yaml`; None of one that is."""
        covering = [one for one in self.claims if one.covers(op, dtype, layout)]
        if not covering:
            return f"not claimed by {self.source}"
        limit = next((one for one in self.limits if one.covers(op, dtype, layout)), None)
        if limit is not None:
            return f"not claimed by {self.source}:{limit.line}: {line(limit.reason, 300)}"
        exceeded = [one.exceeded(shapes) for one in covering]
        return None if None in exceeded else f"not claimed by {self.source}:{covering[0].line}: {exceeded[0]}"

    def declared(self, described: Mapping[str, Any]) -> dict[str, Any]:
        """A backend's description with the arithmetic that the manifest declares.

        UsageError where the backend declares another one: what it does not declare has its default value.
        """
        told = dict(described)
        for field, default in DEFAULTS.items():
            mine, its = getattr(self.arithmetic, field), described.get(field, default)
            if mine is None:
                continue
            if not _is(its, default) and not _is(its, mine):
                raise UsageError(
                    f"{self.source}:{self.arithmetic.line} declares {field} = {mine!r}, and backend "
                    f"{described.get('name')!r} declares {field} = {its!r}: take one of them out, or make them equal"
                )
            told[field] = mine
        return told


DEFAULTS: Mapping[str, Any] = {
    "compute": "ieee", "flushes_subnormals": False, "rounds_intermediates": [], "accumulates_in_element_type": [],
    "keeps_intermediates": False,
}  # fmt: skip


def _is(one: Any, other: Any) -> bool:
    """Whether two values of a field say the same; the order of ops says nothing."""
    return set(one) == set(other) if isinstance(one, list | tuple) else one == other


def read(name: str) -> Manifest:
    """The manifest in the file `name`. UsageError, with the line, for any mistake in it."""
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"--manifest {line(repr(name), 200)}: there is no such file (docs/manifest.md)")
    form = read_form(path, ManifestFile)
    content = form.content
    at = form.line("arithmetic")
    arithmetic_of(content.arithmetic.model_dump(exclude_none=True), f"{path}:{at}")
    return Manifest(
        source=line(path.name, 200),
        digest=form.digest,
        claims=[Claim(**dict(one), line=form.line("claims", number)) for number, one in enumerate(content.claims)],
        limits=[Limit(**dict(one), line=form.line("limits", number)) for number, one in enumerate(content.limits)],
        arithmetic=Arithmetic(**dict(content.arithmetic), line=at),
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of manifests, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ManifestFile.model_json_schema()}
