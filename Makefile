# Every target makes its own environment: Python >= 3.11, make and a package index are enough.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Without bytecode every worker of every run would compile all tests again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-slow test-all test-nightly check bench golden lock clean

run: $(READY)
	$(BIN)/hannan run examples/quickstart.toml

# The everyday suite; a file stays on one worker, so that what its tests share is made once.
test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

# What takes long: statistical samples, broken mechanisms, fuzzing, clusters, golden traces, docs.
test-slow: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "slow and not nightly"

# Both at once: everything is imported, collected and loaded once, and nobody waits at the end.
test-all: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not nightly"

# The rest: every mutant, all statistical families, all golden traces, whatever has changed.
test-nightly: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m nightly

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# One study measures other libraries too; where they cannot be installed it says so and goes on.
bench: $(READY)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r benchmarks/constraints.txt
	$(BIN)/python -m benchmarks

# Plays all settings of tests/golden and writes down what they show; --check compares instead.
golden: $(READY)
	$(BIN)/python -m tests.golden

# constraints.txt pins the whole tree, the build backend included, to files of known hashes. pip would
# make bytecode of all of it on one core, the tests of other packages included: half of its time.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r constraints.txt
	-$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

# Newest versions within the bounds of pyproject.toml, with the hashes of their files for all systems.
COMPILE := $(VENV)-lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-annotate --no-header
lock:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet --disable-pip-version-check 'uv==0.13.7'
	$(COMPILE) --group dev pyproject.toml --output-file constraints.txt
	$(COMPILE) --group peers --constraints constraints.txt --output-file benchmarks/constraints.txt
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
