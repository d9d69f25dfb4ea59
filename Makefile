# The short front. Everything a newcomer needs is here: make help.
BUILD ?= build
.DEFAULT_GOAL := build

build: setup ## build the binary and the libraries into build/
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo > $(BUILD).log 2>&1 || (cat $(BUILD).log; exit 1)
	@rm -f $(BUILD).log
	@ninja -C $(BUILD)

.PHONY: build
