#!/usr/bin/env bash
# run_check.sh: the second tier, `make check`, run before work is called done. At most 60 minutes on 2 cores.
#   gcc, plain            test/crash and the other campaigns, longer: HF_CAMPAIGN=long
#   clang, TSan           all programs but test/crash
#   gcc under valgrind    base, model, store, commit
#   clang, plain          all programs but test/crash
#   gcc, ASan + UBSan     all programs but test/crash
#   clang, libFuzzer      60 s for each target
# It appends one line with the counts to docs/campaign.jsonl, which is committed.
. "$(dirname "$0")/lib.sh"
record=docs/campaign.jsonl
why="campaigns run in the plain gcc build"
gcc=(-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DHF_FAULT=ON -DHF_TESTS=ON)
clang=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DHF_FAULT=ON -DHF_TESTS=ON)
valgrind="valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite"
valgrind+=" --errors-for-leak-kinds=definite --suppressions=tools/valgrind.supp"
parts=()

# part NAME: what was counted since the last part, as a member of the JSON line.
seen=0
part() {
    local sums
    sums=$(tail -n "+$((seen + 1))" "$totals" | awk '{ p += $1; f += $2 } END { printf "%d,\"failed\":%d", p, f }')
    seen=$(wc -l <"$totals")
    parts+=("\"$1\":{\"passed\":$sums}")
}

pg_start
built=
if stage_build build/test-gcc all "${gcc[@]}"; then
    built=yes
    HF_CAMPAIGN=long stage_programs build/test-gcc --only crash,verify,commit --scale 2
fi
part campaigns
if [ -n "$built" ]; then
    # Check's fork mode is kept: valgrind follows the fork, and a case with an error ends with a code that Check
    # reports. HF_VALGRIND tells loops that are only long, not varied, to be shorter.
    HF_VALGRIND=1 stage_programs build/test-gcc --only base,model,store,commit --scale 20 --wrap "$valgrind"
fi
part valgrind
if stage_build build/test-tsan all "${clang[@]}" -DHF_SANITIZE=thread; then
    stage_programs build/test-tsan --wrap "$fixed_layout" --scale 5 --skip crash --why "$why"
fi
part tsan
if stage_build build/test-clang all "${clang[@]}"; then
    stage_programs build/test-clang --skip crash --why "$why"
fi
part clang
if stage_build build/test-gccasan all "${gcc[@]}" -DHF_SANITIZE=address,undefined; then
    stage_programs build/test-gccasan --wrap "$fixed_layout" --scale 3 --skip crash --why "$why"
fi
part gcc_asan
tools/run_fuzz.sh --totals "$totals" 60 || true
part fuzz

commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || commit+=+changes
printf '{"date":"%s","commit":"%s","gcc":"%s","clang":"%s","seconds":%d,%s}\n' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$commit" "$(gcc -dumpfullversion)" "$(clang -dumpversion)" \
    $(($(date +%s) - HF_BEGAN)) "$(IFS=,; echo "${parts[*]}")" >>"$record"
finish
