# Two commands for a new machine: `make demo` and `make test`. Each makes its own .venv when there is none.
PYTHON ?= python3
BIN := .venv/bin
RUKH_HOME ?= $(CURDIR)
DAGSTER_DIR := $(RUKH_HOME)/data/dagster
export DAGSTER_DISABLE_TELEMETRY := 1

.PHONY: help demo test test-long lint bench ui clean

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/.installed: pyproject.toml constraints.txt
	@echo "Installing into .venv (about a minute, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,assets,ui,dev]'
	@mkdir -p "$(DAGSTER_DIR)" && cp dagster.yaml "$(DAGSTER_DIR)/dagster.yaml"
	@touch $@

demo: .venv/.installed  ## two sample months through Dagster, then batches and a tiny model
	@$(BIN)/python examples/demo.py

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint  ## lint, types, import rules and all tests but the long ones
	$(BIN)/python -m pytest -m "not long"

test-long: lint  ## everything, the long tests too
	$(BIN)/python -m pytest

bench: .venv/.installed  ## how fast each step is, beside plain Python and its limits (ARGS=--quick: a minute or two)
	@$(BIN)/python -m benchmarks $(ARGS)

ui: .venv/.installed  ## the Dagster UI on http://127.0.0.1:3000, history kept under data/dagster
	@mkdir -p "$(DAGSTER_DIR)" && cp dagster.yaml "$(DAGSTER_DIR)/dagster.yaml"
	DAGSTER_HOME="$(DAGSTER_DIR)" RUKH_HOME="$(RUKH_HOME)" $(BIN)/dagster dev --workspace workspace.yaml --host 127.0.0.1 --port 3000

clean:  ## remove what tools leave behind (never data or artifacts)
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build *.egg-info
