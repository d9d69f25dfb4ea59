#!/usr/bin/env bash
# run_tests.sh: the first tier, `make test`. At most 30 minutes on 2 cores.
#   the release build    what users get: `make tidy`, the examples of the documents
#   gcc, plain           all programs, with the campaigns (crash points, kills, corruptions): HF_CAMPAIGN=1; 30 s of chaos on
#                        each kind of store
#   clang, ASan + UBSan  all programs but test/crash and test/chaos, campaigns short; 20 s of pollers that come and go
#   clang, libFuzzer     5 s for each target
# The last line is `N passed, N failed`.
. "$(dirname "$0")/lib.sh"

memory_files
pg_start
if stage_build build all -DHF_TESTS=OFF; then
    say "tidy and documents"
    stage_command "tidy --self-test" tools/tidy.py --self-test
    stage_command "test_runners" test/tools/test_runners.py
    stage_command "tidy" tools/tidy.py --build build
    stage_command "vocabulary page" bash -c 'build/tools/docgen | diff - docs/reference/vocabulary.md'
    stage_command "HTTP page" bash -c 'build/tools/docgen http | diff - docs/reference/http.md'
    tools/doc_examples.py --bin build --totals "$totals" || true
fi
if stage_build build/test-gcc all -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DHF_FAULT=ON -DHF_TESTS=ON; then
    HF_CAMPAIGN=1 stage_programs build/test-gcc
fi
if stage_build build/test-asan all -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DHF_FAULT=ON -DHF_TESTS=ON \
    -DHF_SANITIZE=address,undefined; then
    stage_programs build/test-asan --wrap "$fixed_layout" --scale 3 --skip crash,chaos --why "campaigns run in the gcc build"
fi
tools/run_fuzz.sh --totals "$totals" 5 || true
finish
