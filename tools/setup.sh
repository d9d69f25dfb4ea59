#!/usr/bin/env bash
# setup.sh: install the Debian packages that are missing, and only those.
#
#   tools/setup.sh build    what `make build` needs
#   tools/setup.sh all      also what tests, fuzzing and benchmarks need
#
# When nothing is missing it installs nothing and contacts nobody. HF_SKIP_SETUP=1 turns it off for people who get
# the same software from elsewhere.
set -euo pipefail

build=(
    build-essential cmake ninja-build pkg-config
    libsqlite3-dev libpq-dev libssl-dev libinih-dev
    libzstd-dev zlib1g-dev libevent-dev libcurl4-openssl-dev libboost-context-dev
)
test=(
    git python3 python3-venv
    clang clang-format llvm 'libclang-rt-dev|libclang-rt-14-dev' # sanitizers and libFuzzer
    check libjansson-dev                                         # test library; rival in a benchmark
    sqlite3 postgresql valgrind
    curl jq # the worker in shell
    chromium fonts-inter # the console in a browser
)
command -v node >/dev/null || test+=(nodejs)

fail() { echo "setup: $*" >&2; exit 1; }

# A package, or any of several separated by |, the first of which would be installed.
installed() {
    local name
    for name in ${1//|/ }; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] && return 0
    done
    return 1
}

case "${1:-all}" in
build) wanted=("${build[@]}") ;;
all) wanted=("${build[@]}" "${test[@]}") ;;
*) fail "usage: tools/setup.sh build|all" ;;
esac
[ -z "${HF_SKIP_SETUP:-}" ] || exit 0
command -v dpkg-query >/dev/null || fail "this is not Debian: install the equivalents of ${wanted[*]%%|*}, then set HF_SKIP_SETUP=1"

missing=()
for package in "${wanted[@]}"; do
    installed "$package" || missing+=("${package%%|*}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
        fail "missing packages, and neither root nor sudo to install them; as root: apt-get install ${missing[*]}"
    as=(sudo)
fi
echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1; }
apt update || { cat "$log" >&2; fail "apt-get update failed"; }
apt install -y --no-install-recommends "${missing[@]}" || { cat "$log" >&2; fail "apt-get install failed"; }
