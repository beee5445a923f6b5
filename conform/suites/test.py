"""A test as it runs: one operator or module, its arguments, what restricts it. The result of loading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from conform.suites.nodes import ClassPath, Given, Node, Tensor, holds_object, tensors


@dataclass(frozen=True, slots=True)
class ModuleSpec:
    """A module to construct from a class and arguments, then to call; or `given`, what is there already: a module that
    was made in Python, or a program of a file. `takes_any_floats`: whatever numbers its float tensors hold, it is a
    valid call."""

    path: ClassPath
    args: tuple[Node, ...]
    kwargs: dict[str, Node]
    given: object | None = None
    takes_any_floats: bool = False


class Pair(NamedTuple):
    """The pair that a test is one side of: `group` names the pair, `side` is "a" or "b"."""

    group: str
    side: str


class Domain(NamedTuple):
    """What the spec of an op says of a generated test's arguments: `broken` is the one constraint that they break, as
    mathematics, None if they are valid; `lenience` why an implementation may accept them nevertheless. A file has the
    lenience alone (`lenience:`), and the spec decides whether the call it becomes needs one."""

    broken: str | None = None
    lenience: str | None = None


IN_USUAL_DTYPES = "in usual dtypes"  # all layouts, of the draw in float32, int64 and bool alone


@dataclass(frozen=True, slots=True, eq=False)
class Test:
    """One test, after expansion. Dims, presets and template variables are replaced by what they stand for."""

    __test__ = False  # not pytest's

    id: str
    op: str | ModuleSpec  # an operator's name as written
    inputs: tuple[Node, ...]
    kwargs: dict[str, Node]
    device: str | None  # as written: cpu, gpu, cuda or mps
    cast_input0_to_complex: bool
    impl: str | None
    pair: Pair | None
    location: str  # "file.yaml:12"
    arguments_at: str  # "file.yaml:14:9", where its `in` stands
    builtin: bool
    recorded_at: str  # `location` as a run record has it: the same however the file was reached
    domain: Domain | None = None  # of a test made from a spec
    values: str | None = None  # of the classes of values and of the layouts, those that it is run with unless others
    layouts: str | None = None  # are asked for, as `conform check` names them or `suites/cases.py`; None: all of a
    # built-in test, those written of any other

    @property
    def usual_values(self) -> str:
        """What `--values` is where it is not given."""
        return self.values or ("all" if self.builtin else "typical")

    @property
    def usual_layouts(self) -> str:
        """What `--layouts` is where it is not given."""
        return self.layouts or ("all" if self.builtin else "as-written")

    @property
    def op_name(self) -> str:
        """The operator, or the class path of the module."""
        return self.op if isinstance(self.op, str) else self.op.path.text

    @property
    def is_module(self) -> bool:
        """Whether a module or a program is called, and no operator."""
        return not isinstance(self.op, str)

    @property
    def is_given(self) -> bool:
        """Whether its arguments were given in Python, and nothing is drawn."""
        return any(isinstance(node, Given) for node in (*self.inputs, *self.kwargs.values()))

    @property
    def takes_objects(self) -> bool:
        """Whether an argument is, or holds, an object to be constructed."""
        return any(map(holds_object, (*self.inputs, *self.kwargs.values())))

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor among the arguments, in their order, lists flattened."""
        return tuple(one for node in (*self.inputs, *self.kwargs.values()) for one in tensors(node))

    @property
    def draw_id(self) -> str:
        """What draws are keyed by: both sides of a pair get the same inputs."""
        return self.pair.group if self.pair else self.id


@dataclass(frozen=True, slots=True)
class Suite:
    """What was asked for: `names` as given, `recorded_names` without the directories of files, for run records.

    `digest` is the SHA-256 of the files' contents.
    """

    names: list[str]
    recorded_names: list[str]
    tests: tuple[Test, ...]
    digest: str
