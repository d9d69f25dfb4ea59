#!/usr/bin/env bash
# run_chaos.sh: test/chaos for as long as somebody wants, on every kind of store in turn.
#   tools/run_chaos.sh [SECONDS [SEED [STORE]]]    60 s for each of sqlite, postgres, mixed and divided; a seed that is drawn
# What it prints begins with the seed; the same one repeats the faults and the work.
. "$(dirname "$0")/lib.sh"

seconds=${1:-60}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
memory_files
if stage_build build/test-gcc all -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DHF_FAULT=ON -DHF_TESTS=ON; then
    for store in ${3:-sqlite postgres mixed divided}; do
        say "chaos on $store, seed $seed: again with make chaos SECONDS=$seconds SEED=$seed STORE=$store"
        if test/chaos/chaos.py --build build/test-gcc --venv build/venv --store "$store" --seconds "$seconds" --seed "$seed"; then
            count 1 0
        else
            count 0 1
        fi
    done
fi
finish
