# Everything here sets itself up: the only thing needed is Python 3.11 or newer (and git, make).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DATA ?= tests/data

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types contracts bench prove lock clean

help: ## Show what can be made.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(STAMP): requirements/dev.txt pyproject.toml
	@echo "Setting up $(VENV) with the pinned packages of requirements/dev.txt (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP) ## Score a shipped file of mixed answers with each reward.
	@$(BIN)/python -m assay.cli.demo

test: $(STAMP) ## Run every test.
	@$(BIN)/python -m pytest -q

check: lint types contracts ## Lint, types, import contracts.

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)
	@$(BIN)/mypy src tests benchmarks

contracts: $(STAMP)
	@$(BIN)/lint-imports

bench: $(STAMP) ## Run the benchmarks and print their tables (DATA=folder of labelled cases).
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

prove: $(STAMP) ## Run the full counts that are too long for the tests.
	@$(BIN)/python benchmarks/prove.py

lock: $(STAMP) ## Pin the packages anew, with hashes.
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-emit-index-url --universal \
		--python-version 3.11 --extra all pyproject.toml requirements/dev.in -o requirements/dev.txt

clean: ## Remove what was made.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
