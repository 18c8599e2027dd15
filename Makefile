# For `sam build` where a function's BuildMethod is `makefile`, with ContextPath `.`: nothing but Cargo, for the processor
# of this machine. For another one, set CARGO_BUILD_TARGET and Cargo's linker for it.

CARGO ?= cargo
CARGO_TARGET_DIR ?= $(dir $(abspath $(lastword $(MAKEFILE_LIST))))target

.PHONY: build-ChatFunction build-BufferedFunction

build-ChatFunction build-BufferedFunction:
	$(CARGO) build --release --locked --package chat --bin chat --target-dir "$(CARGO_TARGET_DIR)"
	cp "$(CARGO_TARGET_DIR)/$(CARGO_BUILD_TARGET)/release/chat" "$(ARTIFACTS_DIR)/bootstrap"
