# Two commands to know: `make demo` and `make test`. Everything is installed into .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
PROJECT := pyproject.toml src/shoal/_version.py
# Processes that share the tests; 0 runs them all in one, as a debugger wants it.
WORKERS ?= 2
PYTEST := -m pytest --numprocesses $(WORKERS) --dist worksteal
# The oldest Python that pyproject.toml claims, and the tests to run on it.
OLDEST ?= python$(shell sed -n 's/^requires-python = ">=\(.*\)"/\1/p' pyproject.toml)
OLDEST_TESTS ?= tests

# Bytecode is kept even where the environment says otherwise, as that of a container may: else every command compiles all
# that it imports anew. For commands that tests start, tests/conftest.py does the same.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-oldest test-wheel lint format docs bench clean

demo: $(VENV)/.installed ## the main job on invented data, ending with a report to open
	rm -rf demo
	$(BIN)/shoal demo -o demo

test: $(VENV)/.installed-test ## the default test run
	$(BIN)/python $(PYTEST) -m "not slow"

test-slow: $(VENV)/.installed-test ## the long tests
	$(BIN)/python $(PYTEST) -m slow

test-oldest: $(VENV)-oldest/.installed ## the default test run on the oldest Python and the oldest dependencies that we claim
	NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)-oldest/compiled $(VENV)-oldest/bin/python $(PYTEST) -m "not slow" $(OLDEST_TESTS)

test-wheel: $(VENV)-wheel/.installed ## a user's file, type-checked against the built wheel
	$(VENV)-wheel/bin/mypy --strict tests/wheel/user.py

lint: $(VENV)/.installed-lint ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs ## docs/_build/html/index.html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: $(VENV)/.installed ## ours beside the peers, as ratios
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-wheel .peers demo docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(PROJECT) | $(BIN)/python
	$(PIP) install --editable .
	touch $@

$(VENV)/.installed-%: $(PROJECT) | $(BIN)/python
	$(PIP) install --editable ".[$*]"
	touch $@ $(VENV)/.installed

# Each lower bound of pyproject.toml as the version itself; compiled kernels are kept apart from those of a newer numba.
$(VENV)-oldest/.installed: $(PROJECT) tests/oldest/constraints.py
	rm -rf $(VENV)-oldest
	$(OLDEST) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/pip --disable-pip-version-check --quiet install packaging tomli
	$(VENV)-oldest/bin/python tests/oldest/constraints.py > $(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/pip --disable-pip-version-check --quiet install --constraint $(VENV)-oldest/constraints.txt \
		--editable ".[test]"
	touch $@

# A user's environment: the wheel, not the source tree, and a type checker.
$(VENV)-wheel/.installed: $(PROJECT) $(shell find src -type f -not -name '*.pyc' -not -name '*.nb?')
	rm -rf $(VENV)-wheel
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/pip --disable-pip-version-check --quiet wheel --no-deps --wheel-dir $(VENV)-wheel/dist .
	$(VENV)-wheel/bin/pip --disable-pip-version-check --quiet install $(VENV)-wheel/dist/*.whl "mypy>=1.10"
	touch $@
