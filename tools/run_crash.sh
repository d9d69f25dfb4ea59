#!/usr/bin/env bash
# run_crash.sh: the crash campaigns of test/crash, for long.  tools/run_crash.sh forever | COUNT
# HF_CAMPAIGN tells the programs how far to go: 1 is the share of `make test`, `long` that of `make check`, a number
# is that many crash points. `forever` goes in rounds, each twice as far as the one before, until something is found or
# someone stops it: a program without end would keep the others from their turn.
. "$(dirname "$0")/lib.sh"

# round POINTS: every campaign once, that far. False when something was found.
round() {
    HF_CAMPAIGN=$1 stage_programs build/test-gcc --only crash --scale 100000
    [ "$(awk '{ n += $2 } END { print n + 0 }' "$totals")" = 0 ]
}

pg_start
if stage_build build/test-gcc all -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DHF_FAULT=ON -DHF_TESTS=ON; then
    if [ "${1:-forever}" != forever ]; then
        round "$1" || true
    else
        points=5000
        while round "$points"; do points=$((points * 2)); done
    fi
fi
finish
