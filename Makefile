# Every target makes its own environment: Python >= 3.11, make and a package index are enough.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Running needs a tenth of what the tests need, so each has a mark of its own.
READY  := $(VENV)/.ready
DEV    := $(VENV)/.ready-dev

# Without bytecode every worker of every run would compile all tests again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-slow test-all test-nightly check docs bench golden lock clean

run: $(READY)
	$(BIN)/hannan demo

# The everyday suite; a file stays on one worker, so that what its tests share is made once.
test: $(DEV)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

# What takes long: statistical samples, broken mechanisms, fuzzing, clusters, golden traces, docs.
test-slow: $(DEV)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "slow and not nightly"

# Both at once: everything is imported, collected and loaded once, and nobody waits at the end.
test-all: $(DEV)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not nightly"

# The rest: every mutant, all statistical families, all golden traces, whatever has changed.
test-nightly: $(DEV)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m nightly

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, with the output of all examples; a warning, a broken link or a missing page is an error.
docs: $(DEV)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d build/doctrees docs site
	cd docs && $(abspath $(BIN))/python -m _site.check $(abspath site)

# One study measures other libraries too; where they cannot be installed it says so and goes on.
bench: $(DEV)
	-$(PIP) --require-hashes -r benchmarks/constraints.txt
	$(BIN)/python -m benchmarks

# Plays all settings of tests/golden and writes down what they show; --check compares instead.
golden: $(DEV)
	$(BIN)/python -m tests.golden

# The constraints pin whole trees, the build backend included, to files of known hashes. Bytecode is made
# by the first import, or for the tests by all cores: pip would make all of it on one, half of its time.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r constraints.txt
	$(PIP) --no-deps --no-build-isolation -e .
	touch $(READY)

$(DEV): $(READY) constraints-dev.txt
	$(PIP) --require-hashes -r constraints-dev.txt
	-$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib
	touch $(DEV)

# Newest versions within the bounds of pyproject.toml, with the hashes of their files for all systems.
COMPILE := $(VENV)-lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-annotate --no-header
lock:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet --disable-pip-version-check 'uv==0.13.7'
	$(COMPILE) --group build pyproject.toml --output-file constraints.txt
	$(COMPILE) --group dev --constraints constraints.txt pyproject.toml --output-file constraints-dev.txt
	$(COMPILE) --group peers --constraints constraints-dev.txt --output-file benchmarks/constraints.txt
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist site docs/_examples docs/examples docs/reference/api
