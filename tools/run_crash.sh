#!/usr/bin/env bash
# run_crash.sh: the crash campaigns of test/crash, for long.  tools/run_crash.sh forever | COUNT
# HF_CAMPAIGN tells the programs how far to go: 1 is the share of `make test`, `long` that of `make check`, a number
# is that many crash points, `forever` goes on until something is found or someone stops it.
. "$(dirname "$0")/lib.sh"
pg_start
if stage_build build/test-gcc all -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DHF_FAULT=ON -DHF_TESTS=ON; then
    HF_CAMPAIGN=${1:-forever} stage_programs build/test-gcc --only crash --scale 100000
fi
finish
