#!/usr/bin/env bash
# run_bench.sh: run the benchmarks of a group, or all.  tools/run_bench.sh [GROUP]
# A program test/bench/bench_GROUP.c or bench_GROUP_*.c belongs to GROUP; `also` places those named otherwise. Each
# appends one JSON line per result to the file HF_BENCH_OUT names, build/bench.jsonl, which is never cut. The table
# at the end shows the lines of this run. Programs run one after another: they need both cores. The group console is
# test/console/bench.mjs, in a browser.
. "$(dirname "$0")/lib.sh"
groups=(store workflows commands machines views http console)
declare -A also=([json]=store [verify]=store)

wanted=${1:-}
[ -z "$wanted" ] || [[ " ${groups[*]} " == *" $wanted "* ]] || {
    echo "bench: no group $wanted; there are ${groups[*]}" >&2
    exit 2
}
group_of() {
    local stem=${1#bench_}
    echo "${also[$stem]:-${stem%%_*}}"
}

stage_build build benches -DHF_TESTS=ON || exit 1
export HF_BENCH_OUT=$PWD/build/bench.jsonl
touch "$HF_BENCH_OUT"
before=$(wc -l <"$HF_BENCH_OUT")
export HF_PG_FSYNC=on
pg_start
ran=0
failed=0
for source in test/bench/bench_*.c; do
    [ -f "$source" ] || continue
    name=$(basename "$source" .c)
    [ -z "$wanted" ] || [ "$(group_of "$name")" = "$wanted" ] || continue
    ran=$((ran + 1))
    say "$name"
    "build/bench/$name" || { echo "  FAIL  $name: exit code $?"; failed=$((failed + 1)); }
done
if [ "${wanted:-console}" = console ]; then
    ran=$((ran + 1))
    say console
    node test/console/bench.mjs build || { echo "  FAIL  console: exit code $?"; failed=$((failed + 1)); }
fi
rm -f "$totals"
[ "$ran" != 0 ] || { echo "bench: no programs${wanted:+ in group $wanted}" >&2; exit 1; }
say "results of this run, all in build/bench.jsonl"
tail -n "+$((before + 1))" "$HF_BENCH_OUT" | tools/bench_table.py
[ "$failed" = 0 ]
