# Two commands do everything: `make book` reproduces and renders the book, `make test` runs the tests.
# Both create the environment first; BUDGET, DATA, OUT, JOBS, PYTHON and VENV can be set on the command line.
PYTHON ?= python3
VENV ?= .venv
BUDGET ?= smoke
DATA ?=
OUT ?= results
JOBS ?= 1
BIN := $(VENV)/bin
EXTRAS := book,capture,video,body,dev

.PHONY: book test install lint notebooks clean

book: install
	$(BIN)/motionbook reproduce --budget $(BUDGET) $(if $(DATA),--data "$(DATA)") --out "$(OUT)" --jobs $(JOBS)
	$(BIN)/motionbook book --out "$(OUT)"

test: install
	$(BIN)/pytest

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $@

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/motionbook notebooks --check

notebooks: install
	$(BIN)/motionbook notebooks

clean:
	rm -rf book/_build book/_static/vendor book/_static/skelplayer.js
