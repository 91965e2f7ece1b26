PREFIX ?= /usr/local
SWIFT ?= swift
BUILD = .build/release
# Compact relocations, which glibc 2.36 and later can read.
RELATIVE = $(shell ldd --version 2>/dev/null | awk 'NR == 1 && $$NF >= 2.36 { print "-Xlinker -z -Xlinker pack-relative-relocs" }')

.DEFAULT_GOAL := help
.PHONY: help build install demo test lint format setup setup-test setup-emulation layers plugins \
  baseline arm64 macos benchmark static library wheel release proto docs catalog pictures example journeys corpora \
  fuzz mutants faults contracts sanitize coverage

#: build    installs missing libraries and builds assay and assay-hdf5 (about 10 minutes on two cores)
build: setup
	$(SWIFT) build -c release --product assay $(RELATIVE)
	$(SWIFT) build -c release --product assay-hdf5
	@sh Tests/Tools/kernel-symbols.sh $(BUILD)

#: install  copies what was built, with man pages and completions, to PREFIX (/usr/local)
install:
	@sh Tests/Tools/install.sh $(BUILD) $(DESTDIR)$(PREFIX)
	@[ ! -e .build/library/libassay.a ] || { install -d $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include && \
	  cp -P .build/library/libassay.* $(DESTDIR)$(PREFIX)/lib && cp .build/library/assay.h $(DESTDIR)$(PREFIX)/include; }

# `demo` and `test` share a debug build, in which the manifest optimizes what computes.

#: demo     builds, and runs style transfer, a classifier and a detector on photographs (5 to 7 minutes)
demo: setup
	$(SWIFT) build --product assay
	$(SWIFT) build --product assay-hdf5
	@sh Tests/Tools/demo.sh .build/debug/assay

#: test     builds and runs all tests (about 15 minutes on two cores)
test: setup-test
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build
	@$(MAKE) --no-print-directory layers

#: lint     checks formatting, documentation and file sizes
lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests
	@sh Tests/Tools/sizes.sh
	@sh Tests/Tools/size-arithmetic.sh

help:
	@sed -n 's/^#: /make /p' Makefile
	@echo
	@awk '/^# /{ if (text == "") text = substr($$0, 3) } /^[a-z0-9-]+:/ { sub(/:.*/, ""); \
	  if (text != "" && $$0 !~ /^(test|setup)/) printf "make %-10s %s\n", $$0, text; text = "" } /^$$/ { text = "" }' Makefile

setup:
	@sh Tests/Tools/setup.sh

setup-test:
	@sh Tests/Tools/setup.sh test

setup-emulation:
	@sh Tests/Tools/setup.sh emulation

# Formats all code.
format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

# Checks the imports against the manifest.
layers:
	@sh Tests/Tools/layers.sh
	@python3 Tests/Tools/cycles.py

# Builds a plug-in for each model with custom layers under ../shared.
plugins: build
	@sh Tests/Tools/plugins.sh $(BUILD)/assay

# Writes the lists of layers and the graph of targets into docs.
docs: setup-test
	$(SWIFT) build --build-tests
	ASSAY_WRITE_DOCS=1 $(SWIFT) test --skip-build --filter 'LayerDocumentationTests|PageTests'
	@sh Tests/Tools/dependencies.sh
	$(BUILD)/assay --experimental-dump-help | python3 Tests/Tools/schema.py >docs/assay.schema.json

# Builds the documentation catalog of the library with DocC, in .build/docc; a warning is an error.
catalog: setup
	$(SWIFT) build --target Assay
	@sh Tests/Tools/docc.sh

# Makes the images of the documentation with the program.
pictures: build
	@sh Tests/Tools/documentation-images.sh $(BUILD)/assay

# Checks the inner loops of the kernels for arm64, and runs the kernels' tests on them under emulation.
arm64:
	@sh Tests/Tools/setup.sh arm64
	@sh Tests/Tools/arm64.sh

# Checks the types of what depends on the operating system against Apple's headers.
macos: setup
	@sh Tests/Tools/macos.sh

# Runs the binary on an emulated CPU without AVX.
baseline: setup-emulation build
	@sh Tests/Tools/baseline.sh $(BUILD)/assay

# Runs the common tasks in Tests/Tools/journeys.
journeys: setup-test
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --filter JourneyTests
	@$(MAKE) --no-print-directory example

# Compares all networks of the corpora and of Keras as programs, of which `make test` takes every fifth.
corpora: setup-test
	$(SWIFT) build --build-tests
	ASSAY_CORPORA=1 $(SWIFT) test --skip-build --filter 'ReferenceCorpusTests|FrameworkValueTests|ProofTests|LayerNetworkTests|UpgradeTests|AppleValidatorTests'

# Builds the example package with this one as a versioned dependency.
example: setup
	@sh Tests/Tools/example.sh

# Measures each kind of kernel as a share of the machine's peak.
benchmark: setup
	$(SWIFT) build -c release --product KernelBenchmarks
	$(BUILD)/KernelBenchmarks

# Builds binaries that need only libc, in .build/static/release.
static: setup
	@sh Tests/Tools/static.sh

# Builds the C library, shared and static, with the Swift runtime inside, in .build/library.
library: setup
	@sh Tests/Tools/library.sh

# Packs the static binaries in .build/packages, and tries every package in a bare root.
release: setup
	@sh Tests/Tools/static.sh --portable
	@sh Tests/Tools/release/release.sh
	@sh Tests/Tools/release/try.sh

# Builds the Python package with the C library and the command, in .build/wheel. Debian only.
wheel: setup
	@sh Tests/Tools/static.sh --portable assay assay-hdf5 AssayLibrary
	@sh Tests/Tools/library.sh --portable .build/static/release
	@sh Tests/Tools/wheel.sh

# Runs the commands' code on COUNT mutants of each format; docs/security.md explains the variables.
COUNT ?= 2000
SEED ?= 1
JOBS ?= 2
TARGETS ?= all
mutants: setup-test
	ASSAY_FUZZ=1 $(SWIFT) build -c release --scratch-path .build/fuzz --product assay-mutants
	ASSAY_FUZZ=1 $(SWIFT) build -c release --scratch-path .build/fuzz --product assay-hdf5
	.build/fuzz/release/assay-mutants $(TARGETS) --seed $(SEED) --count $(COUNT) --jobs $(JOBS)

# Fuzzes each target for SECONDS with libFuzzer and AddressSanitizer.
SECONDS ?= 60
fuzz: setup-test
	@sh Tests/Tools/fuzz.sh $(SECONDS) $(TARGETS)

# Makes every C library call of each command fail once.
faults: setup-test
	$(SWIFT) build --build-tests
	ASSAY_FAULTS=1 $(SWIFT) test --skip-build --filter FaultTests

# Runs every command on every hostile file, including those in ../shared.
contracts: setup-test
	$(SWIFT) build --build-tests
	ASSAY_CONTRACTS=1 $(SWIFT) test --skip-build --filter ContractTests

# Runs the suite with AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer.
sanitize: setup-test
	@sh Tests/Tools/sanitize.sh

# Measures the share of the lines in Sources that the tests run, without generated code.
coverage: setup-test
	@sh Tests/Tools/coverage.sh

# Regenerates the protobuf-c code from the .proto files.
proto: setup-test
	sh Sources/CSpec/generate.sh
