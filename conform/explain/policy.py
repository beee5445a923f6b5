"""The rules of the policy page, as data: which of them an op is under."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conform.call.variants import plain_name

OF_VARIANTS = "P190"
PAGE = Path(__file__).with_name("policy.md")


_ITEM = r"(?:^|[,;:] |\(| of | and ){}(?=[,;:()]|$| \(| by | with | and )"


@dataclass(frozen=True)
class Rule:
    """One row of the page."""

    number: str
    question: str
    default: str
    source: str


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its number, `P11`, in the order of the page."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if re.match(r"\| P\d+ \|", line):
            rule = Rule(*(cell.strip() for cell in line.strip("| ").split(" | ")))
            found[rule.number] = rule
    return found


def rules_of(op: str, function: Callable) -> list[Rule]:
    """The rules whose question names the op (`aten::add.Tensor`: `add`), or that its definition names; of a variant
    that writes those of the overload that returns the same, and that of all variants."""
    name = plain_name(op).partition("::")[2].partition(".")[0]
    named = {number for source in _sources(function) for number in re.findall(r"\bP\d+\b", source)}
    named |= {OF_VARIANTS} if plain_name(op) != op else set()
    return [rule for rule in rules().values() if rule.number in named or _is_about(rule.question, name)]


def _is_about(question: str, name: str) -> bool:
    """Whether the subject, up to a colon, names the op, or a list behind it: many names are words of prose too."""
    subject, _, rest = question.partition(":")
    word = re.escape(name)
    return re.search(rf"\b{word}\b", subject) is not None or re.search(_ITEM.format(word), rest) is not None


def _sources(function: Callable) -> list[str]:
    """The source of a definition and of the helpers of its own module that it calls, directly or not."""
    module, seen, waiting = inspect.getmodule(function), [], [inspect.unwrap(function)]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.append(current)
        helpers = (getattr(module, name, None) for name in current.__code__.co_names)
        waiting += [h for h in helpers if inspect.isfunction(h) and h.__module__ == function.__module__]
    return [inspect.getsource(current) for current in seen]
