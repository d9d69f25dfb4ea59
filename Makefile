# The short front of the build: type `make help`. CMakeLists.txt says what is built from what.
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory

help: ## show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install the Debian packages that building and testing need
	@tools/setup.sh all

build: ## build the binary and the libraries into build/
	@tools/setup.sh build
	@tools/configure.sh $(BUILD) -DHF_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@ninja -C $(BUILD)

run: build ## serve ./.holdfast with an example worker: addresses, a token, and verbs that find it
	@ninja -C $(BUILD) example_shop
	@echo "in another shell, here: $(BUILD)/holdfast start order sku=TEA-1 amount:=90 --id order-1 --wait"
	@$(BUILD)/holdfast dev $(BUILD)/examples/shop worker

demo: build ## fifty orders while their worker is killed at random: each charged once [ORDERS=50]
	@ninja -C $(BUILD) example_shop
	@tools/demo.py --build $(BUILD) --orders $(or $(ORDERS),50)

quick: setup ## what the touched layers need (at most 3 minutes)
	@tools/quick.py

test: setup ## everything a change must pass (at most 30 minutes on 2 cores)
	@tools/run_tests.sh

check: setup ## the second tier: TSan, valgrind, other compilers, long campaigns (at most 3 hours) [PART=tsan]
	@tools/run_check.sh $(PART)

tidy: setup ## the house style, as far as a machine can check it [UPDATE=1 accepts the exported symbols]
	@tools/configure.sh $(BUILD) -DHF_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@ninja -C $(BUILD)
	@tools/tidy.py --build $(BUILD) $(if $(UPDATE),--update)

fuzz: setup ## run the fuzz targets [SECONDS=600 TARGET=json]
	@tools/run_fuzz.sh $(or $(SECONDS),600) $(TARGET)

crash: setup ## crash campaigns until stopped [COUNT=1000000 for that many points]
	@tools/run_crash.sh $(or $(COUNT),forever)

chaos: setup ## servers, nodes and workers under faults [SECONDS=60 SEED=7 STORE=postgres]
	@tools/run_chaos.sh $(or $(SECONDS),60) "$(SEED)" $(STORE)

SIMS = $(or $(WORLD),world served wake)

sim: setup ## nodes, servers, workers and clients in simulation [SEEDS=200 SEED=s for one of them WORLD=world|served|wake]
	@tools/configure.sh $(BUILD)/test-gcc -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DHF_FAULT=ON -DHF_TESTS=ON
	@ninja -C $(BUILD)/test-gcc $(SIMS:%=test_sim_%)
	@for sim in $(SIMS); do HF_TEST_ONLY=hostile HF_SIM_SEEDS=$(or $(SEEDS),200) $(if $(SEED),HF_SIM_SEED=$(SEED)) \
		$(BUILD)/test-gcc/test/test_sim_$$sim || exit 1; done

bench: setup ## run the benchmarks, append to build/bench.jsonl [BENCH=store AGAINST=v0.1.0 ROUNDS=3]
	@tools/run_bench.sh $(BENCH) $(if $(AGAINST),--against $(AGAINST) $(ROUNDS))

install: build ## install below PREFIX [PREFIX=/usr/local DESTDIR=]
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD)

clean: ## remove everything that was built
	rm -rf $(BUILD)

.PHONY: help setup build run demo quick test check tidy fuzz crash chaos sim bench install clean
