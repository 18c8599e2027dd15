# For `sam build` where a function's BuildMethod is `makefile`, with ContextPath `.`: nothing but Cargo and the Python that
# `sam` brings along, for the processor of this machine. For another one, set CARGO_BUILD_TARGET and Cargo's linker for it.

CARGO ?= cargo
ROOT := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
CARGO_TARGET_DIR ?= $(ROOT)target

CHATS := build-ChatFunction build-BufferedFunction build-ManagedFunction
CHECKS := build-CheckFunction build-CheckModelFunction

.PHONY: $(CHATS) $(CHECKS)

$(CHATS): PACKAGE := chat
$(CHECKS): PACKAGE := verify

$(CHATS) $(CHECKS):
	$(CARGO) build --release --locked --package $(PACKAGE) --bin $(PACKAGE) --target-dir "$(CARGO_TARGET_DIR)"
	cp "$(CARGO_TARGET_DIR)/$(CARGO_BUILD_TARGET)/release/$(PACKAGE)" "$(ARTIFACTS_DIR)/bootstrap"
	CARGO="$(CARGO)" $(ROOT)infra/pipeline/licences $(PACKAGE) > "$(ARTIFACTS_DIR)/THIRD-PARTY"
