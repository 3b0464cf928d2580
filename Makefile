# Two commands for everybody: `make demo` and `make test`. The rest is for those who change the code.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
OUT ?= tse-results

.PHONY: demo test test-all test-fast check docs format bench bench-gpu datasets clean

demo: $(VENV)/.installed
	$(BIN)/tse run --out $(OUT)

# Three processes for two cores: now and then one waits for a server or a browser.
TESTS := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

test: $(VENV)/.installed-dev
	$(TESTS) -m "not slow" $(PYTEST)

test-all: $(VENV)/.installed-dev
	$(TESTS) $(PYTEST)

FAST := tests/metrics tests/io tests/push_scripts tests/publishing
FAST += --ignore=tests/push_scripts/test_push.py  # starts processes that import for seconds

test-fast: $(VENV)/.installed-dev
	$(TESTS) -m "not (slow or browser or upstream)" $(FAST) $(PYTEST)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/speed.py $(BENCH)

bench-gpu: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/gpu.py $(BENCH)

datasets: $(VENV)/.installed-dev
	$(BIN)/python push_scripts/build.py

clean:
	rm -rf $(VENV) build dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e '.[test]'
	touch $@
