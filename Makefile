# Two commands do everything on a fresh machine with Python 3.11 or newer: `make report` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help report test sweep mutants peers lint bench clean
.DELETE_ON_ERROR:

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Made again whenever the dependencies change.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "exptx needs Python 3.11 or newer, but $(PYTHON) is $$($(PYTHON) --version 2>&1); make PYTHON=python3.12 $(MAKECMDGOALS)"; \
	  exit 1; }
	@echo "setting up $(VENV) (once)…"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -c constraints.txt -e '.[all,test]'
	@touch $@

report: $(READY)  ## prove everything and write build/report/index.html
	@$(BIN)/exptx report --out build/report

# One process a core, so one thread a process; a file stays in one process, which shares what it proves.
test: $(READY)  ## run the whole test suite
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile

sweep: $(READY)  ## find 2000 random Jordan types again in random bases
	@EXPTX_PLANTED=2000 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto tests/symbolic/spectral/test_classify.py -k planted

mutants: $(READY)  ## examine every public bug report, its twin, and a second set, with the doctor
	@mkdir -p build
	@OMP_NUM_THREADS=1 PYTHONPATH=tests/support:tests/mutants $(BIN)/python tests/mutants/run.py build/mutants.json

# Without their dependencies, which want CUDA, and apart from what the tests import.
PEERS := attn-gym==0.0.17 torchscale==0.3.0 megatron-core==0.16.1 flash-linear-attention==0.6.0 fla-core==0.6.0
peers: $(READY)  ## what the doctor finds in other packages as they are released; writes docs/peers.md
	@$(PIP) install --upgrade --no-deps --target build/peers $(PEERS)
	@OMP_NUM_THREADS=1 PYTHONPATH=build/peers $(BIN)/python -W ignore tests/peers/run.py docs/peers.md

lint: $(READY)  ## ruff and the type checker
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@mkdir -p build/types && ln -sfn ../.. build/types/exptx
	@$(BIN)/pyrefly check --summary=none

bench: $(READY)  ## time everything beside its peers and the physical limit (some six minutes)
	@$(BIN)/exptx bench

clean:  ## remove all that the other commands made
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
