PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

KILLS ?= 1000
STATES ?= 200
CASE_SECONDS ?= 1
# Neighbouring tests run in one process, so a fixture that they share is made once.
WORKERS := -n auto --dist worksteal

unexport PYTHONDONTWRITEBYTECODE # or each process that a test starts compiles the code anew

.PHONY: run test test-times test-rest test-processors test-all lint coverage mutants wheels release bench bench-history bench-peers bench-training bench-stopping papers doc-numbers docs audit-gallery museum null-audits torture blackout clean

run: $(STAMP)
	$(BIN)/tcdp-sim $(ARGS)

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(WORKERS) $(ARGS)

test-times: $(STAMP) # make test with CPU seconds by folder: growth is printed, tests/times.csv is written
	$(BIN)/python -m pytest $(WORKERS) --times=write $(ARGS)

test-rest: $(STAMP) # what make test leaves out: kills, a real Slurm, browsers at all widths; CASE_SECONDS=1e9 for all cases
	$(BIN)/python -m pytest $(WORKERS) -m slow --seconds=$(CASE_SECONDS) $(ARGS)

test-processors: $(STAMP) # the numerical tests as on other processors, one kind after the other
	.ci/processors

test-all: test test-rest test-processors

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy

coverage: $(STAMP) # the lines that make test runs: htmlcov/index.html
	$(BIN)/python -m pytest $(WORKERS) --cov=tcdp_sim --cov-report=html --cov-report=term:skip-covered $(ARGS)

wheels: $(STAMP) # sdist and wheel in dist/, each installed and used in an empty environment
	$(BIN)/python .ci/release.py --wheels

release: $(STAMP) # refuses while anything is not ready, then as `wheels`; ARGS=--tag sets the tag
	$(BIN)/python .ci/release.py $(ARGS)

mutants: $(STAMP) # faults put into a copy of the code, one after the other: do the tests notice?
	PYTHONPATH=tests $(BIN)/python -m mutants $(ARGS)

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

bench-history: $(STAMP) # ratios of several commits, as a page: .asv/html; ARGS="run v0.1.0..main" chooses commits
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/asv machine --yes
	$(BIN)/asv $(or $(ARGS),run --quick --python=same --set-commit-hash HEAD)
	$(BIN)/asv publish

bench-peers: $(STAMP) # what people use now, on the same questions, in environments of their own
	$(BIN)/python -m benchmarks.peers $(ARGS)

bench-training: $(STAMP) # what libraries print for the same training runs, as a page
	$(BIN)/python -m benchmarks.training $(ARGS)

bench-stopping: $(STAMP) # coverage of the rules that stop cells, written into docs/explained/monte_carlo.md (20 minutes)
	$(BIN)/python -m benchmarks.stopping $(ARGS)

papers: $(STAMP) # the page of the papers' claims, as it is checked in
	rm -rf results/papers/runs
	$(BIN)/tcdp-sim reproduce $(ARGS)
	rm -rf results/reference/papers
	mkdir -p results/reference/papers
	cp -r $(addprefix results/papers/,index.html errata.html remarks.html claims.csv certificate.json figures) results/reference/papers/
	sed 's|](figures/|](../../results/reference/papers/figures/|g' results/papers/papers.md > docs/reference/papers.md
	cp results/papers/errata.md results/papers/remarks.md docs/reference/

doc-numbers: $(STAMP) # the numbers in README and docs, the notebooks of pages, and the page of public names, computed and written
	PYTHONPATH=tests/references $(BIN)/python -m doc_numbers
	PYTHONPATH=tests/references $(BIN)/python -m doc_notebooks
	PYTHONPATH=tests/references $(BIN)/python -m public_names

docs: $(STAMP) # the site, docs/_build/html/index.html; warnings are errors, and figures are kept in docs/_build/gallery
	$(BIN)/python -m sphinx -E -W --keep-going -b html docs docs/_build/html $(ARGS)

audit-gallery: $(STAMP) # mechanisms of examples/audit_gallery, audited; ARGS="--help" says what can be chosen
	PYTHONPATH=examples/audit_gallery $(BIN)/python -m audit_gallery $(ARGS)

museum: $(STAMP) # shipped privacy bugs and their repaired versions, audited; ARGS="--page docs/reference/museum.md" writes the page
	PYTHONPATH=examples/museum $(BIN)/python -m museum $(ARGS)

null-audits: $(STAMP) # true claims of 23 mechanisms, audited again and again; ARGS="--help" says what can be chosen
	PYTHONPATH=examples/audit_gallery $(BIN)/python -m audit_gallery.nulls $(ARGS)

torture: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m torture --kills $(KILLS) $(ARGS)

blackout: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m torture.blackout --states $(STATES) $(ARGS)

clean:
	rm -rf $(VENV) .venv-peers

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else "tcdp_sim needs Python >= 3.11; this is " + v + ". Try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@
