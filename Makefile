# Two commands do everything on a fresh machine: `make report` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: report test lint bench clean
.DELETE_ON_ERROR:

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,test]'
	touch $(READY)

report: $(READY)  ## prove everything and write build/report/index.html
	$(BIN)/exptx report --out build/report

test: $(READY)  ## the whole test suite
	$(BIN)/python -m pytest -n auto

lint: $(READY)  ## ruff and the type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyrefly check

bench: $(READY)  ## side-by-side timings, printed as ratios
	$(BIN)/python -m benchmarks.decide

clean:
	rm -rf $(VENV) build dist *.egg-info
