"""Exact numerics: formats, one rounding, real numbers as enclosures, correctly rounded functions, errors in ulps.

What the package guarantees, and the test below tests/ that exhausts or checks it (exhausted: every code, number,
midpoint and neighbour of a midpoint where a format has at most 16 bits):

 1. A code stands for the number that the format's row says, and every number of the format has its code: exhausted.
        numerics/test_codes.py::test_every_code
 2. Neighbours and classes are those of the ordered numbers of the format: exhausted.
        numerics/test_codes.py::test_every_neighbour_and_class
 3. `round_to` gives the number of the format nearest to the exact hi + lo, ties to even, or next to it in a directed
    mode, in one rounding: exhausted.
        numerics/test_rounding.py::test_every_number_midpoint_and_neighbour
        numerics/test_rounding.py::test_lo_tells_the_side_of_every_number_and_midpoint
 4. `decide` never decides wrongly: where it does, every number of the enclosure rounds to its value.
        numerics/test_rounding.py::test_decide_is_right_wherever_it_decides
 5. `convert` rounds at most once between any two formats: exhausted between the small ones.
        numerics/test_rounding.py::test_between_the_small_formats
 6. Arithmetic is correctly rounded, and its Real encloses the exact result.
        numerics/test_arithmetic.py::test_binary_operations_against_fractions
        numerics/test_arithmetic.py::test_axpy_against_fractions
        numerics/test_arithmetic.py::test_sqrt_against_integers
 7. An operator on Real encloses the exact result of every pair of numbers enclosed by its operands.
        numerics/test_real.py::test_binary_operators_enclose
        numerics/test_real.py::test_sum_and_cumsum_enclose
 8. A sum, product of matrices or running sum is rounded from its exact value, whatever the order of its terms.
        numerics/test_accumulate.py::test_decided_sums_are_correctly_rounded
        numerics/test_accumulate.py::test_sums_in_the_middle_of_the_range_are_exact
 9. A function of the table gives the correctly rounded value and a Real that holds the exact one, or Unjudged.
        numerics/functions/test_functions.py::test_correctly_rounded_and_enclosed
        numerics/functions/test_near_ties.py::test_the_whole_range_is_answered
        numerics/functions/test_special_values.py::test_exact_values_midpoints_and_edges
10. No rung of the ladder relies on more than its stated error, and a platform that misses it loses the rung.
        numerics/functions/test_ladder.py::test_the_first_rung_agrees_with_the_second_on_16_bits
        numerics/functions/test_ladder.py::test_a_platform_that_misses_its_sentinels_loses_the_first_rung
11. Every piece of a piecewise polynomial meets its truncation error, held against Arb.
        numerics/functions/test_piecewise.py::test_every_piece_meets_its_truncation_error
12. A function of a complex number gives both parts correctly rounded, on the side of the cut that a zero's sign names.
        numerics/functions/test_complex_parts.py::test_correctly_rounded_and_enclosed
13. A function of a Real encloses the image of the enclosure.
        numerics/functions/test_of_reals.py::test_images_are_enclosed
14. `error_ulp` is |actual - real| / ulp(real) as exact arithmetic has it, monotone and finite at the overflow edge, and
    at most 1/2 for a correctly rounded result.
        numerics/test_ulp.py::test_against_fractions
        numerics/test_ulp.py::test_the_definition_at_every_edge
        numerics/test_ulp.py::test_around_the_largest_number
        numerics/test_ulp.py::test_rounded_results_are_within_half_an_ulp
15. What is decided at rising precision was confirmed at twice the precision; an exact midpoint is never guessed.
        numerics/test_escalate.py::test_an_exact_midpoint_is_never_guessed
        numerics/functions/test_ladder.py::test_a_value_that_mpmath_does_not_confirm_is_unjudged
16. A Ball holds what an honest implementation of the formula computes in the compute type, in any order of summation.
        numerics/test_ball.py::test_an_operation_passes_on_its_operands_errors_and_adds_its_own_rounding
        numerics/test_ball.py::test_a_sum_in_any_order_loses_gamma_times_the_magnitudes
        interp/test_derived_bounds.py::test_sequential_statistics_stay_inside
17. What a Ball allows a long sum is what some order of summation loses, but for a small factor.
        interp/test_reached_bounds.py::test_sums_and_sums_of_squares
18. What is worked on in blocks, a long row in pieces, gives what it gives as a whole.
        interp/blocks/test_blocks.py::test_blocks_are_put_together_as_the_whole
        numerics/test_accumulate.py::test_sums_in_pieces_are_the_sums
        numerics/test_accumulate.py::test_a_product_in_tiles_and_pieces_is_the_product
19. Beyond its inputs and outputs a golden takes no memory that grows with them; the ops of which that is not shown are
    in the table OPEN of the tests.
        interp/test_memory.py::test_work_space_does_not_grow_with_the_tensor
        interp/test_memory.py::test_work_space_beside_every_long_dim
20. A product of many numbers is rounded from its exact value, however far it or a part of it leaves float64's range.
        numerics/test_product.py::test_products_are_enclosed
        numerics/test_product.py::test_products_beyond_float64_are_rounded_all_the_same
21. A sum of products loses no term, however far apart its terms are; where its radius is 0 it is the sum.
        numerics/test_digits.py::test_numbers_are_rounded_as_fractions_are
        interp/ops/test_contraction_over_the_range.py::test_the_exact_sum_is_rounded_and_enclosed
22. The Real of a result holds the truth at the ends of the range too, is exact where its radius is 0, and tells numbers
    beyond float64 from poles.
        interp/test_reals_at_the_ends.py::test_functions
        interp/test_reals_at_the_ends.py::test_functions_of_two
        interp/test_reals_at_the_ends.py::test_arithmetic
        interp/test_reals_at_the_ends.py::test_composite_ops
23. Results as near to a midpoint as operands can bring them are rounded to the right side.
        numerics/functions/test_near_ties.py::test_integer_powers_of_complex_numbers
        numerics/functions/test_near_ties.py::test_hypotenuses
        numerics/functions/test_near_ties.py::test_angles
        numerics/functions/test_near_ties.py::test_products_with_logarithms
"""
