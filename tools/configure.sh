#!/usr/bin/env bash
# configure.sh: configure one build folder.  tools/configure.sh FOLDER [-DNAME=VALUE ...]
# Quiet when it works; the whole output when it does not. A folder that was made for another place in the file
# system (a moved or copied tree) is made anew.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
shift
home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
[ -z "$home" ] || [ "$home" = "$PWD" ] || rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"
mkdir -p "$folder"
if ! cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    exit 1
fi
sed -n 's/^-- \(console: .*\)/\1/p' "$folder/configure.log" >&2 # what was left out
