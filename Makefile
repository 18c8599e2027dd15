# For `sam build` where a function's BuildMethod is `makefile`, with ContextPath `.`: nothing but Cargo and the Python that
# `sam` brings along, for the processor of this machine. For another one, set CARGO_BUILD_TARGET and Cargo's linker for it.

CARGO ?= cargo
ROOT := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
CARGO_TARGET_DIR ?= $(ROOT)target

.PHONY: build-ChatFunction build-BufferedFunction build-ManagedFunction

build-ChatFunction build-BufferedFunction build-ManagedFunction:
	$(CARGO) build --release --locked --package chat --bin chat --target-dir "$(CARGO_TARGET_DIR)"
	cp "$(CARGO_TARGET_DIR)/$(CARGO_BUILD_TARGET)/release/chat" "$(ARTIFACTS_DIR)/bootstrap"
	CARGO="$(CARGO)" $(ROOT)infra/pipeline/licences > "$(ARTIFACTS_DIR)/THIRD-PARTY"
