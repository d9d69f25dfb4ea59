#!/usr/bin/env bash
# run_bench.sh: run the benchmarks of a group, or all.  tools/run_bench.sh [GROUP] [--against COMMIT [ROUNDS]]
# A program test/bench/bench_GROUP.c or bench_GROUP_*.c belongs to GROUP; `also` places those named otherwise. Each
# appends one JSON line per result to the file HF_BENCH_OUT names, build/bench.jsonl, which is never cut. The table
# at the end shows the lines of this run. Programs run one after another: they need both cores. The group console is
# test/console/bench.mjs, in a browser.
# With --against the same programs of another commit are built in build/against, both run in turn, three rounds if it is not
# said otherwise, and the table shows medians of both and their ratio: figures of different runs cannot be compared.
. "$(dirname "$0")/lib.sh"
groups=(store workflows commands machines views http console)
declare -A also=([json]=store [verify]=store)

wanted=
if [ $# != 0 ] && [ "$1" != --against ]; then
    wanted=$1
    shift
fi
against=${2:-}
rounds=1
[ -z "$against" ] || rounds=${3:-3}
[ -z "$wanted" ] || [[ " ${groups[*]} " == *" $wanted "* ]] || {
    echo "bench: no group $wanted; there are ${groups[*]}" >&2
    exit 2
}
group_of() {
    local stem=${1#bench_}
    echo "${also[$stem]:-${stem%%_*}}"
}

# run PROGRAM FOLDER OUT: the program of that name in a tree's build, its lines in OUT; none when the tree does not have it.
run() {
    [ -x "$2/build/bench/$1" ] || return 0
    (cd "$2" && HF_BENCH_OUT=$3 "build/bench/$1") || { echo "  FAIL  $1: exit code $?"; failed=$((failed + 1)); }
}

stage_build build benches -DHF_TESTS=ON || exit 1
out=$PWD/build/bench.jsonl
others=$PWD/build/against.jsonl
if [ -n "$against" ]; then
    other=$PWD/build/against/$(git rev-parse --short "$against^{commit}")
    say "build $other"
    [ -e "$other" ] || { mkdir -p "$other" && git archive "$against" | tar -x -C "$other"; }
    (cd "$other" && tools/configure.sh build -DHF_TESTS=ON && ninja -C build benches >build/build.log 2>&1) ||
        { echo "bench: $against does not build, see $other/build/build.log" >&2; exit 1; }
    : >"$others"
fi
touch "$out"
before=$(wc -l <"$out")
export HF_PG_FSYNC=on
pg_start
ran=0
failed=0
for source in test/bench/bench_*.c; do
    [ -f "$source" ] || continue
    name=$(basename "$source" .c)
    [ -z "$wanted" ] || [ "$(group_of "$name")" = "$wanted" ] || continue
    ran=$((ran + 1))
    for ((round = 1; round <= rounds; round++)); do
        say "$name${against:+, round $round of $rounds}"
        [ -z "$against" ] || run "$name" "$other" "$others"
        run "$name" "$PWD" "$out"
    done
done
if [ "${wanted:-console}" = console ] && [ -z "$against" ]; then
    ran=$((ran + 1))
    say console
    HF_BENCH_OUT=$out node test/console/bench.mjs build || { echo "  FAIL  console: exit code $?"; failed=$((failed + 1)); }
fi
rm -f "$totals"
[ "$ran" != 0 ] || { echo "bench: no programs${wanted:+ in group $wanted}" >&2; exit 1; }
say "results of this run, all in build/bench.jsonl"
tail -n "+$((before + 1))" "$out" | tools/bench_table.py ${against:+"$others"}
[ "$failed" = 0 ]
