#!/usr/bin/env bash
# Builds the database server and puts it where the tests find programs of others:
#
#   tests/database/build.sh FOLDER          # FOLDER/bin/surrealdb
#
# The first build takes some minutes and some gigabytes, which it gives back; after that there is
# nothing to do until the server's version changes.
set -euo pipefail

if [ "$#" -ne 1 ]; then
    echo "usage: $0 FOLDER" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/bin"
folder=$(cd "$1" && pwd)

built_from=$(cat "$here/Cargo.toml" "$here/Cargo.lock" "$here/main.rs" | sha256sum)
if [ "$(cat "$folder/bin/surrealdb.from" 2>/dev/null)" != "$built_from" ]; then
    cargo build --locked --manifest-path "$here/Cargo.toml" --target-dir "$folder/database"
    install "$folder/database/debug/surrealdb" "$folder/bin/surrealdb"
    echo "$built_from" >"$folder/bin/surrealdb.from"
    rm -rf "$folder/database"
fi
