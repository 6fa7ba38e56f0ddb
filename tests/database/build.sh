#!/usr/bin/env bash
# Builds the database server and puts it where the tests find programs of others:
#
#   tests/database/build.sh FOLDER          # FOLDER/bin/surrealdb
#
# The first build takes some minutes; after that there is nothing to do.
set -euo pipefail

if [ "$#" -ne 1 ]; then
    echo "usage: $0 FOLDER" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/bin"
folder=$(cd "$1" && pwd)

cargo build --locked --manifest-path "$here/Cargo.toml" --target-dir "$folder/database"
install --compare "$folder/database/debug/surrealdb" "$folder/bin/surrealdb"
