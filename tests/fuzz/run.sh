#!/usr/bin/env bash
# Builds fuzz targets with coverage guidance and runs them one after the other, within limits of
# time and memory. Stable Rust and a C++ compiler are all it takes.
#
#   tests/fuzz/run.sh [target|all] [seconds for each, 600]
#
# Corpora, findings and logs are kept in $FUZZ_OUT, by default target/fuzz/out: a later run goes on
# from there. Ends with a table, and with 1 where something was found.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(cd "$here/../.." && pwd)/target/fuzz}
out=${FUZZ_OUT:-$CARGO_TARGET_DIR/out}
triple=$(rustc -vV | sed -n 's/^host: //p')

# Each with the largest input to grow, in bytes.
targets='
assess 8192
ct_search 16384
ct_tiles 16384
domain_rdap 16384
domain_whois 8192
page 8192
sandbox_manifest 8192
sandbox_x509 8192
ssl_hello 16384
texts 2048
'
limits=(-timeout=5 -rss_limit_mb=1024)

build() {
    local name=$1 features=()
    local coverage=(
        -Cpasses=sancov-module
        -Cllvm-args=-sanitizer-coverage-level=4
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
        -Cllvm-args=-sanitizer-coverage-pc-table
        -Cllvm-args=-sanitizer-coverage-trace-compares
    )
    [[ $name == sandbox_* ]] && features=(--features sandbox)
    # With a target named, the flags are not for build scripts and macros.
    RUSTFLAGS="--cfg fuzzing ${coverage[*]}" cargo build --locked --release --target "$triple" \
        --manifest-path "$here/Cargo.toml" --bin "$name" "${features[@]}"
}

# Grows inputs for a while; then runs the long ones, each once and within the same limits.
run() {
    local name=$1 longest=$2 seconds=$3 status=0
    local binary=$CARGO_TARGET_DIR/$triple/release/$name
    local corpus=$out/corpus/$name findings=$out/findings/$name log=$out/$name.log
    mkdir -p "$corpus" "$findings"
    limits+=(-artifact_prefix="$findings/")
    "$binary" "$corpus" "${limits[@]}" -max_len="$longest" -max_total_time="$seconds" \
        -print_final_stats=1 >"$log" 2>&1 || status=$?
    local long=("$corpus.long"/*)
    if ((status == 0)) && [[ -e ${long[0]} ]]; then
        "$binary" "${limits[@]}" "${long[@]}" >>"$log" 2>&1 || status=$?
    fi
    report "$name" "$status" "$log"
    return "$((status != 0))"
}

report() {
    awk -v name="$1" -v status="$2" '
        /^stat::number_of_executed_units/ { runs = $2 }
        /^stat::peak_rss_mb/ { memory = $2 }
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") covered = $(i + 1) }
        /^Done [0-9]+ runs in/ { seconds = $5 }
        /^Executed .* in [0-9]+ ms/ { if ($(NF - 1) + 0 > slowest) slowest = $(NF - 1) }
        END {
            verdict = status == 0 ? "nothing found" : "FOUND: see its log"
            row = "%-17s %9d runs %5d s  coverage %5d  %4d MB  long inputs %5d ms  %s\n"
            printf row, name, runs, seconds, covered, memory, slowest, verdict
        }' "$3"
}

wanted=${1:-all} seconds=${2:-600} found=0 table=
while read -r name longest; do
    [[ -n $name && ($wanted == all || $wanted == "$name") ]] || continue
    build "$name"
    row=$(run "$name" "$longest" "$seconds") || found=1
    table+=$row$'\n'
    echo "$row"
done <<<"$targets"
if [[ -z $table ]]; then
    echo "no target is called $wanted; there are:$targets" >&2
    exit 2
fi
printf '\n%s' "$table"
exit "$found"
