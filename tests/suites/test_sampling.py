"""Draws depend on (seed, test id, sample number, place of the node) alone; what `sample` returns beside the values."""

from __future__ import annotations

import functools
import hashlib

import numpy as np

from conform.numerics.draws import Stream
from conform.suites import Arguments, sample, variants
from conform.suites.nodes import ClassPath, Const, Construct

X = "{type: tensor, shape: [8], kind: float}"


def draw(test, seed: int = 0, number: int = 0, **dtypes: str) -> Arguments:
    return sample(test, dtypes or variants(test, None)[0], functools.partial(Stream, seed), number)


def test_the_same_seed_test_and_sample_give_the_same_draws(loaded) -> None:
    first, other = loaded(f"tests: [{{id: a, op: aten::relu, in: [{X}]}}, {{id: b, op: aten::relu, in: [{X}]}}]")
    again = loaded(f"tests: [{{id: z, op: aten::neg, in: []}}, {{id: a, op: aten::exp, in: [{X}]}}]")[1]
    reference = draw(first).args[0]
    assert (draw(again).args[0] == reference).all()
    for different in (draw(other), draw(first, seed=1), draw(first, number=1)):
        assert (different.args[0] != reference).all()


def test_an_argument_more_changes_no_other(loaded) -> None:
    (one,) = loaded(f"tests: [{{id: a, op: aten::add, in: [{X}], kwargs: {{other: {X}}}}}]")
    (two,) = loaded(f"tests: [{{id: a, op: aten::add, in: [{X}, {X}], kwargs: {{alpha: {X}, other: {X}}}}}]")
    assert (draw(one).args[0] == draw(two).args[0]).all()
    assert (draw(one).kwargs["other"] == draw(two).kwargs["other"]).all()
    assert (draw(two).args[0] != draw(two).args[1]).all()


def test_the_dtype_casts_the_same_draw(loaded) -> None:
    (test,) = loaded(f"tests: [{{id: a, op: aten::relu, in: [{X}]}}]")
    wide = draw(test, float="float64").args[0]
    assert (draw(test, float="float32").args[0] == wide.astype(np.float32)).all()
    assert (draw(test, float="float16").args[0] == wide.astype(np.float16)).all()


def test_both_sides_of_a_pair_get_the_same_inputs(loaded) -> None:
    a, b = loaded(f"""
        tests:
        - op:
            type: template_compare_pair
            vars: {{v: [1]}}
            a: {{impl: one, type: module, path: m.A}}
            b: {{impl: two, type: module, path: m.B}}
          in: [{X}]
    """)
    assert (draw(a).args[0] == draw(b).args[0]).all()


def test_draws_are_the_same_on_every_platform(loaded) -> None:
    (test,) = loaded("""
        tests:
        - id: pinned
          op: aten::add
          in:
          - {type: tensor, shape: [64], dtype: float32}
          - {type: tensor, shape: [64], dtype: bfloat16, low: -3, high: 5}
          - {type: tensor, shape: [64], dtype: int16}
          - {type: tensor, shape: [64], kind: bool, p: 0.3}
    """)
    digest = hashlib.sha256(b"".join(array.tobytes() for array in draw(test).args)).hexdigest()
    assert digest == "d6550c3bca813983e26e693ab889b1c1832830331f15fa258a25e4764527559d"


def test_arrays_are_contiguous_and_their_own(loaded) -> None:
    scalar_tensors = "{type: scalar_tensor, kind: float}, {type: scalar_tensor, dtype: bfloat16, low: 0, high: 1}"
    (test,) = loaded(
        f"tests: [{{op: aten::relu, in: [{{type: tensor, shape: [3, 2], kind: float}}, {scalar_tensors}]}}]"
    )
    arrays = draw(test).args
    assert all(type(array) is np.ndarray and array.flags.c_contiguous and array.flags.writeable for array in arrays)
    arrays[0][:] = 7
    assert (draw(test).args[0] != 7).all()


def test_tensors_are_numbered_in_order_with_lists_flattened(loaded) -> None:
    (test,) = loaded("""
        presets:
          drawn: {type: tensor, shape: [1], kind: float}
          literal: {type: const_tensor, shape: [1], kind: float, value: [2.5]}
          grad: {type: tensor, shape: [1], kind: float, requires_grad: true}
        tests:
        - op: aten::add
          in:
          - {ref: drawn}
          - {type: list, len: 2, elem: {ref: literal}}
          - {type: const, value: 3}
          - {type: tuple, elems: [{ref: grad}, {type: scalar_tensor, kind: int, value: 1}]}
          kwargs: {alpha: {ref: literal}, other: {ref: grad}}
    """)
    found = draw(test)
    assert found.literal == {1, 2, 4, 5}
    assert found.requires_grad == {3, 6}


def test_an_object_to_construct_stays_its_description(loaded) -> None:
    (test,) = loaded("tests: [{id: t, op: aten::relu, in: [{type: construct, path: a.B, args: [2]}]}]")
    assert test.takes_objects
    assert draw(test).args == [Construct(ClassPath("a.B"), (Const(2),), {})]


def test_matrices_of_systems_have_solutions_where_nothing_is_said_of_them(loaded) -> None:
    """By the op, whose operand they are; `init` says what it says everywhere, and the other operand is no matrix."""
    square = "{type: tensor, shape: [9, 9], kind: float}"
    default, said, variant = loaded(f"""
tests:
  - {{id: a, op: aten::linalg_cholesky_ex, in: [{square}]}}
  - {{id: b, op: aten::linalg_cholesky_ex, in: [{square.replace("float", "float, init: normal")}]}}
  - {{id: c, op: aten::cholesky_solve, in: [{square}], kwargs: {{input2: {square}}}}}
""")
    matrix, plain = draw(default).args[0], draw(said).args[0]
    assert (matrix == matrix.T).all()
    assert np.linalg.eigvalsh(matrix).min() > 0.1
    assert (plain != plain.T).any()
    assert (np.diagonal(draw(variant).kwargs["input2"]) > 0).all()
    assert (np.diagonal(draw(variant).args[0]) < 0).any()
