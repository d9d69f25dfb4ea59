#!/usr/bin/env bash
# run_fuzz.sh: run the libFuzzer targets.  tools/run_fuzz.sh [--totals FILE] SECONDS [TARGET]
# A target is test/fuzz/fuzz_NAME.c. Seeds are test/fuzz/corpus/NAME/; what the fuzzer learns stays in
# build/fuzz/corpus/NAME/, and an input that breaks something is left in build/fuzz/found/. Two run at a time.
outer=
if [ "${1:-}" = --totals ]; then
    outer=$2
    shift 2
fi
. "$(dirname "$0")/lib.sh"
seconds=${1:-600}
wanted=${2:-}

target_run() {
    local program=$1 name=${1##*/fuzz_} folders=() options=() log start=$SECONDS
    mkdir -p "build/fuzz/corpus/$name" build/fuzz/found
    folders=("build/fuzz/corpus/$name")
    [ ! -d "test/fuzz/corpus/$name" ] || folders+=("test/fuzz/corpus/$name")
    [ ! -f "test/fuzz/$name.dict" ] || options+=("-dict=test/fuzz/$name.dict")
    log=build/fuzz/$name.log
    if timeout -k 10 $((seconds + 120)) $fixed_layout "$program" "${folders[@]}" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -artifact_prefix="build/fuzz/found/$name-" -print_final_stats=1 "${options[@]}" \
        >"$log" 2>&1; then
        printf '  ok    %-32s    1 passed  %d s  %s inputs\n' "fuzz $name" $((SECONDS - start)) \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
        count 1 0
    else
        printf '  FAIL  %-32s    1 failed  %d s\n' "fuzz $name" $((SECONDS - start))
        sed 's/^/      | /' "$log"
        count 0 1
    fi
}

if stage_build build/fuzz fuzzers -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DHF_FUZZ=ON -DHF_TESTS=ON \
    -DHF_SANITIZE=address,undefined; then
    say "fuzz, $seconds s for each target"
    found=0
    for source in test/fuzz/fuzz_*.c; do
        [ -f "$source" ] || continue
        name=$(basename "$source" .c)
        [ -z "$wanted" ] || [ "fuzz_$wanted" = "$name" ] || continue
        found=$((found + 1))
        target_run "build/fuzz/fuzz/$name" &
        # Never more than two at once.
        while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
    done
    wait
    if [ "$found" = 0 ]; then
        echo "  FAIL  no fuzz target${wanted:+ named $wanted}"
        count 0 1
    fi
fi
if [ -n "$outer" ]; then
    cat "$totals" >>"$outer"
    rm -f "$totals"
else
    finish
fi
