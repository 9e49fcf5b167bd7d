# Two commands do all the set-up: `make demo` and `make test`. Each makes its own virtual environment.
# A fresh machine needs Python 3.11 or newer, make, and access to a package index through pip.

PYTHON ?= python3
VENV := .venv
DEV := .venv-dev
DOCS := .venv-docs
PIP := -m pip --disable-pip-version-check --quiet
PYTEST := $(DEV)/bin/python -m pytest

.PHONY: help demo test test-all suite whole-suite nano check lint types types-of-src chromium format bench attack constraints page docs clean

help:
	@echo "make demo      locate the example photos offline, score the example answers, open both reports"
	@echo "make test      lint, check the types of src, run the test suite"
	@echo "make check     lint, check all types"
	@echo "make test-all  the same with the slow suites, and other random examples every time"
	@echo "make nano      run the tests of examples/nano, a small model that is trained from nothing"
	@echo "make bench     run the benchmarks and print this machine's figures"
	@echo "make attack    give every reader 100,000 mutated files and more; failing services, kill -9, full disks"
	@echo "make page      build the page of \`geosleuth serve\` from page/ (needs Node 20.19 or newer)"
	@echo "make docs      build the documentation site into out/site/"
	@echo "make format    format and fix what can be fixed"
	@echo "make clean     remove environments, caches and outputs"

$(VENV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "geosleuth needs Python 3.11 or newer; try: make PYTHON=python3.11 demo" >&2; exit 2; }
	@echo "Installing geosleuth and what it needs into $(VENV): once, some 650 MB, a few minutes."
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP) install --constraint constraints.txt --editable .
	@touch $@

# Older versions of pip can't read dependency groups.
$(DEV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "geosleuth needs Python 3.11 or newer; try: make PYTHON=python3.11 test" >&2; exit 2; }
	$(PYTHON) -m venv $(DEV)
	$(DEV)/bin/python $(PIP) install 'pip>=25.1'
	$(DEV)/bin/python $(PIP) install --constraint constraints.txt --editable '.[all]' --group dev
	@touch $@

# The demo's region must not weigh in what its user locates later.
IN_DEMO_HOME := GEOSLEUTH_HOME='$(CURDIR)/out/demo-home'

demo: $(VENV)/ready
	@mkdir -p out
	@echo "Building the atlas and locating the example photos: a minute or two the first time."
	$(IN_DEMO_HOME) $(VENV)/bin/geosleuth atlas add examples/regions/monaco.osm.pbf
	$(IN_DEMO_HOME) $(VENV)/bin/geosleuth locate examples/photos/*.jpg --offline --out out/located/
	@$(VENV)/bin/python scripts/open_report.py out/located/index.html
	$(IN_DEMO_HOME) $(VENV)/bin/geosleuth bench score examples/answers/careful.jsonl examples/answers/hasty.jsonl --by kind --out out/report.html --overwrite
	@$(VENV)/bin/python scripts/open_report.py out/report.html

check: lint types

lint: $(DEV)/ready
	$(DEV)/bin/ruff format --check
	$(DEV)/bin/ruff check
	$(DEV)/bin/python scripts/check_page.py
	$(DEV)/bin/python scripts/check_licences.py
	$(DEV)/bin/python scripts/build_reference.py --check
	$(DEV)/bin/python scripts/check_guides.py

types: $(DEV)/ready
	$(DEV)/bin/mypy

types-of-src: $(DEV)/ready
	$(DEV)/bin/mypy src

# Browser tests need Chromium: this installs Debian's where it can, says why where it can't, and never fails.
chromium:
	@sh scripts/ensure_chromium.sh

# Types of tests, benchmarks and scripts are left to `make check`, which CI runs, too. The tests come first in the list,
# since they take longest.
test: chromium
	@$(MAKE) --no-print-directory --jobs 2 suite lint types-of-src

test-all: chromium
	@$(MAKE) --no-print-directory --jobs 2 whole-suite check

# One run a part of the house, each in processes of its own: what one part keeps in memory does not add up with the next.
LEARNING := tests/lab/train tests/lab/scenes tests/lab/score
LABORATORY := tests/lab $(addprefix --ignore=,$(LEARNING))
GROUND := tests/answer tests/atlas tests/evidence tests/geo tests/names tests/photo tests/tools
ROOMS := tests --ignore=tests/lab $(addprefix --ignore=,$(GROUND))
RUN_PARTS = status=0; for part in "$(ROOMS)" "$(LEARNING)" "$(LABORATORY)" "$(GROUND)"; do \
	$(PYTEST) $(1) --numprocesses 2 --dist worksteal $$part || status=1; done; exit $$status

suite: $(DEV)/ready
	@$(call RUN_PARTS,-m "not slow")

# Not in `make test`: nothing that ships imports it.
nano: $(DEV)/ready
	$(PYTEST) examples/nano

whole-suite: $(DEV)/ready
	@export HYPOTHESIS_PROFILE=wandering; $(call RUN_PARTS,)

bench: $(DEV)/ready
	$(DEV)/bin/python benchmarks/distance.py --check
	$(DEV)/bin/python benchmarks/reverse.py --check
	$(DEV)/bin/python benchmarks/base.py --tables --check
	$(DEV)/bin/python benchmarks/geocode.py --check
	$(DEV)/bin/python benchmarks/regions.py --check
	$(DEV)/bin/python benchmarks/maps.py --check
	$(DEV)/bin/python benchmarks/resection.py --rows 1,2,3,4,5 --check
	$(DEV)/bin/python benchmarks/loop.py --check
	$(DEV)/bin/python benchmarks/tiles.py
	$(DEV)/bin/python benchmarks/serve.py --check
	$(DEV)/bin/python benchmarks/serve.py --what history --check
	$(DEV)/bin/python benchmarks/serve.py --what cases --cases 1000 --check
	$(DEV)/bin/python benchmarks/detective.py --count 60 --batch 20
	$(DEV)/bin/python benchmarks/visual.py --kinds linear --photos 1600
	$(DEV)/bin/python benchmarks/bench_run.py --memory 20000 --check
	$(DEV)/bin/python benchmarks/rewards.py --check
	$(DEV)/bin/python benchmarks/environment.py --check
	$(DEV)/bin/python benchmarks/world.py --what speed --check
	$(DEV)/bin/python benchmarks/world.py --what zoom --check

# On loopback alone, in processes with limits for memory and time. atheris guides some of the files where it installs;
# it has no wheel for every machine.
attack: $(DEV)/ready
	@$(DEV)/bin/python $(PIP) install --constraint constraints.txt --group attack || echo "atheris does not install here: no file will be guided by the lines it reaches"
	$(DEV)/bin/python benchmarks/attack.py
	$(DEV)/bin/python benchmarks/faults.py

format: $(DEV)/ready
	$(DEV)/bin/ruff format
	$(DEV)/bin/ruff check --fix

# The built page is committed, so that users need no Node; the lock file says with what it is built.
page/node_modules/.package-lock.json: page/package.json page/package-lock.json
	cd page && npm ci --loglevel=error
	@touch $@

page: $(DEV)/ready page/node_modules/.package-lock.json
	$(DEV)/bin/python scripts/build_page_types.py
	cd page && npm run --silent build

# Strict: a broken link, a missing heading or a page that the navigation leaves out stops the build. Never with
# --quiet, which hides warnings from strict mode too.
$(DOCS)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "geosleuth needs Python 3.11 or newer; try: make PYTHON=python3.11 docs" >&2; exit 2; }
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python $(PIP) install 'pip>=25.1'
	$(DOCS)/bin/python $(PIP) install --constraint constraints.txt --editable . --group docs
	@touch $@

docs: $(DOCS)/ready
	NO_MKDOCS_2_WARNING=1 PATH="$(CURDIR)/$(DOCS)/bin:$$PATH" $(DOCS)/bin/python -m mkdocs build --strict
	@echo "The site is out/site/index.html. Search needs a server: python3 -m http.server --directory out/site"

# Rewrites the pins from what every extra and group needs; names and versions only.
constraints:
	$(PYTHON) scripts/pin.py > constraints.new && mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) $(DEV) $(DOCS) page/node_modules out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
