# Every target makes its own environment: Python >= 3.11, make and a package index are enough.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: run test check bench lock clean

run: $(READY)
	$(BIN)/hannan run examples/quickstart.toml

test: $(READY)
	$(BIN)/python -m pytest -n 2

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# One study measures other libraries too; where they cannot be installed it says so and goes on.
bench: $(READY)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group peers
	$(BIN)/python -m benchmarks

# constraints.txt pins the whole tree to versions known to work together; `make lock` renews it.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' -c constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group dev -e .
	touch $(READY)

lock:
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev --group peers -e .
	$(BIN)/python -m pip freeze --all --exclude-editable --exclude hannan --exclude setuptools > constraints.txt
	touch $(READY)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
