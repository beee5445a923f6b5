"""Each constraint of a spec broken alone: calls that an implementation must refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conform.domains.engine.arguments import Argument
from conform.domains.engine.meta_tuple import wished_breaches
from conform.domains.engine.op_spec import OpSpec
from conform.suites.derived.plain import Plain
from conform.suites.derived.targets import Derived


def of_refusals(spec: OpSpec, arguments: Sequence[Argument]) -> Iterator[Derived]:
    """A call for each constraint on these arguments whose violation is refused, whatever it is that violates it in one
    call or other.

    What may be accepted is left to the suite `negative`.
    """
    seen: Counter[str] = Counter()
    for argument in arguments:
        for constraint in argument.constraints:
            if constraint.suffix in ("Be", "Gen"):
                continue
            name = f"refuses_{argument.name}_{constraint.attribute.lower()}_{constraint.suffix.lower()}"
            seen[name] += 1
            label = name if seen[name] == 1 else f"{name}_{seen[name]}"
            if constraint.lenience and constraint.lenient_where is None:
                continue
            breaches = wished_breaches(spec, constraint, label, Plain(spec))
            found = next((one for one in breaches if one.lenience is None), None)
            if found is not None:
                yield Derived(label, found)
