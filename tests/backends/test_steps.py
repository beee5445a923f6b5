"""A module of steps: each takes what those before it gave, by name."""

from __future__ import annotations

import torch

from conform.backends.steps import Place, Step, Steps


def test_steps_take_what_stands_behind_names() -> None:
    """y = x + 2 held; (largest of y, where it is) along dim 0; twice the largest."""
    steps = [
        Step("aten::add.Tensor", [Place("x"), Place("held")], {"alpha": 2}, ("y",)),
        Step("aten::max.dim", [Place("y"), 0], {}, ("largest", None)),
        Step("aten::stack", [[Place("largest"), Place("largest")]], {"dim": 0}, ("both",)),
    ]
    module = Steps(["x"], {"held": torch.tensor([10.0, 20.0])}, steps, ["both"])
    assert module(torch.tensor([1.0, 2.0])).tolist() == [42.0, 42.0]
    both, y = Steps(["x"], {"held": torch.tensor([10.0, 20.0])}, steps, ["both", "y"])(torch.tensor([1.0, 2.0]))
    assert (both.tolist(), y.tolist()) == ([42.0, 42.0], [21.0, 42.0])


def test_arguments_are_the_tensors_of_lists_and_keywords_in_torchs_order() -> None:
    steps = [Step("aten::sub.Tensor", [Place("first"), Place("second")], {}, ("difference",))]
    module = Steps(["first", "second"], {}, steps, ["difference"])
    assert module([torch.tensor(5.0)], other=torch.tensor(3.0)).item() == 2.0
    assert module(torch.tensor(5.0), 7, torch.tensor(1.0)).item() == 4.0
