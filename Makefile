# What a newcomer needs: `make demo`. What a developer needs: `make test lint`. `make` lists the rest.
# Needs make and Python 3.11 or newer, nothing else. All paths are relative, so a checkout may sit
# in a folder with spaces in its name. pip reads its own settings (PIP_*, pip.conf) as always.

SHELL := /bin/sh

# The first of these that is 3.11 or newer and can make virtual environments; override: make PYTHON=...
USABLE = -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" $(USABLE) && { echo "$$p"; break; }; done)
# The oldest set has wheels for 3.11; on a machine without it, `make test-oldest` says so.
PYTHON_OLDEST ?= $(shell for p in python3.11 "$(PYTHON)"; do \
	"$$p" -c 'import sys, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null \
	&& { echo "$$p"; break; }; done)

VENV := .venv
VENV_OLDEST := .venv-oldest
VENV_PEERS := .venv-bench
VENV_DIFFPRIVLIB := .venv-bench-diffprivlib
BENCH_VENV := $(if $(wildcard $(VENV_PEERS)/.installed),$(VENV_PEERS),$(VENV))
BENCH_READY := $(if $(wildcard $(VENV_PEERS)/.installed),$(VENV_PEERS)/.installed,$(VENV)/.installed-dev)
PIP_INSTALL := -m pip install --disable-pip-version-check --quiet
LOCK_RUN := requirements-run.txt
LOCK_TEST := requirements-test.txt
LOCK_DEV := requirements-dev.txt
LOCK_DOCS := requirements-docs.txt
LOCK_OLDEST := requirements-oldest.txt

# Two test processes, one thread each: more would only fight for two cores. Each starts with a half
# of the tests, in order, and takes over from the other when it is done: alike tests, which need the
# same compiled code, stay together, and a long test at the end leaves nobody idle.
PYTEST := -m pytest -n 2 --dist worksteal
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow test-oldest lint format docs docs-check bench bench-peers audit lock clean

help:  ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS='	' read -r name text; do \
		printf '  make %-12s %s\n' "$$name" "$$text"; done

demo: $(VENV)/.installed-run  ## set up, then learn wages privately and say what it cost
	$(VENV)/bin/python -m privlearn demo

test: $(VENV)/.installed-test  ## the fast tests
	$(ONE_THREAD) $(VENV)/bin/python $(PYTEST)

test-slow: $(VENV)/.installed-test  ## the statistical tests and those against the papers
	$(ONE_THREAD) $(VENV)/bin/python $(PYTEST) -m slow

test-oldest: $(VENV_OLDEST)/.installed  ## what versions decide, on the oldest supported ones
	$(ONE_THREAD) $(VENV_OLDEST)/bin/python $(PYTEST) --oldest

lint: $(VENV)/.installed-dev  ## style, formatting and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(VENV)/.installed-dev  ## put the code in the project's format
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# Runs the tutorials, too: what the site shows was printed now. A warning is an error.
docs: $(VENV)/.installed-docs  ## build the site of the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs --quiet build --strict
	@echo 'built site/; read it with: $(VENV)/bin/python -m http.server --directory site'

docs-check: docs  ## click through the site in a browser, where Chromium is installed
	$(VENV)/bin/python tools/check_site.py site

# With the peers' environment where it was made, else without peers. Full runs: see docs/benchmarks.md.
bench: $(BENCH_READY)  ## a short run of every benchmark that can run here
	$(BENCH_VENV)/bin/python -m benchmarks --quick

audit: $(BENCH_READY)  ## attack every estimator, and write what was promised and measured
	$(ONE_THREAD) $(BENCH_VENV)/bin/python -m benchmarks.audit $(if $(QUICK),--quick)

bench-peers: $(VENV_PEERS)/.installed $(VENV_DIFFPRIVLIB)/.installed  ## set up what is compared with

# uv resolves for all supported Pythons and systems at once, and writes the hashes of every file of a
# version. Nothing about where packages came from is written. The smaller locks are cut from the
# largest. The oldest set is for Linux alone.
COMPILE := compile --quiet --upgrade --no-emit-index-url --no-annotate --python-version 3.11 \
	--generate-hashes --custom-compile-command 'make lock' pyproject.toml --group build
lock: $(VENV)/bin/python  ## choose the newest versions again and write them down
	$(VENV)/bin/python $(PIP_INSTALL) uv
	$(VENV)/bin/python -m uv pip $(COMPILE) --universal --all-extras --output-file $(LOCK_DEV)
	$(VENV)/bin/python -m uv pip $(COMPILE) --universal --extra test --constraint $(LOCK_DEV) \
		--output-file $(LOCK_TEST)
	$(VENV)/bin/python -m uv pip $(COMPILE) --universal --extra docs --constraint $(LOCK_DEV) \
		--output-file $(LOCK_DOCS)
	$(VENV)/bin/python -m uv pip $(COMPILE) --universal --constraint $(LOCK_DEV) \
		--output-file $(LOCK_RUN)
	$(VENV)/bin/python -m uv pip $(COMPILE) --resolution lowest-direct --extra test \
		--output-file $(LOCK_OLDEST)

clean:  ## remove what the other targets made
	rm -rf $(VENV) $(VENV_OLDEST) $(VENV_PEERS) $(VENV_DIFFPRIVLIB) build dist site .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A virtual environment hides itself from git, whatever its name.
$(VENV)/bin/python:
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or newer (with venv) was not found; \
	install it, or say where it is: make PYTHON=/path/to/python3" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	@echo '*' > $(VENV)/.gitignore

$(VENV_OLDEST)/bin/python:
	@[ -n "$(PYTHON_OLDEST)" ] || { echo "test-oldest needs Python 3.11, which was not found; \
	install it, or say where it is: make PYTHON_OLDEST=/path/to/python3.11" >&2; exit 1; }
	"$(PYTHON_OLDEST)" -m venv $(VENV_OLDEST)
	@echo '*' > $(VENV_OLDEST)/.gitignore

# First the files whose hashes a lock names, and no others; then the package itself, which by then
# needs nothing more: pip cannot hash a folder, so the two steps cannot be one.
define install
	$(1)/bin/python $(PIP_INSTALL) --require-hashes --requirement $(2)
	$(1)/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $(3)
endef

# Stamps: nothing is installed again until the lock or pyproject.toml changes.
$(VENV)/.installed-run: pyproject.toml $(LOCK_RUN) | $(VENV)/bin/python
	$(call install,$(VENV),$(LOCK_RUN),$@)

$(VENV)/.installed-test: pyproject.toml $(LOCK_TEST) | $(VENV)/bin/python
	$(call install,$(VENV),$(LOCK_TEST),$@ $(VENV)/.installed-run)

$(VENV)/.installed-dev: pyproject.toml $(LOCK_DEV) | $(VENV)/bin/python
	$(call install,$(VENV),$(LOCK_DEV),$@ $(VENV)/.installed-test $(VENV)/.installed-run)

$(VENV)/.installed-docs: pyproject.toml $(LOCK_DOCS) | $(VENV)/bin/python
	$(call install,$(VENV),$(LOCK_DOCS),$@ $(VENV)/.installed-run)

$(VENV_OLDEST)/.installed: pyproject.toml $(LOCK_OLDEST) | $(VENV_OLDEST)/bin/python
	$(call install,$(VENV_OLDEST),$(LOCK_OLDEST),$@)

# torch comes first and alone, so that nothing else has a say in which build of it is taken.
$(VENV_PEERS)/.installed: pyproject.toml benchmarks/requirements-peers.txt
	"$(PYTHON)" -m venv $(VENV_PEERS)
	@echo '*' > $(VENV_PEERS)/.gitignore
	$(VENV_PEERS)/bin/python $(PIP_INSTALL) "$$(grep '^torch==' benchmarks/requirements-peers.txt)"
	$(VENV_PEERS)/bin/python $(PIP_INSTALL) --requirement benchmarks/requirements-peers.txt
	$(VENV_PEERS)/bin/python $(PIP_INSTALL) --editable '.[bench]'
	@touch $@

$(VENV_DIFFPRIVLIB)/.installed: benchmarks/requirements-diffprivlib.txt
	"$(PYTHON)" -m venv $(VENV_DIFFPRIVLIB)
	@echo '*' > $(VENV_DIFFPRIVLIB)/.gitignore
	$(VENV_DIFFPRIVLIB)/bin/python $(PIP_INSTALL) --requirement benchmarks/requirements-diffprivlib.txt
	@touch $@
