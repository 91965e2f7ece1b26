# Assay: `make demo` shows it at work, `make test` tests it. Both set the machine up first.

PREFIX ?= /usr/local
SWIFT ?= swift
BUILD = .build/release
APT = libprotobuf-c-dev protobuf-c-compiler libhdf5-dev libpng-dev libjpeg62-turbo-dev zlib1g-dev pkg-config qemu-user
BREW = protobuf-c hdf5 libpng jpeg-turbo pkg-config

.PHONY: setup build test demo lint format layers plugins baseline benchmark static install proto docs example

# Installs what is missing, and asks for nothing where nothing is.
setup:
	@if command -v brew >/dev/null; then brew install --quiet $(BREW); \
	elif command -v apt-get >/dev/null; then \
	  missing=$$(for p in $(APT); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
	  if [ -n "$$missing" ]; then \
	    sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing; \
	  fi; \
	else echo "error: neither apt-get nor brew is here; install: $(APT)" >&2; exit 1; fi

build: setup
	$(SWIFT) build -c release --product assay
	$(SWIFT) build -c release --product assay-hdf5

# A release build, because kernels are some sixty times slower in a debug build.
test: setup
	$(SWIFT) build -c release --build-tests
	$(SWIFT) test -c release --skip-build
	@$(MAKE) --no-print-directory layers
	@sh Tests/Tools/kernel-symbols.sh $(BUILD)

demo: build
	@sh Tests/Tools/demo.sh $(BUILD)/assay

lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests
	@sh Tests/Tools/public-docs.sh

format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

# Checks that every `import` looks downward.
layers:
	@sh Tests/Tools/layers.sh

# A plug-in for each model with custom layers under ../shared.
plugins: build
	@sh Tests/Tools/plugins.sh $(BUILD)/assay

# Writes docs/layers.md from the lists of layers.
docs: setup
	$(SWIFT) build -c release --build-tests
	ASSAY_WRITE_DOCS=1 $(SWIFT) test -c release --skip-build --filter LayerDocumentationTests

# The whole binary on a CPU that has no AVX.
baseline: build
	@sh Tests/Tools/baseline.sh $(BUILD)/assay

# The example package with this one as a versioned dependency.
example: setup
	@sh Tests/Tools/example.sh

# The share of the machine's peak that each kind of kernel reaches.
benchmark: setup
	$(SWIFT) build -c release --product KernelBenchmarks
	$(BUILD)/KernelBenchmarks

# Binaries that need nothing but libc, in .build/static/release.
static: setup
	@sh Tests/Tools/static.sh

# Regenerates the protobuf-c code from the .proto files.
proto: setup
	sh Sources/CSpec/generate.sh

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install $(BUILD)/assay $(BUILD)/assay-hdf5 $(DESTDIR)$(PREFIX)/bin
