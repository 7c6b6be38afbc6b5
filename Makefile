# SPDX-License-Identifier: GPL-3.0-or-later
# What each target does stands in README.md.  All work is done by Python programs, so this file only names them.

PYTHON ?= python3
# The bpy wheel to work with; empty takes the newest tested one that the Python at hand can use.
BPY ?=
# More arguments for make test, bench, bench-quick, bench-truth and cuda, e.g. make test ARGS="-k extension".
ARGS ?=

VENV := .venv$(if $(BPY),-$(BPY))
RUN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/python
STAMP := $(VENV)/.complete
BENCH_STAMP := $(STAMP)-bench

.PHONY: help demo test lint format extension bench bench-quick bench-methods bench-constants bench-truth cuda clean .venv

help:
	@echo "make demo | test [BPY=4.5.15] | lint | format | extension | bench | bench-quick"
	@echo "     bench-methods | bench-constants | bench-truth | cuda | clean"

.venv: $(STAMP)

$(STAMP): pyproject.toml tools/make_environment.py
	$(PYTHON) tools/make_environment.py $(VENV) $(if $(BPY),--bpy $(BPY))

$(BENCH_STAMP): $(STAMP)
	$(PYTHON) tools/make_environment.py $(VENV) $(if $(BPY),--bpy $(BPY)) --extra bench

demo: $(STAMP)
	$(RUN) examples/01_first_bake.py --output build/demo

test: $(STAMP)
	$(RUN) -m pytest $(ARGS)

lint: $(STAMP)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

format: $(STAMP)
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

extension: $(STAMP)
	$(RUN) tools/build_extension.py

bench: $(BENCH_STAMP)
	$(RUN) benchmarks/run.py $(ARGS)

bench-quick: $(BENCH_STAMP)
	$(RUN) benchmarks/run.py --quick $(ARGS)

bench-methods: $(STAMP)
	$(RUN) benchmarks/methods.py

bench-constants: $(STAMP)
	$(RUN) benchmarks/constants.py

bench-truth: $(BENCH_STAMP)
	$(RUN) benchmarks/truth.py $(ARGS)

cuda: $(STAMP)
	$(RUN) benchmarks/on_cuda.py $(ARGS)

clean:
	$(PYTHON) tools/clean.py
