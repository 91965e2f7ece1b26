# `make demo` shows Assay at work, `make test` tests it. Both install what is missing first.

PREFIX ?= /usr/local
SWIFT ?= swift
BUILD = .build/release
APT = libprotobuf-c-dev protobuf-c-compiler libhdf5-dev libpng-dev libjpeg62-turbo-dev zlib1g-dev pkg-config qemu-user
BREW = protobuf-c hdf5 libpng jpeg-turbo pkg-config

.PHONY: setup build test demo lint format layers plugins baseline benchmark static install proto docs pictures example journeys

# Installs missing libraries; does nothing if all are there.
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
	@sh Tests/Tools/public-docs.sh
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

# Makes the images of the documentation with the program itself.
pictures: build
	@sh Tests/Tools/documentation-images.sh $(BUILD)/assay

# Runs the binary on an emulated CPU without AVX.
baseline: build
	@sh Tests/Tools/baseline.sh $(BUILD)/assay

# Walks through what people do with Assay, as Tests/Tools/journeys tells.
journeys: setup
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --filter JourneyTests
	@$(MAKE) --no-print-directory example

# Builds the example package with this one as a versioned dependency.
example: setup
	@sh Tests/Tools/example.sh

# Measures the share of the machine's peak that each kind of kernel reaches.
benchmark: setup
	$(SWIFT) build -c release --product KernelBenchmarks
	$(BUILD)/KernelBenchmarks

# Builds binaries that need nothing but libc, in .build/static/release.
static: setup
	@sh Tests/Tools/static.sh

# Regenerates the protobuf-c code from the .proto files.
proto: setup
	sh Sources/CSpec/generate.sh

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install $(BUILD)/assay $(BUILD)/assay-hdf5 $(DESTDIR)$(PREFIX)/bin
