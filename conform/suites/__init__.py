"""What to run: the YAML test language (load, validate, expand, sample) and the built-in suites."""

from conform.suites.load import each_validated, json_schema, list_ids, load, validate
from conform.suites.sample import Arguments, sample
from conform.suites.test import ModuleSpec, Pair, Suite, Test
from conform.suites.variants import Variant, dtype_segment, first_dtype, kinds, variants

__all__ = [
    "Arguments",
    "ModuleSpec",
    "Pair",
    "Suite",
    "Test",
    "Variant",
    "dtype_segment",
    "each_validated",
    "first_dtype",
    "json_schema",
    "kinds",
    "list_ids",
    "load",
    "sample",
    "validate",
    "variants",
]
