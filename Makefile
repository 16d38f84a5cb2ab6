# Each target makes and fills .venv by itself; Python 3.11 or newer and make are enough.

PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.PHONY: help demo test fuzz faults coverage check lint types layers bench experiments docs clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

ONE_CORE := GRAMLINK_THREADS=1 POLARS_MAX_THREADS=1# for each of the processes that share the tests

ARGS_OF_DEMO = $(if $(ARGS),$(ARGS),--persons)

demo: .venv/run  ## three parties link two files of persons, step by step
	$(BIN)/gramlink demo $(ARGS_OF_DEMO)

test: .venv/dev .venv/kernels  ## run all tests, the examples in the docstrings included
	$(ONE_CORE) $(BIN)/pytest -n auto --dist loadfile $(ARGS)

fuzz: .venv/dev .venv/kernels  ## test the properties with new and more examples than make test does
	$(ONE_CORE) $(BIN)/pytest -n auto -m hypothesis --hypothesis-profile=fuzz $(ARGS)

faults: .venv/dev .venv/kernels  ## kill commands and servers, fill disks, for ten minutes; count what survives
	$(BIN)/python -m faults $(ARGS)

coverage: .venv/dev .venv/kernels  ## lines and branches that tests reach, 97 % at least; kernels run as Python
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n auto -m hypothesis -W "ignore:overflow encountered" \
	  --cov --cov-report= --cov-fail-under=0
	$(ONE_CORE) $(BIN)/pytest -n auto --dist loadfile --cov --cov-append $(ARGS)

check: lint types layers test  ## everything that must hold before a change lands

lint: .venv/dev  ## style and formatting
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: .venv/dev  ## static types
	$(BIN)/mypy

layers: .venv/dev  ## who may import whom
	$(BIN)/lint-imports

bench: .venv/bench  ## time, memory and quality beside peers, as tables
	$(BIN)/python -m benchmarks $(ARGS)

experiments: .venv/run  ## the paper's figures and the rivals, as one report (ARGS=--quick)
	$(BIN)/gramlink experiments $(ARGS)

docs: .venv/dev  ## write the reference, the page on the paper and the pictures
	$(BIN)/python -m docs

clean:  ## remove what the targets made
	rm -rf .venv .coverage build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gramlink needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --upgrade pip
	@touch $@

.venv/run: .venv/made pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[report,server]'
	@touch $@

.venv/bench: .venv/dev
	$(BIN)/pip install --quiet --constraint constraints.txt --group bench
	-$(BIN)/pip install --quiet anonlink  # builds on older Pythons only; the tables do without it
	@touch $@

.venv/dev: .venv/run
	$(BIN)/pip install --quiet --constraint constraints.txt --group dev
	@touch $@

.venv/kernels: .venv/dev $(wildcard src/gramlink/kernels/*.py src/gramlink/lab/rivals/kernels/*.py)
	find src -name '*.nb[ci]' -delete  # numba would keep a kernel though one that it calls has changed
	GRAMLINK_THREADS=1 $(BIN)/python tests/kernels/compiling.py
	@touch $@
