#!/usr/bin/env bash
# run_check.sh: the second tier, `make check`, run before work is called done. At most 3 hours on 2 cores.
#   gcc, plain            test/crash and the other campaigns, longer: HF_CAMPAIGN=long; types the other way round between two nodes
#   gcc, plain            test/sim, 2,000 seeds
#   gcc, plain            test/chaos, two minutes on each kind of store, and with the types divided between two nodes
#   gcc, plain            older releases of the Python SDK; the Rust SDK's own examples, newest and older
#   clang, TSan           all programs but test/crash and test/chaos
#   gcc under valgrind    base, model, store, commit
#   clang, ucontext       all programs but test/crash, with the other stack switch
#   gcc, ASan + UBSan     all programs but test/crash and test/chaos
#   clang, libFuzzer      60 s for each target
# It appends one line with the counts to docs/campaign.jsonl, which is committed.
#   tools/run_check.sh [PART...]    some of campaigns sim chaos sdks valgrind tsan clang gcc_asan fuzz; all when none is named
. "$(dirname "$0")/lib.sh"
record=docs/campaign.jsonl
why="campaigns run in the plain gcc build"
gcc=(-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DHF_FAULT=ON -DHF_TESTS=ON)
clang=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DHF_FAULT=ON -DHF_TESTS=ON)
# Leaks are looked for by ASan; valgrind takes what a forked child of a test left to its parent for one.
valgrind="valgrind --quiet --error-exitcode=99 --leak-check=no --suppressions=tools/valgrind.supp"
all=(campaigns sim chaos sdks valgrind tsan clang gcc_asan fuzz)
parts=()

# part NAME: what was counted since the last part, as a member of the JSON line.
seen=0
part() {
    local sums
    sums=$(tail -n "+$((seen + 1))" "$totals" | awk '{ p += $1; f += $2 } END { printf "%d,\"failed\":%d", p, f }')
    seen=$(wc -l <"$totals")
    parts+=("\"$1\":{\"passed\":$sums}")
}

wanted=("$@")
[ $# != 0 ] || wanted=("${all[@]}")
for name in "${wanted[@]}"; do
    [[ " ${all[*]} " == *" $name "* ]] || { echo "check: no part $name; there are ${all[*]}" >&2; exit 2; }
done

part_campaigns() {
    stage_build build/test-gcc all "${gcc[@]}" || return 0
    HF_CAMPAIGN=long HF_TEST_NODES=other stage_programs build/test-gcc --only crash,verify,commit,engine,machine,project,server --scale 2
}

part_sim() {
    stage_build build/test-gcc all "${gcc[@]}" || return 0
    HF_CAMPAIGN=long stage_programs build/test-gcc --only sim --scale 4
}

# Each time with faults that were not there before; what it prints says how to repeat them.
part_chaos() {
    local store seed=$((RANDOM * 32768 + RANDOM))
    stage_build build/test-gcc all "${gcc[@]}" || return 0
    for store in sqlite postgres mixed divided; do
        stage_command "chaos $store, seed $seed" test/chaos/chaos.py --build build/test-gcc --venv build/venv --store "$store" \
            --seconds 120 --seed "$seed"
    done
}

# Each release in a place of its own. A cargo that is older than the crate wants says so and fails.
part_sdks() {
    local version
    stage_build build/test-gcc all "${gcc[@]}" || return 0
    command -v cargo >/dev/null || apt-get install -y -qq cargo || true
    for version in $(client_pins python_older); do
        stage_command "Python SDK $version" python3 test/server/test_sdk.py --build build/test-gcc --sdk "$version" \
            --venv "build/venv-$version"
    done
    for version in $(client_pins rust rust_older); do
        stage_command "Rust SDK $version" python3 test/server/test_rust.py --build build/test-gcc --crate "$version" \
            --work "build/rust-$version"
    done
}

# client_pins NAME...: the releases under these names.
client_pins() {
    python3 -c 'import json, sys
pins = json.load(open("test/server/clients.json"))
for name in sys.argv[1:]:
    print(*([pins[name]] if isinstance(pins[name], str) else pins[name]))' "$@"
}

# Check's fork mode is kept: valgrind follows the fork, and a case with an error ends with a code that Check reports.
part_valgrind() {
    stage_build build/test-gcc all "${gcc[@]}" || return 0
    stage_programs build/test-gcc --only base,model,store,commit --scale 20 --wrap "$valgrind"
}

part_tsan() {
    stage_build build/test-tsan all "${clang[@]}" -DHF_SANITIZE=thread || return 0
    stage_programs build/test-tsan --wrap "$fixed_layout" --scale 5 --skip crash,chaos --why "$why"
}

part_clang() {
    stage_build build/test-clang all "${clang[@]}" -DHF_COROUTINE=ucontext || return 0
    stage_programs build/test-clang --skip crash,chaos --why "$why"
}

part_gcc_asan() {
    stage_build build/test-gccasan all "${gcc[@]}" -DHF_SANITIZE=address,undefined || return 0
    stage_programs build/test-gccasan --wrap "$fixed_layout" --scale 3 --skip crash,chaos --why "$why"
}

part_fuzz() {
    tools/run_fuzz.sh --totals "$totals" 60 || true
}

memory_files
pg_start
for name in "${wanted[@]}"; do
    "part_$name"
    part "$name"
done

commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain --untracked-files=no -- . ":!$record" 2>/dev/null)" ] || commit+=+changes
printf '{"date":"%s","commit":"%s","gcc":"%s","clang":"%s","seconds":%d,%s}\n' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$commit" "$(gcc -dumpfullversion)" "$(clang -dumpversion)" \
    $(($(date +%s) - HF_BEGAN)) "$(IFS=,; echo "${parts[*]}")" >>"$record"
finish
