# Everything a person needs: `make film` and `make test`. Nothing but python3 (>= 3.11, with venv) and make is expected.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install film novel test coverage simulate mutants chaos lint bench lock clean

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-9s %s\n", $$1, $$2}'

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Animastor needs Python 3.11 or newer; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (once, about a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

install: $(READY) ## make .venv with the pinned packages

film: $(READY) ## the example book as a film, an audiobook and subtitles, in out/
	@$(BIN)/animastor make examples/tale --out out

BOOKS ?= ../shared/books
novel: $(READY) ## a whole novel as an audiobook, timed (BOOKS=folder with love-among-the-chickens.epub)
	@$(BIN)/python bench/novel.py --books $(BOOKS)

TWO := -n 2 --dist worksteal  # a process each for two cores
test: $(READY) ## every check and the whole test suite
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/pytest $(TWO)

coverage: $(READY) ## which lines of the program the test suite runs (measuring makes the tests half as fast)
	@$(BIN)/pytest $(TWO) --cov --cov-report=term:skip-covered

SEEDS ?= 1000
SEED ?=
ONLY ?=
STORE ?= memory
simulate: $(READY) ## the simulator: SEEDS=100000 of them, or one with its story: SEED=17; STORE=valkey (docs/simulation.md)
	@PYTHONPATH=tests $(BIN)/python -m simulation --store $(STORE) $(if $(SEED),--seed $(SEED) $(if $(ONLY),--only $(ONLY)),--seeds $(SEEDS) --complete)

FAULT ?=
mutants: $(READY) ## deliberate faults, and which test or seed notices each; FAULT="the quota": those of that name
	@PYTHONPATH=tests $(BIN)/python -m mutants $(if $(FAULT),"$(FAULT)")

CHAOS_SEED ?=
chaos: $(READY) ## a fleet of real processes against every fault, half an hour: CHAOS_SEED=17 draws the same again (docs/operating.md)
	@CHAOS_SEED=$(CHAOS_SEED) $(BIN)/pytest tests/chaos -m chaos -s

lint: $(READY) ## the checks that take seconds
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(READY) ## the measurements behind docs/performance.md
	@for each in bench/engine.py bench/storage.py bench/due.py bench/coordination.py bench/tick.py bench/diffs.py bench/explain.py; do $(BIN)/python $$each || exit 1; done

lock: $(READY) ## pin the newest allowed versions (needs uv)
	@uv pip compile --universal --generate-hashes --no-annotate --no-header --extra dev pyproject.toml -o requirements.lock

clean: ## remove what was made here, also the home folder
	@rm -rf out .animastor .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
