# `make demo` runs the demonstration, `make test` the tests. Both first install missing packages.

PREFIX ?= /usr/local
SWIFT ?= swift
BUILD = .build/release
APT = libprotobuf-c-dev protobuf-c-compiler libhdf5-dev libpng-dev libjpeg62-turbo-dev zlib1g-dev pkg-config qemu-user
BREW = protobuf-c hdf5 libpng jpeg-turbo pkg-config

.PHONY: setup build test demo lint format layers plugins baseline arm64 macos benchmark static library wheel release install proto docs pictures example journeys fuzz mutants faults contracts sanitize coverage

# Installs missing libraries.
setup:
	@if command -v brew >/dev/null; then brew install --quiet $(BREW); \
	elif command -v apt-get >/dev/null; then \
	  missing=$$(for p in $(APT); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
	  if [ -n "$$missing" ]; then \
	    sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing; \
	  fi; \
	else echo "error: found neither apt-get nor brew; install these packages yourself: $(APT)" >&2; exit 1; fi

build: setup
	$(SWIFT) build -c release --product assay
	$(SWIFT) build -c release --product assay-hdf5
	@sh Tests/Tools/kernel-symbols.sh $(BUILD)

# A debug build, in which the manifest optimizes the slow targets.
test: setup
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build
	@$(MAKE) --no-print-directory layers

demo: build
	@sh Tests/Tools/demo.sh $(BUILD)/assay

lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests
	@sh Tests/Tools/sizes.sh
	@sh Tests/Tools/size-arithmetic.sh

format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

# Checks the imports against the manifest.
layers:
	@sh Tests/Tools/layers.sh

# Builds a plug-in for each model with custom layers under ../shared.
plugins: build
	@sh Tests/Tools/plugins.sh $(BUILD)/assay

# Writes the lists of layers and the graph of targets into docs.
docs: setup
	$(SWIFT) build --build-tests
	ASSAY_WRITE_DOCS=1 $(SWIFT) test --skip-build --filter 'LayerDocumentationTests|PageTests'
	@sh Tests/Tools/dependencies.sh

# Makes the images of the documentation with the program.
pictures: build
	@sh Tests/Tools/documentation-images.sh $(BUILD)/assay

# Checks the inner loops of the kernels for arm64, and runs the kernels' tests on them under emulation.
arm64: setup
	@sh Tests/Tools/arm64.sh

# Checks the types of what depends on the operating system against Apple's headers.
macos: setup
	@sh Tests/Tools/macos.sh

# Runs the binary on an emulated CPU without AVX.
baseline: build
	@sh Tests/Tools/baseline.sh $(BUILD)/assay

# Runs the common tasks in Tests/Tools/journeys.
journeys: setup
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --filter JourneyTests
	@$(MAKE) --no-print-directory example

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

# Builds the Python package with the C library, in .build/wheel. Debian only.
wheel: setup
	@sh Tests/Tools/library.sh --portable
	@sh Tests/Tools/static.sh --portable assay-hdf5
	@sh Tests/Tools/wheel.sh

# Runs the commands' code in process on COUNT mutants of each format: see docs/security.md. The same
# SEED gives the same mutants. Mutants that do harm are saved in the folder `findings`.
COUNT ?= 2000
SEED ?= 1
JOBS ?= 2
TARGETS ?= all
mutants: setup
	ASSAY_FUZZ=1 $(SWIFT) build -c release --scratch-path .build/fuzz --product assay-mutants
	.build/fuzz/release/assay-mutants $(TARGETS) --seed $(SEED) --count $(COUNT) --jobs $(JOBS)

# Fuzzes each target for SECONDS with libFuzzer and AddressSanitizer.
SECONDS ?= 60
fuzz: setup
	@sh Tests/Tools/fuzz.sh $(SECONDS) $(TARGETS)

# Makes every C library call of each command fail once.
faults: setup
	$(SWIFT) build --build-tests
	ASSAY_FAULTS=1 $(SWIFT) test --skip-build --filter FaultTests

# Runs every command on every hostile file, including those in ../shared.
contracts: setup
	$(SWIFT) build --build-tests
	ASSAY_CONTRACTS=1 $(SWIFT) test --skip-build --filter ContractTests

# Runs the suite with AddressSanitizer and with ThreadSanitizer, C targets with
# UndefinedBehaviorSanitizer.
sanitize: setup
	@sh Tests/Tools/sanitize.sh

# Measures the share of the lines in Sources that the tests run, without generated code.
coverage: setup
	@sh Tests/Tools/coverage.sh

# Regenerates the protobuf-c code from the .proto files.
proto: setup
	sh Sources/CSpec/generate.sh

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install $(BUILD)/assay $(BUILD)/assay-hdf5 $(DESTDIR)$(PREFIX)/bin
