"""One element, or one shape, of each row of docs/torch-cpu.md that is about moving elements and making tensors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import conform
from conform.call import schemas


def test_linspace_rounds_each_number_once():
    exact = Fraction(0.3) + 2 * (Fraction(0) - Fraction(0.3)) / 6
    found = conform.golden("aten::linspace", 0.3, 0, 7, dtype="bfloat16").value[2]
    neighbours = [Fraction(float(found)) + Fraction(step, 2**11) for step in (-2, 2)]
    assert all(abs(exact - Fraction(float(found))) < abs(exact - one) for one in neighbours)


def test_the_results_of_meshgrid_have_memory_of_their_own():
    assert schemas.schema("aten::meshgrid").aliases == (False,)


def test_pixel_unshuffle_of_no_elements_has_the_shape_of_its_definition():
    channels, rows, columns, factor = 2, 3, 0, 3
    shape = (channels * factor**2, rows // factor, columns // factor)
    empty = np.empty((channels, rows, columns), np.float32)
    assert conform.golden("aten::pixel_unshuffle", empty, factor).value.shape == shape == (18, 1, 0)


def test_the_mask_of_a_dropout_is_of_bools_whatever_its_size():
    for shape in ((0,), (3,)):
        _, mask = conform.golden("aten::native_dropout", np.ones(shape, np.float32), 0.0, True).value
        assert (mask.dtype, mask.shape) == (np.bool_, shape)


def test_an_index_beyond_the_size_names_no_element():
    with pytest.raises(conform.errors.InvalidArguments, match="indices"):
        conform.golden("aten::take_along_dim", np.zeros((5, 1), np.float32), np.full((4, 5), 8), 0)
