#!/usr/bin/env bash
# pg_for_tests.sh: one throw-away PostgreSQL server that all test programs of a run share.
#
#   coproc tools/pg_for_tests.sh; read -r HF_TEST_PG <&"${COPROC[0]}"; export HF_TEST_PG; run the tests
#
# It prints the address of the server as one line on standard output once the server answers. It stops the
# server and removes its folder when its standard input closes, when its parent dies, or on INT and TERM. The
# server takes anybody as user holdfast. It does not sync unless HF_PG_FSYNC=on says so, as benchmarks do: these tests end
# processes, never the machine, and what a process wrote outlives it. Campaigns that stop servers start durable ones of
# their own.
# HF_PG_BIN names the folder of initdb and postgres when it is not the newest under /usr/lib/postgresql.
set -euo pipefail

fail() { echo "pg_for_tests: $*" >&2; exit 1; }

bin=${HF_PG_BIN:-}
[ -n "$bin" ] || bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -V | tail -n 1)
[ -n "$bin" ] || bin=$(dirname "$(readlink -f "$(command -v initdb)")" 2>/dev/null)
[ -x "$bin/initdb" ] && [ -x "$bin/postgres" ] || fail "no PostgreSQL server found"

parent=$PPID
server=
dir=$(mktemp -d "${TMPDIR:-/tmp}/hf_pg_XXXXXX")
# PostgreSQL refuses to run as root.
as=()
if [ "$(id -u)" = 0 ]; then
    chown postgres "$dir"
    as=(setpriv --reuid=postgres --regid=postgres --init-groups)
fi
die=(setpriv --pdeathsig QUIT)

stop() {
    trap - EXIT INT TERM
    if [ -n "$server" ]; then
        kill -QUIT "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

cd "$dir"
"${as[@]}" "$bin/initdb" --no-sync --auth=trust --username=holdfast --encoding=UTF8 --locale=C \
    --pgdata="$dir/data" >"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "initdb failed"; }
printf '%s\n' 'local all all trust' 'local replication all trust' \
    'host all hf_password 127.0.0.1/32 scram-sha-256' 'host all all 127.0.0.1/32 trust' \
    'host replication all 127.0.0.1/32 trust' >"$dir/data/pg_hba.conf"
printf '%s\n' 'CREATE DATABASE holdfast;' "CREATE ROLE hf_password LOGIN PASSWORD 'correct horse';" |
    "${as[@]}" "$bin/postgres" --single -D "$dir/data" postgres >>"$dir/log" 2>&1 ||
    { cat "$dir/log" >&2; fail "cannot create the database"; }

# A port may be taken between the choice and the start, so a few are tried.
for _ in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 10000))
    "${as[@]}" "${die[@]}" "$bin/postgres" -D "$dir/data" -p "$port" -k "$dir" -h 127.0.0.1 \
        -c fsync="${HF_PG_FSYNC:-off}" -c full_page_writes="${HF_PG_FSYNC:-off}" -c synchronous_commit=on -c shared_buffers=64MB -c max_connections=100 \
        >>"$dir/log" 2>&1 </dev/null &
    server=$!
    for _ in $(seq 600); do
        if [ "$(sed -n '8s/ *$//p' "$dir/data/postmaster.pid" 2>/dev/null)" = ready ]; then
            break 2
        fi
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    kill -QUIT "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
done
[ -n "$server" ] || { cat "$dir/log" >&2; fail "the server did not start"; }
echo "postgresql://holdfast@127.0.0.1:$port/holdfast"

# `read` tells a closed input (status 1) from a second without a line (status above 128).
while [ "$(awk '/^PPid/ {print $2}' /proc/$$/status)" = "$parent" ]; do
    status=0
    read -r -t 1 _ || status=$?
    [ "$status" = 1 ] && break
    kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; fail "the server ended by itself"; }
done
