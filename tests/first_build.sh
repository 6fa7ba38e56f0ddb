#!/usr/bin/env bash
# How long the first build takes, and how much of that is nobody's doing here:
#
#   tests/first_build.sh [REPORT]
#
# Builds what `make run` builds, from nothing, in a folder of its own that is removed afterwards, and
# reads cargo's report of it with python3. With REPORT, an earlier one (target/cargo-timings/cargo-timing.html),
# nothing is built.
#
# Minutes say much of the machine. So they are held against what the five large dependencies take in
# the same build, with all that they need themselves: web server, sandbox, database, HTTP client and
# resolver, which every service of this kind begins with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

report=${1:-}
if [ -z "$report" ]; then
    ./deploy/toolchain.sh
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    CARGO_TARGET_DIR="$folder" cargo build --locked --workspace --bin lab --bin vedette --timings
    report="$folder/cargo-timings/cargo-timing.html"
fi

large=(salvo wasmtime surrealdb reqwest@0.13 hickory-resolver)
for name in "${large[@]}"; do
    cargo tree --locked --package "$name" --edges normal,build --prefix none --format '{p}'
done | awk '{ sub(/^v/, "", $2); print $1, $2 }' | sort -u |
    python3 -c '
import json, re, sys

needed = {tuple(line.split()) for line in sys.stdin}
page = open(sys.argv[1], encoding="utf-8").read()
units = json.loads(re.search(r"const UNIT_DATA = (\[.*?\]);", page, re.S).group(1))
wall = max(unit["start"] + unit["duration"] for unit in units)
spent = sum(unit["duration"] for unit in units)
theirs = sum(u["duration"] for u in units if (u["name"], u["version"]) in needed)
print(f"from nothing: {wall / 60:.1f} min; units take {spent:.0f} s one after the other")
print(", ".join(sys.argv[2:]) + f", with what they need: {theirs:.0f} s")
print(f"the whole is {spent / theirs:.2f} times those dependencies")
for unit in sorted(units, key=lambda unit: -unit["duration"])[:12]:
    print("%7.1f s  %s %s%s" % (unit["duration"], unit["name"], unit["version"], unit["target"]))
' "$report" "${large[@]}"
