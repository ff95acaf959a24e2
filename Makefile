# Two commands: `make demo` runs the main job, `make test` runs the everyday tests. Both install what they need.
PYTHON ?= python3
VENV := .venv
PACKAGES := kmod qemu-system-x86 qemu-utils ovmf mmdebstrap lz4 mdadm gdisk fdisk e2fsprogs xfsprogs btrfs-progs \
            f2fs-tools dosfstools lvm2 cryptsetup-bin shellcheck openssh-client python3-venv strace git jq vagrant vagrant-libvirt nodejs lintian mandoc zsh fish chromium
LIBVIRT := libvirt-daemon-system libvirt-clients libvirt-daemon-driver-qemu dnsmasq-base rsync grub-pc-bin grub-common
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# COUNT random cases of kills and other hands in virtual servers, drawn by SEED; the record stays in .results/kills.jsonl.
# `make kills POWER=1` cuts the power, `make kills-table` prints what counts of the record.
COUNT ?= 24
SEED ?= 1
# The programs that tests start, some hundreds, would each compile all of raidplan again.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: measures curtin kills kills-table vagrant vagrant-all vagrant-table rehearse-all rehearse-rates demo test test-all quick golden lint types types-of-tests bench dist clean packages

demo: $(VENV)/ready packages
	$(SUDO) $(VENV)/bin/python -m tests.machine.demo

test: $(VENV)/ready packages lint
	$(SUDO) env NOTHING_LEFT_OUT=1 $(VENV)/bin/python -m pytest -n auto --maxprocesses=4 --in-turn

# The whole, in parts of at most an hour: `make test-all PART=kills`, `make test-all PART=--show`.
test-all: PROGRAMS := npm=npm go=golang-go
test-all: $(VENV)/ready $(if $(filter --show,$(PART)),,packages lint)
	$(SUDO) env NOTHING_LEFT_OUT=1 $(VENV)/bin/python -m tests.parts $(PART)

kills: $(VENV)/ready packages
	$(SUDO) $(VENV)/bin/python -m tests.kills $(COUNT) $(SEED) $(if $(POWER),--power) $(if $(REAL),--real-initramfs)

kills-table: $(VENV)/ready
	$(VENV)/bin/python -m tests.kills --table

quick: $(VENV)/ready
	$(VENV)/bin/python -m pytest -n auto --maxprocesses=4 --in-turn --of-each 10 -m "not machine and not root and not network and not slow"

lint: $(VENV)/ready
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	@$(MAKE) --no-print-directory --jobs=2 --output-sync types types-of-tests

types: $(VENV)/ready
	$(VENV)/bin/mypy

# With a cache of its own, since both run at once.
types-of-tests: $(VENV)/ready
	$(VENV)/bin/mypy --config-file tests/mypy.toml --cache-dir .mypy_cache/tests

# What the tests hold the output against is made anew; a summary says what that changes since the commit SINCE.
golden: $(VENV)/ready
	$(VENV)/bin/python -m tests.golden_summary $(or $(SINCE),HEAD)

# Lines, imports that go up, circles: of the working tree, and of the commit SINCE beside it.
measures: $(VENV)/ready
	$(VENV)/bin/python -m tests.measures $(SINCE)

# Every example on its virtual twin, each with a record: `make rehearse-all PART=1/4`, `PART=raid50`, `PART=tel-aviv-jbod@blank`, `PART=--show`.
rehearse-all: $(VENV)/ready
	$(VENV)/bin/python -m tests.rehearsal.everything $(PART)

# The rates of ten examples, measured on their twins: `make rehearse-rates NAMES=raid1-pair`, `NAMES=--show`.
rehearse-rates: $(VENV)/ready
	$(VENV)/bin/python -m tests.rehearsal.rates $(NAMES)

# A layout in a virtual machine of libvirt's, looked at before and after a reboot; docs/vagrant.md.
LAYOUT ?= examples/raid1-pair.yaml
vagrant: PACKAGES += $(LIBVIRT)
vagrant: export LAYOUT := $(LAYOUT)
vagrant: $(VENV)/ready packages
	$(VENV)/bin/python vagrant/run.py "$$LAYOUT"

# The machines that docs/internals/vagrant.md lists, one after the other, each with a record: `make vagrant-all RUN=raid1-pair/trixie`, `RUN=--show`.
vagrant-all: PACKAGES += $(LIBVIRT)
vagrant-all: $(VENV)/ready $(if $(filter --%,$(RUN)),,packages)
	$(VENV)/bin/python -m tests.vagrant.runs $(RUN)

vagrant-table: $(VENV)/ready
	$(VENV)/bin/python -m tests.vagrant.runs --table

# Wheel, sdist, one file for any Python, a Debian package: in dist/, the same bytes for the same commit.
dist: $(VENV)/ready
	$(VENV)/bin/python -m release

# The examples' exports, read by curtin's own parser: `make curtin CURTIN=FOLDER`, where its sources lie.
curtin: $(VENV)/ready
	$(VENV)/bin/pip install --quiet jsonschema oauthlib
	$(VENV)/bin/python -m tests.installers.curtin "$(CURTIN)"

bench: $(VENV)/ready
	$(VENV)/bin/python -m bench

# Only what is missing is installed, and it says so. PROGRAMS (program=package) may have come by another way.
packages:
	@missing=""; for p in $(PACKAGES); do \
	  dpkg-query --show --showformat='$${Status}' $$p 2>/dev/null | grep -q "ok installed" || missing="$$missing $$p"; done; \
	for p in $(PROGRAMS); do command -v $${p%=*} >/dev/null || missing="$$missing $${p#*=}"; done; \
	if [ -n "$$missing" ]; then echo "installing Debian packages:$$missing"; \
	  $(SUDO) apt-get update -qq && DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing; fi

$(VENV)/ready: pyproject.toml
	@echo "making the virtual environment $(VENV)"
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { $(SUDO) apt-get update -qq; DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq python3-venv; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
