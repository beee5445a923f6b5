# Two commands that do all the set-up: `make check` and `make test`.

VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: check test test-long docs mutants clean

# Hundreds of processes are started: none compiles the kit again.
unexport PYTHONDONTWRITEBYTECODE

# Not conformant (exit 1) is a result, not an error of make; bad usage (2) and nothing judged (3) are errors.
check: $(VENV)/installed
	$(BIN)/conform check --backend cpu --out conform-out || test $$? -eq 1

test: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/pytest -n 3 --maxschedchunk 4 -q -rs

# Everything: every share of the tests that `make test` runs by turns, and the exhaustion of 16-bit inputs.
test-long: $(VENV)/installed-test
	$(BIN)/pytest -n 3 --maxschedchunk 4 -q -m ""

# The documentation site in build/site, strictly: a broken link or anchor is an error.
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# How many small changes to a room's code its tests notice: docs/mutants.md.
SAMPLE ?= 200
SEED ?= 0
mutants: $(VENV)/installed-mutants
	$(BIN)/python tools/mutants.py $(ROOM) --sample $(SAMPLE) --seed $(SEED)

clean:
	rm -rf $(VENV) build conform-out *.egg-info .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# torch alone comes first: the pinned version, whatever else would have it.
$(VENV)/installed: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(PIP) install -q -c constraints.txt -e .
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PIP) install -q -c constraints.txt -e '.[test,docs]'
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(PIP) install -q -c constraints.txt -e '.[docs]'
	touch $@

$(VENV)/installed-mutants: $(VENV)/installed-test
	$(PIP) install -q -c constraints.txt -e '.[mutants]'
	touch $@
