"""ctc_loss: the probability that a sequence in time gives its labels, by what stands at the end of each prefix."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

from flint import arb

from conform.refs.exact.exponentials import LEAST_EXPONENT
from conform.refs.exact.linear_forms import Form, Value, times
from conform.refs.exact.reals import fraction_ball
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.loss.elements import MEAN, NONE, reduced
from conform.refs.references import reference

Emissions = tuple[tuple[Fraction | None, ...], ...]  # of each step; None: no probability


@reference("aten::ctc_loss.IntList")
def ctc_loss(
    log_probs: RefTensor,
    targets: RefTensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int = 0,
    reduction: int = MEAN,
    zero_infinity: bool = False,
) -> RefTensor:
    """-log of the probability that a path of labels and blanks is the target without what repeats, and without blanks.

    The mean is that of the losses over the lengths of their targets, or 1. Open where a
    probability is infinite or NaN, or a label the blank.
    """
    steps, count, classes = log_probs.shape
    if log_probs.dtype not in ("float32", "float64") or not 0 <= blank < classes:
        raise ValueError(f"ctc_loss of {log_probs.dtype} {log_probs.shape} with the blank {blank}")
    if len(input_lengths) != count or len(target_lengths) != count or not all(0 < n <= steps for n in input_lengths):
        raise ValueError(f"lengths {input_lengths} and {target_lengths} for {log_probs.shape}")
    if not all(0 <= label < classes for label in targets.data):
        raise ValueError(f"labels {targets.data} of {classes} classes")
    losses = []
    for n, labels in enumerate(_labels(targets, target_lengths)):
        rows = [log_probs.data[(t * count + n) * classes :][:classes] for t in range(input_lengths[n])]
        loss = UNSPECIFIED if blank in labels else _loss(rows, labels, blank)
        loss = Form() if loss == inf and zero_infinity else loss
        losses.append(times(loss, Fraction(1, max(len(labels), 1)) if reduction == MEAN else Fraction(1)))
    return reduced(log_probs.dtype, (count,), losses, reduction)


def _lengths(lengths: RefTensor) -> list[int]:
    if lengths.dtype != "int64" or len(lengths.shape) != 1:
        raise ValueError(f"lengths of {lengths.dtype} {lengths.shape}")
    return lengths.data


def _labels(targets: RefTensor, lengths: Sequence[int]) -> list[list[int]]:
    if any(length < 0 for length in lengths) or targets.dtype != "int64" or len(targets.shape) not in (1, 2):
        raise ValueError(f"targets {targets.shape} of lengths {lengths}")
    if len(targets.shape) == 1:
        if targets.shape[0] != sum(lengths):
            raise ValueError(f"targets {targets.shape} of lengths {lengths}")
        starts = [sum(lengths[:n]) for n in range(len(lengths))]
    else:
        if targets.shape[0] != len(lengths) or any(length > targets.shape[1] for length in lengths):
            raise ValueError(f"targets {targets.shape} of lengths {lengths}")
        starts = [n * targets.shape[1] for n in range(len(lengths))]
    return [targets.data[start : start + length] for start, length in zip(starts, lengths, strict=True)]


def _loss(rows: list[list[float]], labels: list[int], blank: int) -> Value:
    wanted = [blank] * (len(labels) + 1) + list(labels)
    numbers = [[row[label] for label in wanted] for row in rows]
    if not all(x < inf for own in numbers for x in own):
        return UNSPECIFIED
    used = _used([[x != -inf for x in own] for own in numbers], labels)
    if not any(used[0]):
        return inf
    numbers = [list(zip(*pair, strict=True)) for pair in zip(numbers, used, strict=True)]
    emissions = tuple(tuple(Fraction(x) if is_used else None for x, is_used in own) for own in numbers)
    ways, largest, _ = _counted(emissions, tuple(labels))
    if ways == 1 and _all_ways(emissions, tuple(labels)) == 1:  # one path: log(e^x) is x
        return Form(-largest)
    return Form(-largest, {(_minus_log, (emissions, tuple(labels))): Fraction(1)})


def _all_ways(emissions: Emissions, labels: tuple[int, ...]) -> int:
    return _counted(tuple(tuple(None if x is None else Fraction(0) for x in own) for own in emissions), labels)[0]


def _minus_log(key: tuple[Emissions, tuple[int, ...]]) -> arb:
    """-log of the probability over that of the most probable path."""
    ways, _, rest = _counted(*key)
    return -rest.log1p() if ways == 1 else -(rest + ways).log()


Counted = tuple[int, Fraction, arb]  # e^largest (ways + rest): so many paths, and the others, each of less


def _either(one: Counted, other: Counted) -> Counted:
    if not one[0] or not other[0]:
        return one if one[0] else other
    if one[1] < other[1]:
        one, other = other, one
    if one[1] == other[1]:
        return one[0] + other[0], one[1], one[2] + other[2]
    factor = fraction_ball(other[1] - one[1]).max(arb(LEAST_EXPONENT)).exp()
    return one[0], one[1], one[2] + factor * (other[2] + other[0])


def _counted(emissions: Emissions, labels: tuple[int, ...]) -> Counted:
    """All paths.

    ends[k] and tops[k]: of the paths so far that give the first k labels, those that end in a blank, and those that end
    in label k. Emissions: of a blank behind 0, 1, ... labels, then of label 1, 2, ...
    """
    nothing = (0, Fraction(0), arb(0))
    count = len(labels)
    ends, tops = [(1, Fraction(0), arb(0))] + [nothing] * count, [nothing] * (count + 1)

    def then(paths: Counted, x: Fraction | None) -> Counted:
        return nothing if x is None or not paths[0] else (paths[0], paths[1] + x, paths[2])

    for own in emissions:
        new_ends = [then(_either(ends[k], tops[k]), own[k]) for k in range(count + 1)]
        new_tops = [nothing] * (count + 1)
        for k in range(1, count + 1):
            repeats = k > 1 and labels[k - 1] == labels[k - 2]
            before = _either(ends[k - 1], nothing if repeats else tops[k - 1])
            new_tops[k] = then(_either(tops[k], before), own[count + k])
        ends, tops = new_ends, new_tops
    return _either(ends[count], tops[count])


Possible = list[list[bool]]  # of each step: of a blank behind 0, 1, ... labels, then of label 1, 2, ...


def _used(possible: Possible, labels: Sequence[int]) -> Possible:
    """What is part of a path: there is one from the start to it, and one from the end back to it."""
    # Seen from the end a blank behind k labels is one behind count - k, and label k is number count + 1 - k.
    forward, backward = _reached(possible, labels), _reached(_turned(possible, labels), labels[::-1])
    pairs = zip(forward, _turned(backward, labels), strict=True)
    return [[a and b for a, b in zip(*pair, strict=True)] for pair in pairs]


def _turned(steps: Possible, labels: Sequence[int]) -> Possible:
    count = len(labels)
    return [[*own[count::-1], *own[:count:-1]] for own in reversed(steps)]


def _reached(possible: Possible, labels: Sequence[int]) -> Possible:
    count, found = len(labels), []
    ends, tops = [True] + [False] * count, [False] * (count + 1)
    for own in possible:
        new_ends = [(ends[k] or tops[k]) and own[k] for k in range(count + 1)]
        new_tops = [False] + [
            (tops[k] or ends[k - 1] or (k > 1 and tops[k - 1] and labels[k - 1] != labels[k - 2])) and own[count + k]
            for k in range(1, count + 1)
        ]
        ends, tops = new_ends, new_tops
        found.append([*ends, *tops[1:]])
    return found


@reference("aten::ctc_loss.Tensor")
def ctc_loss_of_tensors(
    log_probs: RefTensor,
    targets: RefTensor,
    input_lengths: RefTensor,
    target_lengths: RefTensor,
    blank: int = 0,
    reduction: int = MEAN,
    zero_infinity: bool = False,
) -> RefTensor:
    """The same with lengths in tensors."""
    lengths = _lengths(input_lengths), _lengths(target_lengths)
    return ctc_loss(log_probs, targets, *lengths, blank, reduction, zero_infinity)


@reference("aten::_ctc_loss")
def ctc_loss_with_alphas(
    log_probs: RefTensor,
    targets: RefTensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[RefTensor, Unspecified]:
    """The losses one by one, and what is not documented."""
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, NONE), UNSPECIFIED


@reference("aten::_ctc_loss.Tensor")
def ctc_loss_of_tensors_with_alphas(
    log_probs: RefTensor,
    targets: RefTensor,
    input_lengths: RefTensor,
    target_lengths: RefTensor,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[RefTensor, Unspecified]:
    """The same with lengths in tensors."""
    lengths = _lengths(input_lengths), _lengths(target_lengths)
    return ctc_loss(log_probs, targets, *lengths, blank, NONE), UNSPECIFIED
