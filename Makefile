# SPDX-License-Identifier: Apache-2.0
# A thin front of meson. What is built lies in build/: culprit, both agents, the workloads.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
# More for meson setup: make MESON_ARGS=-Dwerror=true
MESON_ARGS ?=
# CROSS=no leaves out the agent for the other architecture.
CROSS ?= auto
# What goes to tests/run: make check TEST_ARGS='--filter spe'
TEST_ARGS ?=

MACHINE := $(shell uname -m)
ifeq ($(MACHINE),aarch64)
OTHER := x86_64
OTHER_DEBIAN := amd64
else
OTHER := aarch64
OTHER_DEBIAN := arm64
# Here the compiler for the other side is a build dependency; from aarch64 it is a bonus.
CROSS_MUST := yes
endif

OTHER_CC := $(OTHER)-linux-gnu-gcc
OTHER_AGENT := $(BUILD)/culprit-agent-$(OTHER)
CROSS_ROOT := $(CURDIR)/build/$(OTHER_DEBIAN)-root
ifeq ($(CROSS),auto)
ifeq ($(CROSS_MUST),)
CROSS := $(if $(shell command -v $(OTHER_CC)),yes,no)
endif
endif

.PHONY: all native cross deps demo check check-cross check-arm64 check-deep lint format release sanitize \
	install uninstall clean help
.DEFAULT_GOAL := all

ifeq ($(CROSS),no)
all: native ## build all: culprit, both agents, workloads, tests
else
all: native cross
endif

native: $(BUILD)/build.ninja ## build for this machine only
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "make: meson is missing; try: make deps" >&2; exit 1; }
	meson setup $(BUILD) $(MESON_ARGS)

cross: $(OTHER_AGENT) ## build the agent for the other architecture

.PHONY: cross-agent
cross-agent: $(BUILD)/$(OTHER)/build.ninja
	@ninja -C $(BUILD)/$(OTHER) --quiet

$(OTHER_AGENT): cross-agent
	@[ ! -e $(BUILD)/$(OTHER)/culprit-agent-$(OTHER) ] || \
		cmp -s $(BUILD)/$(OTHER)/culprit-agent-$(OTHER) $@ || \
		cp $(BUILD)/$(OTHER)/culprit-agent-$(OTHER) $@

$(BUILD)/$(OTHER)/build.ninja: $(CROSS_ROOT)/.complete
	@command -v $(OTHER_CC) >/dev/null || { \
		echo "make: $(OTHER_CC) is missing; try: make deps, or leave it out: make CROSS=no" >&2; \
		exit 1; }
	meson setup $(BUILD)/$(OTHER) --cross-file tools/$(OTHER).cross -Dagent_only=true \
		-Dcross_root=$(CROSS_ROOT) $(MESON_ARGS)

$(CROSS_ROOT)/.complete: tools/cross-root
	tools/cross-root $(OTHER_DEBIAN) $(CROSS_ROOT)

deps: ## install what the build needs (Debian; nothing to do: silent)
	@tools/install-deps

demo: deps ## build, then profile a pointer chase
	@$(MAKE) --no-print-directory all
	$(BUILD)/culprit run code_hotspots -- $(BUILD)/workloads/memlat chase 10

check: deps ## build and run all tests; ends with "N passed, N failed"
	@$(MAKE) --no-print-directory all
	@tests/run --build $(BUILD) $(TEST_ARGS)

# One folder alone, whatever state the others are in: make unit-decode TESTS='spe guard'
unit-%: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet tests/test-$*
	@$(BUILD)/tests/test-$* $(TESTS)

check-cross: deps ## run the agent's unit tests built for the other architecture, under qemu-user
	@$(MAKE) --no-print-directory cross
	@tests/run --build $(BUILD)/$(OTHER) --only unit --wrapper qemu-$(OTHER)-static $(TEST_ARGS)

check-arm64: ## run what needs a real arm64 kernel, on emulated machines (docs/testing.md)
	@tools/install-deps --arm64
	@$(MAKE) --no-print-directory all
	@tests/run --build $(BUILD) --only arm64 $(TEST_ARGS)

check-deep: ## what is too slow for every change: compilers, sanitizers, valgrind, analysers, fuzzers
	@tools/install-deps --ci
	@tools/check-deep

lint: ## all gates that read the source
	@tools/lint

format: ## lay the source out as lint wants it
	@tools/check-format --fix

release: ## optimised and stripped, in build-release
	@[ -e build-release/build.ninja ] || meson setup build-release --buildtype=release \
		-Doptimization=2 -Dtests=false -Dc_link_args=-s -Dcpp_link_args=-s $(MESON_ARGS)
	@$(MAKE) --no-print-directory BUILD=build-release MESON_ARGS="--buildtype=release \
		-Doptimization=2 -Dtests=false $(MESON_ARGS)" all

sanitize: ## address and undefined behaviour sanitizers, in build-asan
	@[ -e build-asan/build.ninja ] || meson setup build-asan \
		-Db_sanitize=address,undefined -Db_lundef=false $(MESON_ARGS)
	@$(MAKE) --no-print-directory BUILD=build-asan CROSS=no all

install: ## install to PREFIX (/usr/local), below DESTDIR if set
	@[ -e $(BUILD)/culprit ] || { echo "make: build first: make" >&2; exit 1; }
	@tools/gen-docs $(BUILD)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/culprit
	install -m 755 $(BUILD)/culprit $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(wildcard $(BUILD)/culprit-agent-*) $(DESTDIR)$(PREFIX)/lib/culprit/
	@for page in $(BUILD)/man/*.1; do \
		install -D -m 644 "$$page" $(DESTDIR)$(PREFIX)/share/man/man1/$${page##*/}; done
	install -D -m 644 $(BUILD)/completion/culprit.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/culprit
	install -D -m 644 $(BUILD)/completion/_culprit \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_culprit
	install -D -m 644 $(BUILD)/completion/culprit.fish \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/culprit.fish

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/culprit $(DESTDIR)$(PREFIX)/share/man/man1/culprit*.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/culprit \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_culprit \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/culprit.fish
	rm -rf $(DESTDIR)$(PREFIX)/lib/culprit

clean: ## remove everything that was built
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
