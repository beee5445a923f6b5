"""From tests to cases: the axes dtype, value class, layout and sample."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from zlib import crc32

from conform.call.arguments import Arguments, is_tensor, tensors
from conform.call.bound import Bound, bound_call
from conform.call.foreach import ForEach, for_each
from conform.call.variants import plain_name, variant_of
from conform.documents.limits import Limits
from conform.domains.specs import OpSpec, spec_of
from conform.errors import ConformError, InvalidArguments, UsageError, did_you_mean
from conform.inputs import layouts as layout_axis
from conform.inputs import values as value_axis
from conform.inputs.unspecified import AnyFloats, floats_alone
from conform.interp.evaluate import evaluate
from conform.interp.promotion import result_type
from conform.interp.semantics import traits_of, updated_in
from conform.interp.size import result_elements
from conform.numerics.draws import Stream
from conform.numerics.formats import format_of
from conform.suites import Test, dtype_segment, kinds, sample, variants
from conform.suites.dtypes import DEFAULT_DTYPES, dtype_hint, dtype_names
from conform.suites.fields import amount
from conform.suites.test import IN_USUAL_DTYPES

VALUES = ("typical", "special", "all")
LAYOUTS = ("as-written", "all")
CONSTANTS = "constants"  # a layout of a program's or module's arguments: none, it holds them
MOST_CONSTANTS = 2**14  # numbers that one holds, of a program in its text
GIVEN = "given"  # the value class of operands that nobody drew, so that no statistical rule holds of their errors


@dataclass(frozen=True)
class Selection:
    """What of a suite is run. None for `values` and `layouts`: everything in built-in suites, as written in a user's
    file. `exclude`: globs over ops and ids. `determinism`: how many equal calls a few cases more make. `gradients`:
    whether cases more ask for gradients. A filter that is one str is that one pattern. UsageError for a value that none
    of them has.
    """

    ops: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    ids: Sequence[str] = ()
    exclude: Sequence[str] = ()
    seed: int = 0
    samples: int = 1
    values: str | None = None
    layouts: str | None = None
    determinism: int = 1
    gradients: bool = False

    def __post_init__(self) -> None:
        for name in ("ops", "dtypes", "ids", "exclude"):
            object.__setattr__(self, name, _patterns(name, getattr(self, name)))
        for dtype in self.dtypes:
            if dtype not in dtype_names():
                raise UsageError(f"--dtype: unknown dtype {dtype!r}{dtype_hint(dtype)}")
        _check_integer("seed", self.seed)
        _check_integer("samples", self.samples, least=1)
        _check_integer("determinism", self.determinism, least=1)
        _check_choice("values", self.values, VALUES)
        _check_choice("layouts", self.layouts, LAYOUTS)


def _patterns(name: str, given: object) -> tuple[str, ...]:
    found = (given,) if isinstance(given, str) else given
    if not isinstance(found, Collection) or not all(isinstance(pattern, str) for pattern in found):
        raise UsageError(f"{name}: expected a str or a list of them, got {given!r}")
    return tuple(found)


def _check_integer(name: str, given: object, least: int | None = None) -> None:
    if type(given) is not int or least is not None and given < least:
        raise UsageError(f"{name}: expected an integer{'' if least is None else f' >= {least}'}, got {given!r}")


def _check_choice(name: str, given: object, choices: Sequence[str]) -> None:
    if given is not None and given not in choices:
        hint = did_you_mean(str(given), choices) or f"; expected one of {', '.join(choices)}"
        raise UsageError(f"{name}: unknown choice {given!r}{hint}")


@dataclass(frozen=True)
class Draw:
    """One draw of a test's inputs: a dtype for each open kind, and a sample number."""

    test: Test
    variant: dict[str, str]
    sample: int
    seed: int

    def stream(self, label: str) -> Stream:
        """The random stream of one place in the test, independent of everything else that is selected."""
        return Stream(self.seed, self.test.draw_id, self.sample, label)

    def arguments(self) -> Arguments:
        """The typical inputs, contiguous."""
        return self._sampled(has_elements=True)

    def outline(self) -> Arguments:
        """What `arguments` gives, with zeros for the elements of tensors that it draws: fast however large they are."""
        return self._sampled(has_elements=False)

    def _sampled(self, has_elements: bool) -> Arguments:
        drawn = sample(self.test, self.variant, partial(Stream, self.seed), self.sample, has_elements)
        return Arguments(drawn.args, drawn.kwargs, drawn.literal, drawn.requires_grad, drawn.scalars)


@dataclass(frozen=True)
class Case:
    """One call of the backend, and everything its id says; or as many equal ones as `times`, or its gradients."""

    id: str
    draw: Draw
    op: str
    dtype: str
    values: str
    layout: str
    times: int = 1
    of_gradients: bool = False

    @property
    def has_independent_terms(self) -> bool:
        """Whether what an op adds up here are independent numbers with random digits: all float tensors are as drawn,
        from such draws, or from that of `shifted`, and none repeats its elements."""
        drawn = [one for one in self.draw.test.tensors if one.kind in ("float", "complex")]
        is_as_drawn = self.values in ("typical", "shifted") and not self.layout.startswith("expanded")
        return is_as_drawn and all(one.draw is not None and one.draw.has_random_digits for one in drawn)

    def arguments(self, typical: Arguments) -> Arguments:
        """The inputs of this case, from the typical ones of its draw."""
        valued = typical if self.values == GIVEN else self._valued(typical)
        return valued if self.layout in (CONSTANTS, GIVEN) else layout_axis.with_layout(valued, self.layout)

    def _valued(self, typical: Arguments) -> Arguments:
        stream = self.draw.stream(f"values.{self.values}")
        spec, given = _to_value(self.draw.test, self.op, typical)
        return value_axis.with_values(given, self.values, stream, spec)


def _to_value(test: Test, op: str, arguments: Arguments) -> tuple[OpSpec | AnyFloats | None, Arguments]:
    """What says which values the arguments may take, and these, in which others are barred."""
    if isinstance(test.op, str):
        return spec_of(op), arguments
    return (AnyFloats(op), floats_alone(arguments)) if test.op.takes_any_floats else (None, arguments)


def draws(test: Test, selection: Selection) -> Iterator[Draw]:
    """Every draw of a test."""
    samples = 1 if test.is_given else selection.samples
    for variant in variants(test, _allowed_dtypes(test), selection.dtypes):
        for number in range(samples):
            yield Draw(test, variant, number, selection.seed)


def _allowed_dtypes(test: Test) -> Collection[str] | None:
    """The dtypes that the spec of the test's overload allows; the arguments' kinds select it, whatever their dtypes."""
    if not isinstance(test.op, str) or not kinds(test):
        return None
    common = {kind: DEFAULT_DTYPES[kind] for kind in kinds(test)}
    spec = spec_of(resolved_op(test, Draw(test, common, 0, 0).outline()))
    return spec.dtypes if spec else None


def cases_of(draw: Draw, selection: Selection) -> list[Case]:
    """The cases of one draw, before filters."""
    arguments = draw.outline()
    op = resolved_op(draw.test, arguments)
    is_written = not draw.test.builtin and draw.test.domain is None  # by the user, who can write it smaller
    if is_written and (problem := too_large(draw.test, op, arguments, Limits.from_environment())):
        raise UsageError(f"{draw.test.arguments_at}: test {draw.test.id!r}: {problem}")
    dtype = _dtype(draw, op, arguments)
    segment = dtype_segment(draw.test, draw.variant)
    segment = dtype if segment == "none" else segment
    suffix = f"/{draw.sample}" if draw.sample else ""
    return [
        Case(
            f"{draw.test.id}/{segment}/{values}/{layout}{suffix}",
            draw,
            op=op,
            dtype=dtype,
            values=values,
            layout=layout,
        )
        for values, layout in _axes(draw, op, arguments, selection)
    ]


def beyond_the_kit(test: Test) -> str | None:
    """Why the kit has no truth for any case of the test, whatever its op; None where it may have one."""
    if test.takes_objects and not test.is_module:
        return "an argument is an object to be constructed; the kit has semantics for tensors and literals only"
    return None


def too_large(test: Test, op: str, arguments: Arguments, limits: Limits) -> str | None:
    """What is too large about the results of a test's call; None if nothing is, or nothing is known of them."""
    if beyond_the_kit(test) or test.is_module:
        return None
    elements = most_elements(bound_call(op, arguments.args, arguments.kwargs))
    if elements <= limits.max_result_elements:
        return None
    return limits.exceeded("max_result_elements", f"a result of {amount(elements)} elements")


def most_elements(call: Bound) -> int:
    """Of all results; of an op of lists those of what it means in each place, as far as all of its lists go."""
    each = for_each(plain_name(call.op))
    return result_elements(call) if each is None else sum(map(result_elements, _members(each, call.returning)))


def _members(each: ForEach, call: Bound) -> Iterator[Bound]:
    """The calls that a call of lists means, whatever its lists hold; numbers count for nothing."""
    lists = {name: call.arguments[name] for name in each.listed if not each.holds_numbers(name)}
    others = {name: 0 if each.holds_numbers(name) else value for name, value in call.arguments.items()}
    for place in zip(*lists.values(), strict=False):
        given = {**others, **dict(zip(lists, place, strict=True))}
        yield Bound(each.member, {**each.left_out, **{each.places[name]: value for name, value in given.items()}})


def resolved_op(test: Test, arguments: Arguments) -> str:
    """The overload that the arguments select, as written if they hold objects; for a module its import path.

    UsageError with the test's place if no overload takes the arguments.
    """
    if beyond_the_kit(test) or test.is_module:
        return test.op_name
    try:
        return bound_call(test.op_name, arguments.args, arguments.kwargs, is_tensor).op
    except UsageError as error:
        raise UsageError(f"{test.arguments_at}: test {test.id!r}: {error}") from None


# By what `Test.values` says, which classes a test is run with.
_WANTED: dict[str, Callable[[str], bool]] = {
    "all": lambda values: True,
    "typical": lambda values: values == "typical",
    "special": lambda values: values != "typical",
    "both": lambda values: values in ("typical", "special"),
    "sums": lambda values: not values.startswith("special") and values != "ties",
    # Of a line of 10^5 terms: what shows there though a bound of so many is wide.
    "long sums": lambda values: values in ("typical", "exact", "one_hot", "shifted", "ascending"),
}
IN_TURN = "in turn"  # both, and one more class, another for each test of an op


def _axes(draw: Draw, op: str, arguments: Arguments, selection: Selection) -> list[tuple[str, str]]:
    """Pairs of value class and layout: every class contiguous, every other layout with the first class."""
    test = draw.test
    chosen = [GIVEN] if test.is_given else _value_classes(test, op, arguments, selection)
    places = ["contiguous"]
    if (selection.layouts or _usual_layouts(draw)) == "all" and not traits_of(op).memory:
        variant, given = variant_of(op), (arguments.args, arguments.kwargs)
        written = [*(variant.written_in(*given) if variant else ()), *updated_in(op, *given)]
        places = layout_axis.layouts_of(arguments, written=[number for number, _ in written])
        places += [CONSTANTS] if _may_be_constants(test, arguments) else []
    return [(c, "contiguous") for c in chosen] + [(chosen[0], p) for p in places if chosen and p != "contiguous"]


def _value_classes(test: Test, op: str, arguments: Arguments, selection: Selection) -> list[str]:
    """Those with which the test is run."""
    spec, given = _to_value(test, op, arguments)
    return _chosen(test, selection.values or test.usual_values, value_axis.value_classes(given, spec))


def _usual_layouts(draw: Draw) -> str:
    """What `--layouts` is for the draw where it is not given."""
    if draw.test.usual_layouts != IN_USUAL_DTYPES:
        return draw.test.usual_layouts
    is_usual = all(dtype == DEFAULT_DTYPES[kind] for kind, dtype in draw.variant.items())
    return "all" if is_usual else "as-written"


def _chosen(test: Test, wanted: str, classes: list[str]) -> list[str]:
    """Those of the classes with which the test is run."""
    if wanted != IN_TURN:
        return [each for each in classes if _WANTED[wanted](each)]
    always = [each for each in classes if each in ("typical", "special")]
    others = [each for each in classes if each not in always]
    return [*always, others[crc32(test.id.encode()) % len(others)]] if others else always


def _may_be_constants(test: Test, arguments: Arguments) -> bool:
    """Whether a program or module can hold its arguments, so that a compiler may compute with them itself; where they
    are given, a backend may go by the module's class."""
    return test.is_module and not test.is_given and 0 < sum(one.size for one in tensors(arguments)) <= MOST_CONSTANTS


def _dtype(draw: Draw, op: str, arguments: Arguments) -> str:
    """The first tensor argument's dtype, else the dtype argument's, else the output's; of a call that must be refused,
    and so has none, the dtype to which its numbers promote."""
    found = tensors(arguments)
    if found:
        return format_of(found[0]).name
    if beyond_the_kit(draw.test) or draw.test.is_module:
        return "none"
    bound = bound_call(op, arguments.args, arguments.kwargs, is_tensor).arguments
    return bound.get("dtype") or _output_dtype(op, arguments, bound)


def _output_dtype(op: str, arguments: Arguments, bound: Mapping[str, object]) -> str:
    numbers = [value for value in bound.values() if isinstance(value, (bool, int, float, complex))]
    try:
        return evaluate(op, arguments.args, arguments.kwargs).goldens[0].format.name
    except InvalidArguments:
        return result_type(*numbers).name if numbers else "none"
    except ConformError:
        return "none"
