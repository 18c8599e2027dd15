# For `sam build` with BuildMethod `makefile` and ContextPath `.`. It needs only Cargo and the Python of `sam`, and builds for
# this machine's processor. For another one, set CARGO_BUILD_TARGET and Cargo's linker.

CARGO ?= cargo
ROOT := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
CARGO_TARGET_DIR ?= $(ROOT)target

CHATS := build-ChatFunction build-BufferedFunction
CHECKS := build-CheckFunction build-CheckModelFunction

.PHONY: $(CHATS) $(CHECKS)

# Features of the function that its builds leave out unless they are named, such as `CHAT_FEATURES=articles`.
CHAT_FEATURES ?=

$(CHATS): PACKAGE := chat
$(CHATS): FEATURES := $(CHAT_FEATURES)
$(CHECKS): PACKAGE := verify

$(CHATS) $(CHECKS):
	$(CARGO) build --release --locked --package $(PACKAGE) --features "$(FEATURES)" --bin $(PACKAGE) --target-dir "$(CARGO_TARGET_DIR)"
	cp "$(CARGO_TARGET_DIR)/$(CARGO_BUILD_TARGET)/release/$(PACKAGE)" "$(ARTIFACTS_DIR)/bootstrap"
	CARGO="$(CARGO)" $(ROOT)infra/pipeline/licences $(PACKAGE) > "$(ARTIFACTS_DIR)/THIRD-PARTY"
