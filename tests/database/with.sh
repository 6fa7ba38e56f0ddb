#!/usr/bin/env bash
# Runs a command beside a database server in memory, which the tests of the store then use too:
#
#   tests/database/with.sh FOLDER make test
#
# Without FOLDER/bin/surrealdb (tests/database/build.sh) the command runs alone.
set -euo pipefail

if [ "$#" -lt 2 ]; then
    echo "usage: $0 FOLDER COMMAND…" >&2
    exit 2
fi
program=$1/bin/surrealdb
shift
if [ ! -x "$program" ]; then
    echo "skipped: the store is not tested on a server, because $program is not there"
    exec "$@"
fi

# Below the ports that the system gives to connections: nobody gets it before the server listens.
port=$(python3 -c '
import random, socket
while True:
    port = random.randrange(10_000, 30_000)
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        continue
    print(port)
    break
')
"$program" start --no-banner --bind "127.0.0.1:$port" --user root --pass root memory >/dev/null 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    if ! kill -0 "$server" 2>/dev/null; then
        echo "the database server did not start on port $port" >&2
        exit 1
    fi
    sleep 0.1
done
VEDETTE_TEST_SERVER="ws://root:root@127.0.0.1:$port" "$@"
