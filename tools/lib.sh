# lib.sh: what run_tests.sh, run_check.sh and their siblings share. Sourced, not run.
# A stage is a named part of the work; each appends `passed failed` to the totals file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build
totals=$(mktemp)
export HF_BEGAN=${HF_BEGAN:-$(date +%s)} # a script that another one runs goes on with its count
export LC_ALL=C

# Sanitizers stop at the first finding and say where. Leaks count. The TSan runtime of clang 14 needs a fixed
# address layout on kernels that randomise more bits than it knows; wrong use of a mutex is left to base/thread, which
# panics on it, because a test does it on purpose. The ASan runtime of clang 14 takes the word before a block of
# thread-local memory for its size where the block begins 16 bytes into a page, and LeakSanitizer then reads what is not
# there: the blocks of libraries that are loaded late, as libpq is, are not followed.
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:malloc_context_size=8:quarantine_size_mb=32:intercept_tls_get_addr=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1:die_after_fork=0:report_mutex_bugs=0}
fixed_layout=
if setarch -R true 2>/dev/null; then fixed_layout="setarch -R"; fi

say() { printf '== %s (%d s so far)\n' "$*" $(($(date +%s) - HF_BEGAN)); }

count() { echo "$1 $2" >>"$totals"; }

# stage_build FOLDER TARGET -DNAME=VALUE ...: configures and builds; a failure is counted and its log printed.
stage_build() {
    local folder=$1 target=$2
    shift 2
    say "build $folder"
    if tools/configure.sh "$folder" "$@" && ninja -C "$folder" "$target" >"$folder/build.log" 2>&1; then
        return 0
    fi
    echo "  FAIL  $folder does not build"
    sed 's/^/      | /' "$folder/build.log" 2>/dev/null || true
    count 0 1
    return 1
}

# stage_programs FOLDER [options of run_programs.py]
stage_programs() {
    say "test $1"
    tools/run_programs.py "$@" --totals "$totals" || true
}

# stage_command NAME COMMAND...: one command that counts as one case; its output is shown when it fails.
stage_command() {
    local name=$1 log start=$SECONDS
    shift
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        printf '  ok    %-32s    1 passed  %d s\n' "$name" $((SECONDS - start))
        count 1 0
    else
        printf '  FAIL  %-32s    1 failed  %d s\n' "$name" $((SECONDS - start))
        sed 's/^/      | /' "$log"
        count 0 1
    fi
    rm -f "$log"
}

# memory_files: where there is plenty of memory, temporary files and the test server's data live in it. The tests make
# and remove some hundred thousand files, which a disk's file system spends a third of the whole time on; what they prove
# does not depend on the disk: power loss is simulated, and what a killed process wrote stays.
memory_files() {
    local folder free available
    [ -z "${TMPDIR:-}" ] || return 0
    free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
    available=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
    [ "${free:-0}" -ge 4000000 ] && [ "${available:-0}" -ge 8000000 ] || return 0
    folder=$(mktemp -d /dev/shm/hf_XXXXXX)
    chmod 1777 "$folder" # the server of a run as root is another user's
    export TMPDIR=$folder
    trap 'pg_stop; rm -rf "$TMPDIR"' EXIT
}

# pg_start: one PostgreSQL server for the whole run. It stops when this shell ends, however it ends.
pg_start() {
    coproc PG { exec tools/pg_for_tests.sh; }
    if ! read -r HF_TEST_PG <&"${PG[0]}"; then
        echo "cannot start PostgreSQL for the tests" >&2
        exit 1
    fi
    export HF_TEST_PG
}

pg_stop() {
    [ -n "${PG_PID:-}" ] || return 0
    exec {PG[1]}>&-
    wait "$PG_PID" || true
}

# finish: the last line, and the exit code.
finish() {
    local passed failed
    passed=$(awk '{ n += $1 } END { print n + 0 }' "$totals")
    failed=$(awk '{ n += $2 } END { print n + 0 }' "$totals")
    rm -f "$totals"
    say "done"
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ] && [ "$passed" != 0 ]
}
